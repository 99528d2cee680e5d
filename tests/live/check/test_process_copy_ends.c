/*
 * The end of a copy, and what can interfere with it: no zombie remains, the
 * process is unharmed, and the copy never runs.
 */
#include <linux/userfaultfd.h>
#include <sys/ioctl.h>
#include <sys/ptrace.h>
#include <sys/resource.h>

#include "tests/support/stop/copied.h"
#include "tests/support/suite.h"

static void
must_become(pid_t pid, char state)
{
	int i;

	for (i = 0; i < THREADED_PATIENCE && threaded_state(pid, pid) != state;
	     i++)
		usleep(1000);
	ck_assert_int_eq(threaded_state(pid, pid), state);
}

/* The number that its parent knows the copy by is another one than ours. */
TEST(pid_namespace)
{
	struct copied victim = copied_start_with(CLONE_NEWPID, NULL);
	int round;

	if (victim.pid < 0) {
		puts("SKIPPED: pid_namespace: not permitted");
		return;
	}
	for (round = 0; round < 5; round++) {
		must_stop(victim.pid);
		must_copy();
		mu_threads_release(&captured_threads);
		ck_assert_int_lt(copied_copy.child, 32);
		ck_assert_int_eq(children_of(victim.pid), 1);
		ck_assert_int_eq(read_memory(copied_copy.pid, copied_words,
				     &(uint64_t) { 0 }, 8),
		    8);
		must_drop(victim.pid);
		ck_assert_int_eq(children_of(victim.pid), 0);
	}
	copied_end(&victim);
}

TEST(victim_killed_in_the_midst)
{
	int round, copies = 0;
	pid_t killer;

	for (round = 0; round < 40; round++) {
		struct copied victim = copied_start(NULL);

		must_stop(victim.pid);
		killer = fork();
		if (killer == 0) {
			usleep((unsigned)(round * 25));
			kill(victim.pid, SIGKILL);
			_exit(0);
		}
		copies += mu_process_copy_make(&copied_copy, &captured_threads,
			      0, in_patience(), &captured_why) == MU_OK;
		mu_threads_release(&captured_threads);
		must_drop(victim.pid);
		waitpid(killer, NULL, 0);
		waitpid(victim.pid, NULL, 0);
		munmap(victim.shared, sizeof(*victim.shared));
	}
	ck_assert_int_gt(copies, 0);
}

/*
 * At every point at which the deadline can pass: no copy, no zombie, no harm.
 */
TEST(late)
{
	struct copied victim = copied_start(NULL);
	enum mu_status status;
	int round, times_late = 0;

	for (round = 0; round < 100; round++) {
		must_stop(victim.pid);
		status = mu_process_copy_make(&copied_copy, &captured_threads,
		    0, mu_sys_now_ns() + (uint64_t)round * 2000, &captured_why);
		mu_threads_release(&captured_threads);
		ck_assert_msg(status == MU_OK || status == MU_ERR_TIMEOUT, "%s",
		    captured_why.text);
		times_late += status == MU_ERR_TIMEOUT;
		ck_assert_int_eq(
		    children_of(victim.pid), copied_copy.pid != 0 ? 1 : 0);
		must_drop(victim.pid);
	}
	ck_assert_int_gt(times_late, 0);
	copied_end(&victim);
}

/* Enough memory that a fork takes some milliseconds. */
static void
have_memory(struct copied_shared *shared)
{
	size_t size = (size_t)256 << 20;

	shared->words[0] = (long)mmap(NULL, size, PROT_READ | PROT_WRITE,
	    MAP_PRIVATE | MAP_ANONYMOUS | MAP_POPULATE, -1, 0);
}

/*
 * Nothing may be written while the copy is made and not yet preferred by the
 * OOM killer: the threads stay stopped, although the stop has been too long.
 */
TEST(late_and_held)
{
	struct copied victim = copied_start(have_memory);
	enum mu_status status;
	int round, steps, times_late = 0;

	for (round = 0; round < 20; round++) {
		must_stop(victim.pid);
		captured_threads.hold_ns = PATIENCE_NS;
		steps = threaded_get(&victim.shared->steps);
		status = mu_process_copy_make(&copied_copy, &captured_threads,
		    0, mu_sys_now_ns() + (uint64_t)round * 100000,
		    &captured_why);
		ck_assert_int_eq(threaded_get(&victim.shared->steps), steps);
		mu_threads_release(&captured_threads);
		times_late += status == MU_ERR_TIMEOUT;
		must_drop(victim.pid);
	}
	ck_assert_int_gt(times_late, 0);
	copied_end(&victim);
}

/* The victim's memory is watched by one of its threads, for forks, too. */
static void *
read_faults(void *arg)
{
	struct uffd_msg message;
	int fd = (int)(intptr_t)arg;

	while (read(fd, &message, sizeof(message)) == sizeof(message))
		if (message.event == UFFD_EVENT_FORK)
			threaded_add((int *)&copied_shared->words[1], 1);
	return NULL;
}

