/*
 * Heaps that a program has registered, checked from outside: only the program
 * can list their blocks, and the answer says so.
 */
#include <sys/prctl.h>

#include "lib/check/check.h"
#include "tests/support/suite.h"

static int
iterate(uintptr_t base, size_t size,
    void (*callback)(uintptr_t base, size_t size, void *arg), void *arg)
{
	(void)base;
	(void)size;
	(void)callback;
	(void)arg;
	abort();
}

static int
iterate_more(uintptr_t base, size_t size,
    void (*callback)(uintptr_t base, size_t size, void *arg), void *arg)
{
	return iterate(base, size, callback, arg);
}

static const struct MemunreachableHeap heap = { .malloc_iterate = iterate },
				       more = { .malloc_iterate =
						    iterate_more };

/* A copy of this process; *ANSWER is to be released. */
static enum mu_status
check_child(enum mu_check_stop stop, struct mu_report *answer)
{
	struct mu_check check = {
		.stop = stop,
		.timeout_ns = 30ull * 1000 * 1000 * 1000,
		.max_pause_ns = 10ull * 1000 * 1000 * 1000,
		.limit = 10,
	};
	enum mu_status status;

	check.pid = fork();
	ck_assert_int_ge(check.pid, 0);
	if (check.pid == 0) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		for (;;)
			pause();
	}
	status = mu_check_process(&check, answer);
	ck_assert_int_eq(waitpid(check.pid, NULL, WNOHANG), 0);
	kill(check.pid, SIGKILL);
	waitpid(check.pid, NULL, 0);
	return status;
}

TEST_LOOP(from_outside, 0, 2)
{
	enum mu_check_stop stop =
	    _i == 0 ? MU_CHECK_STOP_AUTO : MU_CHECK_STOP_READ;
	struct mu_report answer;

	ck_assert_int_eq(check_child(stop, &answer), MU_OK);
	mu_check_release(&answer);
	ck_assert(memunreachable_register_heap(&heap));
	ck_assert(memunreachable_register_heap(&more));
	ck_assert_int_eq(check_child(stop, &answer), MU_PARTIAL);
	ck_assert_ptr_nonnull(strstr(
	    answer.info.reason, "only it can list, were not checked: 2"));
	mu_check_release(&answer);
	ck_assert(memunreachable_unregister_heap(&heap));
	ck_assert(memunreachable_unregister_heap(&more));
	ck_assert_int_eq(check_child(stop, &answer), MU_OK);
	mu_check_release(&answer);
}
