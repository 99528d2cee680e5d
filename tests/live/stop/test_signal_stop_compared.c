/*
 * The registers of a thread that was stopped by signal are those that ptrace
 * reads: the same words in the same places.
 */
#include <sys/prctl.h>

#include "tests/support/suite.h"

#if defined(__x86_64__)

#include "tests/support/stop/captured.h"
#include "tests/support/stop/filled_registers.h"

/* The values that another process found, in order. */
struct found {
	size_t count;
	enum mu_status status;
	uintptr_t sp, tp;
	uintptr_t words[4096];
	uint16_t places[4096];
};

/*
 * The thread goes round a loop of three instructions, and XSAVE's header and
 * what software may put before it are no registers.
 */
static bool
is_left_out(unsigned place)
{
	unsigned byte = (place & ~(unsigned)MU_REGNO_SET) * sizeof(uintptr_t);

	if ((place & MU_REGNO_SET) == MU_REGNO_GENERAL)
		return strcmp(mu_general_name(place), "rip") == 0;
	return byte >= 416 && byte < 576;
}

static void
note(struct found *found, pid_t tid)
{
	const struct mu_thread *thread = NULL;
	size_t i, at;

	for (i = 0; i < stop_snap.num_threads; i++)
		if (stop_snap.threads[i].tid == tid)
			thread = &stop_snap.threads[i];
	ck_assert_ptr_nonnull(thread);
	found->sp = thread->sp;
	found->tp = thread->tp;
	for (i = 0; i < thread->num_values; i++) {
		at = thread->first_value + i;
		if (is_left_out(stop_snap.regnos[at]))
			continue;
		found->words[found->count] = stop_snap.values[at];
		found->places[found->count++] = stop_snap.regnos[at];
	}
}

static void
look_by_ptrace(struct found *found, pid_t pid, pid_t tid)
{
	struct mu_threads threads = { 0 };

	memset(&stop_snap, 0, sizeof(stop_snap));
	found->status = stop_threads(&threads, pid, 0, &stop_arena,
	    mu_sys_now_ns() + PATIENCE_NS, NULL, &stop_why);
	if (found->status == MU_OK)
		found->status = mu_snapshot_live(
		    &stop_snap, &threads, NULL, &stop_arena, &stop_why);
	mu_threads_release(&threads);
	if (found->status == MU_OK)
		note(found, tid);
	_exit(0);
}

static struct found *
found_by_ptrace(pid_t tid)
{
	struct found *found = mmap(NULL, sizeof(*found), PROT_READ | PROT_WRITE,
	    MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	pid_t pid = getpid(), child;
	int status, go[2];
	char c;

	ck_assert_ptr_ne(found, MAP_FAILED);
	found->status = MU_ERR_HELPER_DIED;
	ck_assert_int_eq(pipe(go), 0);
	child = fork();
	if (child == 0) {
		ck_assert_int_eq(read(go[0], &c, 1), 1);
		look_by_ptrace(found, pid, tid);
	}
	prctl(0x59616d61 /* PR_SET_PTRACER */, child);
	ck_assert_int_eq(write(go[1], "x", 1), 1);
	ck_assert_int_eq(waitpid(child, &status, 0), child);
	ck_assert_int_eq(status, 0);
	return found;
}

/* A busy stack below the thread's: words of it must not show as registers. */
static void
dirty_stack(void)
{
	volatile uintptr_t words[2048];
	size_t i;

	for (i = 0; i < 2048; i++)
		words[i] = PLANT + 0x100000 + 8 * i;
	__asm__ volatile("" : : "r"(words) : "memory");
}

static void *
dirty_holder(void *arg)
{
	dirty_stack();
	return holder(arg);
}

TEST_LOOP(same_as_ptrace, 0, 3)
{
	static struct found ours;
	const struct kind *kind = &kinds[_i];
	struct found *theirs;
	pthread_t thread;
	unsigned i;

	if (!has(kind))
		return;
	thread = start_holder(dirty_holder, kind);
	theirs = found_by_ptrace(holder_tid);
	if (theirs->status != MU_OK) {
		printf("SKIPPED: ptrace is refused here\n");
		end_holder(thread);
		return;
	}
	must_signal_stop();
	take_stopped();
	release_all();
	note(&ours, holder_tid);
	ck_assert_uint_gt(ours.count, 15 + kind->registers * kind->words);
	ck_assert_uint_eq(ours.sp, theirs->sp);
	ck_assert_uint_eq(ours.tp, theirs->tp);
	for (i = 0; i < ours.count && i < theirs->count; i++) {
		ck_assert_uint_eq(ours.places[i], theirs->places[i]);
		ck_assert_uint_eq(ours.words[i], theirs->words[i]);
	}
	ck_assert_uint_eq(ours.count, theirs->count);
	end_holder(thread);
}

SUITE(.setup = stop_setup, .teardown = stop_teardown);

#else

int
main(void)
{
	printf("SKIPPED: registers are planted on x86-64 only\n");
	return 77;
}

#endif
