/*
 * The threads of a process, stopped, and a snapshot of them.
 */
#ifndef TESTS_SUPPORT_CAPTURED_H
#define TESTS_SUPPORT_CAPTURED_H

#include "mu/sys.h"
#include "ptrace/live/snapshot.h"
#include "ptrace/live/threads.h"
#include "tests/support/threaded_child.h"

#define PATIENCE_NS (60 * MU_NS_PER_SEC)
#define PLANT ((uintptr_t)0x7abc12345000) /* + 0x10 a place */

static struct mu_arena arena;
static struct mu_threads threads;
static struct mu_snapshot snap;
static struct mu_why why;

static inline void
setup(void)
{
	mu_arena_open(&arena, (size_t)1 << 30);
	memset(&snap, 0, sizeof(snap));
	memset(&why, 0, sizeof(why));
}

static inline void
teardown(void)
{
	mu_arena_close(&arena);
}

static inline enum mu_status
stop_hooked(pid_t pid, const struct mu_threads_hooks *hooks)
{
	return mu_threads_stop_hooked(&threads, pid, 0, &arena,
	    mu_sys_now_ns() + PATIENCE_NS, hooks, &why);
}

static inline void
must_stop(pid_t pid)
{
	enum mu_status status = stop_hooked(pid, NULL);

	ck_assert_msg(
	    status == MU_OK, "%s: %s", mu_status_name(status), why.words);
}

static inline void
must_not_stop(
    pid_t pid, enum mu_status expected, const struct mu_threads_hooks *hooks)
{
	enum mu_status status = stop_hooked(pid, hooks);

	ck_assert_msg(
	    status == expected, "%s: %s", mu_status_name(status), why.words);
	ck_assert(why.words[0] != '\0');
	ck_assert_uint_eq(threads.count, 0);
	mu_threads_release(&threads);
}

/* A snapshot of PID, which goes on. */
static inline void
take(pid_t pid)
{
	enum mu_status status;

	must_stop(pid);
	status = mu_snapshot_live(&snap, &threads, NULL, &arena, &why);
	if (status == MU_OK)
		status = mu_snapshot_mappings(&snap, &arena, &why);
	mu_threads_release(&threads);
	ck_assert_msg(status == MU_OK, "%s", why.words);
}

static inline size_t
occurrences(const uintptr_t *words, size_t count, uintptr_t word)
{
	size_t i, found = 0;

	for (i = 0; i < count; i++)
		found += words[i] == word;
	return found;
}

#endif
