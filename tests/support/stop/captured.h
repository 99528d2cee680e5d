/* Stop the threads of a process, and take a snapshot of them. */
#ifndef TESTS_SUPPORT_STOP_CAPTURED_H
#define TESTS_SUPPORT_STOP_CAPTURED_H

#include "mu/sys.h"
#include "ptrace/live/snapshot.h"
#include "ptrace/live/threads.h"
#include "tests/support/stop/threaded_child.h"

#define PATIENCE_NS (60 * MU_NS_PER_SEC)
#define PLANT ((uintptr_t)0x7abc12345000) /* + 0x10 a place */

extern struct mu_arena captured_arena;
extern struct mu_threads captured_threads;
extern struct mu_snapshot captured_snap;
extern struct mu_why captured_why;

uint64_t in_patience(void);
void captured_setup(void);
void captured_teardown(void);

/* Both steps of a stop; HOOKS may be NULL. */
enum mu_status stop_threads(struct mu_threads *out, pid_t pid, pid_t except,
    struct mu_arena *arena, uint64_t deadline_ns,
    const struct mu_threads_hooks *hooks, struct mu_why *why);

enum mu_status stop_hooked(pid_t pid, const struct mu_threads_hooks *hooks);
void must_stop(pid_t pid);
void must_not_stop(
    pid_t pid, enum mu_status expected, const struct mu_threads_hooks *hooks);

/* A snapshot of PID, which keeps running. */
void take(pid_t pid);

size_t occurrences(const uintptr_t *words, size_t count, uintptr_t word);

#endif
