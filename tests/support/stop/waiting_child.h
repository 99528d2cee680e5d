/* A child that waits. */
#ifndef TESTS_SUPPORT_STOP_WAITING_CHILD_H
#define TESTS_SUPPORT_STOP_WAITING_CHILD_H

#include <stdbool.h>
#include <sys/types.h>

/*
 * Start a child that calls BECOME, which must return true, and waits until it
 * is killed, by the end of this thread at the latest. Returns its PID after the
 * call.
 */
pid_t waiting_child(bool (*become)(const void *arg), const void *arg);

#endif