static void
watch_memory(struct copied_shared *shared)
{
	struct uffdio_api api = { UFFD_API, UFFD_FEATURE_EVENT_FORK, 0 };
	size_t page = (size_t)sysconf(_SC_PAGESIZE);
	struct uffdio_register range = { .mode = UFFDIO_REGISTER_MODE_MISSING };
	int fd = (int)syscall(SYS_userfaultfd, O_CLOEXEC);

	range.range.start = (uintptr_t)mmap(NULL, page, PROT_READ | PROT_WRITE,
	    MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	range.range.len = page;
	shared->words[0] = fd < 0 || ioctl(fd, UFFDIO_API, &api) != 0 ||
	    ioctl(fd, UFFDIO_REGISTER, &range) != 0;
	if (shared->words[0] == 0)
		threaded_spawn(read_faults, (void *)(intptr_t)fd);
}

#define HOG_NS (3 * MU_NS_PER_SEC)
#define SOON_NS (100 * 1000 * 1000ull)

static bool
set_policy(int policy, int priority)
{
	struct sched_param param = { .sched_priority = priority };

	return sched_setscheduler(0, policy, &param) == 0;
}

static bool
be_urgent(int cpu, int policy, int priority)
{
	cpu_set_t set;

	CPU_ZERO(&set);
	CPU_SET(cpu, &set);
	return sched_setaffinity(0, sizeof(set), &set) == 0 &&
	    set_policy(policy, priority);
}

/*
 * Its children are less urgent than the load that hog() starts; itself it is
 * more urgent.
 */
static void
outrun_children(struct copied_shared *shared)
{
	shared->words[0] = sched_getcpu();
	shared->words[1] = be_urgent(
	    (int)shared->words[0], SCHED_FIFO | SCHED_RESET_ON_FORK, 5);
}

static pid_t
hog(int cpu)
{
	uint64_t end_ns = mu_sys_now_ns() + HOG_NS;
	pid_t pid = fork();

	if (pid != 0)
		return pid;
	be_urgent(cpu, SCHED_FIFO, 1);
	while (mu_sys_now_ns() < end_ns)
		continue;
	_exit(0);
}

/* Threads are not held for a copy that is given no CPU. */
TEST(copy_without_a_cpu)
{
	struct copied victim = copied_start(outrun_children);
	int round, copies = 0;
	pid_t busy;

	if (victim.shared->words[1] == 0)
		puts("SKIPPED: copy_without_a_cpu: SCHED_FIFO is refused");
	for (round = 0; round < 3 && victim.shared->words[1] != 0; round++) {
		must_stop(victim.pid);
		busy = hog((int)victim.shared->words[0]);
		usleep(20000);
		set_policy(SCHED_FIFO, 1);
		copies +=
		    mu_process_copy_make(&copied_copy, &captured_threads, 0,
			mu_sys_now_ns() + SOON_NS, &captured_why) == MU_OK;
		mu_threads_release(&captured_threads);
		set_policy(SCHED_OTHER, 0);
		kill(busy, SIGKILL);
		waitpid(busy, NULL, 0);
		if (copied_copy.pid != 0)
			ck_assert_int_eq(
			    mu_process_copy_await_stop(
				&copied_copy, in_patience(), &captured_why),
			    MU_OK);
		must_drop(victim.pid);
	}
	ck_assert_int_eq(copies > 0, victim.shared->words[1]);
	copied_end(&victim);
}

/* clone() waits for a thread that we hold. */
TEST(waits_for_another_thread)
{
	struct copied victim = copied_start(watch_memory);
	enum mu_status status;

	if (victim.shared->words[0] == 0) {
		must_stop(victim.pid);
		status = mu_process_copy_make(&copied_copy, &captured_threads,
		    0, mu_sys_now_ns() + 50 * 1000 * 1000, &captured_why);
		ck_assert_msg(
		    status == MU_ERR_TIMEOUT, "%s", captured_why.text);
		mu_threads_release(&captured_threads);
		threaded_await((int *)&victim.shared->words[1], 1);
		must_drop(victim.pid);
	} else {
		puts("SKIPPED: waits_for_another_thread: no userfaultfd");
	}
	copied_end(&victim);
}

/* A process that job control has stopped reaps the copy and stays stopped. */
TEST(victim_is_stopped_during)
{
	struct copied victim = copied_start(NULL);
	int status;

	must_stop(victim.pid);
	must_copy();
	mu_threads_release(&captured_threads);
	kill(victim.pid, SIGSTOP);
	ck_assert_int_eq(waitpid(victim.pid, &status, WUNTRACED), victim.pid);
	must_drop(victim.pid);
	ck_assert_int_eq(children_of(victim.pid), 0);
	must_become(victim.pid, 'T');
	status = threaded_get(&victim.shared->steps);
	usleep(20000);
	ck_assert_int_eq(threaded_get(&victim.shared->steps), status);
	kill(victim.pid, SIGCONT);
	ck_assert_int_eq(waitpid(victim.pid, &status, WCONTINUED), victim.pid);
	copied_end(&victim);
}

/* If the process that made the copy is killed, the copy is killed too. */
TEST(maker_is_killed)
{
	struct copied victim = copied_start(NULL);
	pid_t maker = fork(), pid;
	int status;

	if (maker == 0) {
		must_stop(victim.pid);
		must_copy();
		mu_threads_release(&captured_threads);
		victim.shared->words[0] = copied_copy.pid;
		for (;;)
			pause();
	}
	while ((pid = (pid_t) * (volatile long *)victim.shared->words) == 0)
		usleep(1000);
	must_become(pid, 't');
	kill(maker, SIGKILL);
	ck_assert_int_eq(waitpid(maker, &status, 0), maker);
	must_become(pid, 'Z');
	copied_goes_on(&victim);
	ck_assert_int_eq(victim.shared->sigchlds, 0);
	kill(victim.pid, SIGKILL);
	waitpid(victim.pid, NULL, 0);
}

static void
on_fault(int signo)
{
	(void)signo;
	copied_shared->words[0]++;
	_exit(0);
}

static void
handle_faults(struct copied_shared *shared)
{
	static char stack[65536];
	const stack_t other = { .ss_sp = stack, .ss_size = sizeof(stack) };
	const struct rlimit none = { 0, 0 };
	struct sigaction action;

	(void)shared;
	setrlimit(RLIMIT_CORE, &none);
	sigaltstack(&other, NULL);
	memset(&action, 0, sizeof(action));
	action.sa_handler = on_fault;
	action.sa_flags = SA_ONSTACK;
	sigaction(SIGSEGV, &action, NULL);
	sigaction(SIGBUS, &action, NULL);
}

/* If it should run after all it does nothing, not even handle its fault. */
TEST(copy_that_runs)
{
	struct copied victim = copied_start(handle_faults);
	int steps;

	must_stop(victim.pid);
	must_copy();
	steps = threaded_get(&victim.shared->steps);
	ck_assert_int_eq(
	    mu_sys_ptrace(PTRACE_DETACH, copied_copy.pid, 0, 0), 0);
	must_become(copied_copy.pid, 'Z');
	ck_assert_int_eq(threaded_get(&victim.shared->steps), steps);
	ck_assert_int_eq(victim.shared->words[0], 0);
	mu_threads_release(&captured_threads);
	must_drop(victim.pid);
	copied_end(&victim);
}

static void *
execute(void *arg)
{
	while (!threaded_get((int *)&copied_shared->words[0]))
		usleep(100);
	execl("/bin/sleep", "sleep", "100", NULL);
	return arg;
}

static void
execute_when_told(struct copied_shared *shared)
{
	(void)shared;
	threaded_spawn(execute, NULL);
}

/* A thread that is not the leader executes another program. */
TEST(victim_executes_during)
{
	struct copied victim;
	int round, left = 0;

	for (round = 0; round < 20; round++) {
		victim = copied_start(execute_when_told);
		must_stop(victim.pid);
		must_copy();
		mu_threads_release(&captured_threads);
		threaded_set((int *)&victim.shared->words[0], 1);
		usleep((unsigned)(round * 30));
		drop_copy(victim.pid);
		left += children_of(victim.pid);
		kill(victim.pid, SIGKILL);
		waitpid(victim.pid, NULL, 0);
		munmap(victim.shared, sizeof(*victim.shared));
	}
	ck_assert_int_eq(left, 0);
}

/* A child of ours with number PID; -1: only root may choose it (Linux 5.5). */
static pid_t
start_as(pid_t pid)
{
	const uint64_t arguments[10] = {
		[4] = SIGCHLD, [8] = (uintptr_t)&pid, [9] = 1 /* set_tid */
	};
	pid_t child = (pid_t)syscall(SYS_clone3, arguments, sizeof(arguments));

	while (child == 0)
		pause();
	return child;
}

/* Its parent has waited for it as well, and its number is another process's. */
TEST(number_of_an_ended_copy)
{
	struct copied victim = copied_start(NULL);
	struct mu_process_copy copy;
	pid_t other;
	int status;

	must_stop(victim.pid);
	must_copy();
	mu_threads_release(&captured_threads);
	ck_assert(mu_process_copy_end(&copied_copy, in_patience()));
	copy = copied_copy;
	must_drop(victim.pid);
	other = start_as(copy.pid);
	if (other < 0) {
		printf("SKIPPED: number_of_an_ended_copy: no clone3() with a"
		       " number (errno %d)\n",
		    errno);
	} else {
		ck_assert_int_eq(other, copy.pid);
		ck_assert(mu_process_copy_end(&copy, in_patience()));
		kill(other, SIGUSR1); /* SIGKILL would come first */
		ck_assert_int_eq(waitpid(other, &status, 0), other);
		ck_assert_int_eq(WTERMSIG(status), SIGUSR1);
	}
	copied_end(&victim);
}

TEST(nothing_to_drop)
{
	copied_copy = (struct mu_process_copy) { 0 };
	must_drop(getpid());
}

SUITE(.unfiltered = SUITE_INJECTS, .setup = captured_setup,
    .teardown = captured_teardown);
