/*
 * Threads that are asked for their alternate signal stacks, with ever more
 * time: either all of them are still stopped afterwards, or the answer says
 * that they are not. In an image of running threads a block that only a
 * register holds looks lost.
 */
#include "ptrace/remote/alternate_stacks.h"
#include "tests/support/stop/captured.h"
#include "tests/support/suite.h"

#define THREADS 16
#define SPANS 400

static size_t
count_confirmed(pid_t pid)
{
	size_t i, count = 0;

	for (i = 0; i < captured_threads.count; i++)
		count += mu_tracee_stopped(&captured_threads.tracees[i]) &&
		    mu_tracee_confirm(&captured_threads.tracees[i], pid);
	return count;
}

TEST(late_calls)
{
	struct threaded_child child = threaded_start(THREADS, NULL);
	size_t unasked, asked = 0, expired = 0;
	enum mu_status status;
	uint64_t span_ns;
	int i;

	for (i = 0; i < SPANS; i++) {
		span_ns = (uint64_t)i * i * 20; /* to 3 ms */
		must_stop(child.pid);
		status = mu_alternate_stacks_add(&captured_snap,
		    &captured_threads, &captured_arena,
		    mu_sys_now_ns() + span_ns, &unasked, &captured_why);
		if (status == MU_OK) {
			ck_assert_uint_eq(
			    count_confirmed(child.pid), THREADS + 1);
			asked += THREADS + 1 - unasked;
		} else {
			ck_assert_int_eq(status, MU_ERR_TIMEOUT);
			expired++;
		}
		mu_threads_release(&captured_threads);
	}
	printf("%zu threads were asked, %zu stops expired\n", asked, expired);
	ck_assert_uint_gt(asked, 0);
	threaded_end(&child);
}

SUITE(.unfiltered = SUITE_INJECTS, .setup = captured_setup,
    .teardown = captured_teardown);
