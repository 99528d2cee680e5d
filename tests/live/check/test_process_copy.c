/*
 * Copy a process by an injected clone(): the copy has the memory as it was at
 * the stop and keeps it, and the process notices nothing.
 */
#include <grp.h>
#include <linux/capability.h>
#include <poll.h>
#include <sys/prctl.h>
#include <sys/resource.h>

#include "ptrace/remote/remote_call.h"
#include "tests/support/stop/copied.h"
#include "tests/support/suite.h"

static uint64_t before[WORKERS][WORDS], after[WORKERS][WORDS];

TEST(memory_stays)
{
	struct copied victim = copied_start(NULL);
	int round;

	for (round = 0; round < 10; round++) {
		must_stop(victim.pid);
		must_copy();
		ck_assert_int_eq(read_memory(victim.pid, copied_words, before,
				     sizeof(before)),
		    sizeof(before));
		mu_threads_release(&captured_threads);
		copied_goes_on(&victim);
		ck_assert_int_eq(read_memory(copied_copy.pid, copied_words,
				     after, sizeof(after)),
		    sizeof(after));
		ck_assert(memcmp(before, after, sizeof(before)) == 0);
		ck_assert_int_eq(
		    read_memory(victim.pid, copied_words, after, sizeof(after)),
		    sizeof(after));
		ck_assert(memcmp(before, after, sizeof(before)) != 0);
		ck_assert_int_eq(children_of(victim.pid), 1);
		ck_assert_int_eq(
		    threaded_state(copied_copy.pid, copied_copy.pid), 't');
		must_drop(victim.pid);
		ck_assert_int_eq(children_of(victim.pid), 0);
	}
	copied_end(&victim);
}

TEST(two_hundred_copies)
{
	struct copied victim = copied_start(NULL);
	int round;

	for (round = 0; round < 200; round++) {
		must_stop(victim.pid);
		must_copy();
		mu_threads_release(&captured_threads);
		must_drop(victim.pid);
	}
	copied_end(&victim);
}

static void *wiped, *absent, *shared_page;

static void
special_memory(struct copied_shared *shared)
{
	const int flags = MAP_ANONYMOUS | MAP_PRIVATE;
	size_t page = (size_t)sysconf(_SC_PAGESIZE);

	wiped = mmap(NULL, page, PROT_READ | PROT_WRITE, flags, -1, 0);
	absent = mmap(NULL, page, PROT_READ | PROT_WRITE, flags, -1, 0);
	strcpy(wiped, "wiped");
	strcpy(absent, "absent");
	shared->words[2] = madvise(wiped, page, MADV_WIPEONFORK) |
	    madvise(absent, page, MADV_DONTFORK);
	shared->words[0] = (long)wiped;
	shared->words[1] = (long)absent;
}

/* Special mappings are in the copy as the header says. */
TEST(special_mappings)
{
	struct copied victim = copied_start(special_memory);
	char text[8] = "";

	wiped = (void *)victim.shared->words[0];
	absent = (void *)victim.shared->words[1];
	shared_page = &victim.shared->words[3];
	ck_assert_int_eq(victim.shared->words[2], 0);
	must_stop(victim.pid);
	must_copy();
	mu_threads_release(&captured_threads);
	ck_assert_int_eq(read_memory(victim.pid, wiped, text, 6), 6);
	ck_assert_str_eq(text, "wiped");
	ck_assert_int_eq(read_memory(copied_copy.pid, wiped, text, 6), 6);
	ck_assert_str_eq(text, "");
	ck_assert_int_eq(read_memory(victim.pid, absent, text, 7), 7);
	ck_assert_str_eq(text, "absent");
	ck_assert_int_eq(read_memory(copied_copy.pid, absent, text, 7), -1);
	memcpy(shared_page, "later", 6);
	ck_assert_int_eq(read_memory(copied_copy.pid, shared_page, text, 6), 6);
	ck_assert_str_eq(text, "later");
	must_drop(victim.pid);
	copied_end(&victim);
}

static void
make_pipe(struct copied_shared *shared)
{
	int ends[2];

	shared->words[0] = pipe(ends);
	shared->words[1] = ends[0];
	shared->words[2] = ends[1];
}

/* A descriptor that the victim closes is closed although a copy exists. */
TEST(closed_is_closed)
{
	struct copied victim = copied_start(make_pipe);
	struct mu_remote_thread remote;
	struct mu_remote_call call = { .nr = SYS_close };
	char path[64], byte;
	int fd;

	snprintf(path, sizeof(path), "/proc/%d/fd/%ld", victim.pid,
	    victim.shared->words[1]);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	ck_assert_int_ge(fd, 0);
	must_stop(victim.pid);
	must_copy();
	ck_assert_int_eq(
	    mu_remote_thread_pick(&remote, &captured_threads, &captured_why),
	    MU_OK);
	call.args[0] = (uintptr_t)victim.shared->words[2];
	ck_assert_int_eq(
	    mu_remote_call_make(&call, &remote, in_patience(), &captured_why),
	    MU_OK);
	ck_assert_int_eq(call.result, 0);
	mu_threads_release(&captured_threads);
	ck_assert_int_eq(read(fd, &byte, 1), 0);
	close(fd);
	must_drop(victim.pid);
	copied_end(&victim);
}

