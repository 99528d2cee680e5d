#include "tests/support/stop/captured.h"

struct mu_arena captured_arena;
struct mu_threads captured_threads;
struct mu_snapshot captured_snap;
struct mu_why captured_why;

uint64_t
in_patience(void)
{
	return mu_sys_now_ns() + PATIENCE_NS;
}

void
captured_setup(void)
{
	mu_arena_open(&captured_arena, (size_t)1 << 30);
	memset(&captured_snap, 0, sizeof(captured_snap));
	memset(&captured_why, 0, sizeof(captured_why));
}

void
captured_teardown(void)
{
	mu_arena_close(&captured_arena);
}

enum mu_status
stop_threads(struct mu_threads *out, pid_t pid, pid_t except,
    struct mu_arena *arena, uint64_t deadline_ns,
    const struct mu_threads_hooks *hooks, struct mu_why *why)
{
	enum mu_status status =
	    mu_threads_prepare(out, pid, except, arena, why);

	out->hooks = hooks;
	return status == MU_OK ? mu_threads_stop_listed(out, deadline_ns, why)
			       : status;
}

enum mu_status
stop_hooked(pid_t pid, const struct mu_threads_hooks *hooks)
{
	return stop_threads(&captured_threads, pid, 0, &captured_arena,
	    in_patience(), hooks, &captured_why);
}

void
must_stop(pid_t pid)
{
	enum mu_status status = stop_hooked(pid, NULL);

	ck_assert_msg(status == MU_OK, "%s: %s", mu_status_name(status),
	    captured_why.text);
}

void
must_not_stop(
    pid_t pid, enum mu_status expected, const struct mu_threads_hooks *hooks)
{
	enum mu_status status = stop_hooked(pid, hooks);

	ck_assert_msg(status == expected, "%s: %s", mu_status_name(status),
	    captured_why.text);
	ck_assert(captured_why.text[0] != '\0');
	ck_assert_uint_eq(captured_threads.count, 0);
	mu_threads_release(&captured_threads);
}

void
take(pid_t pid)
{
	enum mu_status status;

	must_stop(pid);
	status = mu_snapshot_live(&captured_snap, &captured_threads, NULL,
	    &captured_arena, &captured_why);
	if (status == MU_OK)
		status = mu_snapshot_mappings(
		    &captured_snap, &captured_arena, &captured_why);
	mu_threads_release(&captured_threads);
	ck_assert_msg(status == MU_OK, "%s", captured_why.text);
}

size_t
occurrences(const uintptr_t *words, size_t count, uintptr_t word)
{
	size_t i, found = 0;

	for (i = 0; i < count; i++)
		found += words[i] == word;
	return found;
}
