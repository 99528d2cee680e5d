/*
 * Which signal was used to stop threads. It is never one that the program
 * handles.
 */
#ifndef TESTS_SUPPORT_STOP_SIGNAL_STOP_CHOICE_H
#define TESTS_SUPPORT_STOP_SIGNAL_STOP_CHOICE_H

#include "tests/support/stop/signal_stop.h"

extern int handled;

void handle(int signo);

extern struct counter counter;

void must_use(int signo);

#endif