/* The copy keeps nothing open that the victim has closed. */
TEST(ended_is_ended)
{
	struct copied victim = copied_start(make_pipe);
	struct pollfd look = { .events = POLLIN };
	char path[64];

	snprintf(path, sizeof(path), "/proc/%d/fd/%ld", victim.pid,
	    victim.shared->words[1]);
	look.fd = open(path, O_RDONLY | O_CLOEXEC);
	ck_assert_int_ge(look.fd, 0);
	must_stop(victim.pid);
	must_copy();
	mu_threads_release(&captured_threads);
	mu_process_copy_leave_files(&copied_copy, in_patience());
	copied_goes_on(&victim);
	ck_assert_int_eq(poll(&look, 1, 0), 0);
	kill(victim.pid, SIGKILL);
	ck_assert_int_eq(waitpid(victim.pid, NULL, 0), victim.pid);
	ck_assert_int_eq(poll(&look, 1, 10000), 1);
	ck_assert_int_eq(look.revents, POLLHUP);
	ck_assert_int_eq(threaded_state(copied_copy.pid, copied_copy.pid), 't');
	close(look.fd);
	must_drop(victim.pid);
	munmap(victim.shared, sizeof(*victim.shared));
}

#define NOBODY 31337

/* Not root, to whom the limit does not apply. */
static void
lose_root(struct copied_shared *shared)
{
	const struct rlimit limit = { 1 + WORKERS, 1 + WORKERS };

	setrlimit(RLIMIT_NPROC, &limit);
	shared->words[0] = setresgid(NOBODY, NOBODY, NOBODY) |
	    setresuid(NOBODY, NOBODY, NOBODY);
	prctl(PR_SET_DUMPABLE, 1);
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	prctl(PR_SET_PTRACER, PR_SET_PTRACER_ANY);
}

/* Root may stop it; but its rights could become those of the process. */
TEST(process_limit)
{
	struct copied victim;
	pid_t pid;

	if (geteuid() != 0 || prctl(PR_CAPBSET_READ, CAP_SYS_PTRACE) != 1) {
		puts("SKIPPED: process_limit: not root with CAP_SYS_PTRACE");
		return;
	}
	victim = copied_start(lose_root);
	ck_assert_int_eq(victim.shared->words[0], 0);
	must_stop(victim.pid);
	must_not_copy(MU_ERR_NO_PERMISSION, "rights that it does not have");
	mu_threads_release(&captured_threads);
	pid = check_fork();
	if (pid == 0) {
		ck_assert_int_eq(setgroups(0, NULL), 0);
		ck_assert_int_eq(setresgid(NOBODY, NOBODY, NOBODY), 0);
		ck_assert_int_eq(setresuid(NOBODY, NOBODY, NOBODY), 0);
		must_stop(victim.pid);
		must_not_copy(MU_ERR_RESOURCES, "RLIMIT_NPROC");
		mu_threads_release(&captured_threads);
		_exit(0);
	}
	check_waitpid_and_exit(pid);
}

/* A program of one thread that does what a test says, and then pauses. */
static pid_t
start_alone(
    void (*prepare)(struct threaded_shared *), struct threaded_shared **shared)
{
	pid_t pid;

	*shared = mmap(NULL, sizeof(**shared), PROT_READ | PROT_WRITE,
	    MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	pid = fork();
	if (pid == 0) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		prepare(*shared);
		threaded_set(&(*shared)->started, 1);
		for (;;)
			pause();
	}
	threaded_await(&(*shared)->started, 1);
	return pid;
}

static void
unshare_pids(struct threaded_shared *shared)
{
	shared->words[0] = (uintptr_t)unshare(CLONE_NEWPID);
}

/* The copy would be the init of the namespace, and its end that of it. */
TEST(first_of_a_namespace)
{
	struct threaded_shared *shared;
	pid_t pid = start_alone(unshare_pids, &shared);

	if (shared->words[0] == 0) {
		must_stop(pid);
		must_not_copy(MU_ERR_BUSY, "namespace");
		mu_threads_release(&captured_threads);
	} else {
		puts("SKIPPED: first_of_a_namespace: not permitted");
	}
	kill(pid, SIGKILL);
	waitpid(pid, NULL, 0);
}

/* As sched_setattr(2) has it; glibc from 2.41 on declares it. */
struct deadline {
	uint32_t size, policy;
	uint64_t flags;
	int32_t nice;
	uint32_t priority;
	uint64_t runtime, deadline, period;
};

static int refused;

static void
give_deadline(pid_t pid, pid_t tid)
{
	struct deadline deadline = {
		.size = sizeof(deadline),
		.policy = 6, /* SCHED_DEADLINE */
		.runtime = 2000000,
		.deadline = 100000000,
		.period = 100000000,
	};

	(void)pid;
	if (syscall(SYS_sched_setattr, tid, &deadline, 0) != 0)
		refused = errno;
}

/* Which may not fork. _i: only the first thread; all of them. */
TEST_LOOP(deadline_threads, 0, 2)
{
	struct copied victim = copied_start(NULL);

	refused = 0;
	if (_i == 0)
		give_deadline(victim.pid, victim.pid);
	else
		threaded_each(victim.pid, give_deadline);
	if (refused != 0) {
		printf("SKIPPED: no SCHED_DEADLINE (errno %d)\n", refused);
	} else {
		must_stop(victim.pid);
		if (_i == 0)
			must_copy();
		else
			must_not_copy(MU_ERR_BUSY, "SCHED_DEADLINE");
		mu_threads_release(&captured_threads);
		must_drop(victim.pid);
	}
	copied_end(&victim);
}

SUITE(.unfiltered = SUITE_INJECTS, .setup = captured_setup,
    .teardown = captured_teardown);
