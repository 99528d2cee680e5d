/*
 * A copy that takes longer than was foreseen: a little late it is taken, far
 * too late it is given up, and what a busy machine does is foreseen.
 */
#include <check.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/userfaultfd.h>
#include <poll.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "lib/cli/check.h"
#include "lib/copy_pause.h"
#include "tests/support/suite.h"

#ifndef SYS_pidfd_getfd
#define SYS_pidfd_getfd 438 /* Linux 5.6 */
#endif

#define MS (1000 * 1000ull)
#define BUDGET_MS 100
#define RESIDENT ((size_t)64 << 20)
#define RIVALS 6

/* Shared with the target. */
struct shared {
	_Atomic int monitor; /* its descriptor; -1: none can be had */
	_Atomic bool taken;
};

static struct shared *shared;
static pid_t target;
static _Atomic long delay_ms;
static _Atomic int forks;

static void
nap_ms(long ms)
{
	struct timespec nap = { ms / 1000, ms % 1000 * 1000000 };

	while (nanosleep(&nap, &nap) != 0)
		continue;
}

/* Whose forks wait until another process has read of them. */
static _Noreturn void
run_target(void)
{
	struct uffdio_api api = {
		.api = UFFD_API,
		.features = UFFD_FEATURE_EVENT_FORK,
	};
	struct uffdio_register range;
	void *volatile lost = calloc(1, 1000);
	char *memory = mmap(NULL, 65536, PROT_READ | PROT_WRITE,
	    MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	int fd = (int)syscall(SYS_userfaultfd, O_CLOEXEC | O_NONBLOCK);

	lost = NULL;
	(void)lost;
	range = (struct uffdio_register) {
		.range = { (uintptr_t)memory, 65536 },
		.mode = UFFDIO_REGISTER_MODE_MISSING,
	};
	if (fd < 0 || ioctl(fd, UFFDIO_API, &api) != 0 ||
	    ioctl(fd, UFFDIO_REGISTER, &range) != 0)
		shared->monitor = -1;
	else
		shared->monitor = fd;
	while (!shared->taken)
		nap_ms(1);
	close(fd);
	for (;;)
		pause();
}

static void *
let_forks_pass(void *arg)
{
	int fd = *(int *)arg;
	struct pollfd ready = { .fd = fd, .events = POLLIN };
	struct uffd_msg message;

	while (poll(&ready, 1, -1) >= 0) {
		nap_ms(delay_ms);
		if (read(fd, &message, sizeof(message)) != sizeof(message) ||
		    message.event != UFFD_EVENT_FORK)
			continue;
		close((int)message.arg.fork.ufd);
		forks++;
	}
	return NULL;
}

/* False: this machine does not let us. */
static bool
start(void)
{
	static int fd;
	pthread_t thread;
	int pidfd;

	shared = mmap(NULL, sizeof(*shared), PROT_READ | PROT_WRITE,
	    MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	ck_assert_ptr_ne(shared, MAP_FAILED);
	target = fork();
	ck_assert_int_ge(target, 0);
	if (target == 0)
		run_target();
	while (shared->monitor == 0)
		nap_ms(1);
	pidfd = (int)syscall(SYS_pidfd_open, target, 0);
	fd = shared->monitor < 0
	    ? -1
	    : (int)syscall(SYS_pidfd_getfd, pidfd, (int)shared->monitor, 0);
	close(pidfd);
	if (fd < 0) {
		printf("SKIPPED: no userfaultfd of another process (errno"
		       " %d)\n",
		    errno);
		return false;
	}
	shared->taken = true;
	nap_ms(20);
	pthread_create(&thread, NULL, let_forks_pass, &fd);
	return true;
}

static void
end(void)
{
	ck_assert_int_eq(waitpid(target, NULL, WNOHANG), 0);
	kill(target, SIGKILL);
	waitpid(target, NULL, 0);
}

static enum mu_status
look(struct mu_answer *answer)
{
	struct mu_check check = {
		.pid = target,
		.stop = MU_CHECK_STOP_FORK,
		.timeout_ns = 60000 * MS,
		.max_pause_ns = BUDGET_MS * MS,
		.limit = 10,
	};

	return mu_check_process(&check, answer);
}

static bool
has_children(void)
{
	char path[64], text[16];
	ssize_t length;
	int fd;

	snprintf(
	    path, sizeof(path), "/proc/%d/task/%d/children", target, target);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	length = fd < 0 ? 0 : read(fd, text, sizeof(text));
	if (fd >= 0)
		close(fd);
	return length > 0;
}

/* All threads have stood still for it: it is not thrown away. */
START_TEST(a_little_late)
{
	struct mu_answer answer;
	enum mu_status status;

	if (start()) {
		delay_ms = BUDGET_MS + 20;
		status = look(&answer);
		ck_assert_msg(status == MU_OK || status == MU_PARTIAL, "%d: %s",
		    (int)status, answer.info.reason);
		ck_assert_str_eq(answer.stop, "fork");
		ck_assert_uint_eq(answer.info.num_leaks, 1);
		ck_assert_uint_ge(answer.info.pause_ns, BUDGET_MS * MS);
		ck_assert_int_eq(forks, 1);
		mu_check_release(&answer);
	}
	end();
}
END_TEST

/* The pause is what it was, and nothing is left in the process. */
START_TEST(far_too_late)
{
	struct mu_answer answer;

	if (start()) {
		delay_ms = BUDGET_MS + 700;
		ck_assert_int_eq(look(&answer), MU_ERR_TIMEOUT);
		ck_assert_ptr_nonnull(
		    strstr(answer.info.reason, "--max-pause="));
		ck_assert_uint_ge(answer.info.pause_ns, delay_ms * MS);
		ck_assert_int_eq(forks, 1);
		mu_check_release(&answer);
		ck_assert(!has_children());
	}
	end();
}
END_TEST

/* On one CPU with others that run a fork takes so many times as long. */
START_TEST(foreseen_by_load)
{
	uint64_t ns, most = 0, alone;
	pid_t rivals[RIVALS];
	struct mu_forked forked;
	cpu_set_t set;
	char *memory;
	int i;

	CPU_ZERO(&set);
	CPU_SET(sched_getcpu(), &set);
	ck_assert_int_eq(sched_setaffinity(0, sizeof(set), &set), 0);
	for (i = 0; i < RIVALS; i++) {
		rivals[i] = fork();
		while (rivals[i] == 0)
			continue;
	}
	memory = mmap(NULL, RESIDENT, PROT_READ | PROT_WRITE,
	    MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	memset(memory, 1, RESIDENT);
	for (i = 0; i < 20; i++) {
		ns = mu_copy_pause_of(getpid(), 1, 10, &forked);
		most = ns > most ? ns : most;
		nap_ms(5);
	}
	alone = mu_copy_pause_ns(1, 10, forked.small);
	for (i = 0; i < RIVALS; i++) {
		kill(rivals[i], SIGKILL);
		waitpid(rivals[i], NULL, 0);
	}
	ck_assert_uint_ge(forked.small, RESIDENT);
	ck_assert_uint_ge(most, 2 * alone);
}
END_TEST

int
main(void)
{
	Suite *suite = suite_create("check_late");
	TCase *tcase = tcase_create("late");

	tcase_set_timeout(tcase, 120);
	tcase_add_test(tcase, a_little_late);
	tcase_add_test(tcase, far_too_late);
	tcase_add_test(tcase, foreseen_by_load);
	suite_add_tcase(suite, tcase);
	return suite_run(suite);
}
