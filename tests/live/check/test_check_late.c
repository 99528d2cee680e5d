/*
 * A copy that takes longer than estimated: the other threads are released when
 * the stop has used up its time, and the copy is not used; the estimate takes
 * other load into account. No copy is made where the fork could block.
 */
#include <linux/userfaultfd.h>
#include <poll.h>
#include <stdatomic.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>

#include "lib/check/check.h"
#include "lib/helpers/copy_pause.h"
#include "tests/support/clock.h"
#include "tests/support/stop/target_process.h"
#include "tests/support/suite.h"

#ifndef SYS_pidfd_getfd
#define SYS_pidfd_getfd 438 /* Linux 5.6 */
#endif

#define MS (1000 * 1000ull)
#define BUDGET_MS 300
#define RESIDENT ((size_t)64 << 20)
#define RIVALS 6

/* Shared with the target. */
struct shared {
	_Atomic int monitor; /* its descriptor; -1: not available */
	_Atomic bool taken;
	_Atomic int steps;   /* of another thread */
	bool seems_harmless; /* the target has another one, without fork events
			      */
};

static struct shared *shared;
static pid_t target;
static _Atomic long delay_ms;
static _Atomic bool steps_first; /* forks wait until another thread has run */
static _Atomic int forks;

/* -1: none can be had. */
static int
open_monitor(uint64_t features)
{
	struct uffdio_api api = { .api = UFFD_API, .features = features };
	int fd = (int)syscall(SYS_userfaultfd, O_CLOEXEC | O_NONBLOCK);

	return fd >= 0 && ioctl(fd, UFFDIO_API, &api) == 0 ? fd : -1;
}

static void *
step(void *arg)
{
	for (;;) {
		nap_ms(1);
		shared->steps++;
	}
	return arg;
}

/* Register memory whose forks wait until another process has read the event. */
static _Noreturn void
run_target(void)
{
	struct uffdio_register range;
	pthread_t thread;
	void *volatile lost = calloc(1, 1000);
	char *memory = mmap(NULL, 65536, PROT_READ | PROT_WRITE,
	    MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	int fd = open_monitor(UFFD_FEATURE_EVENT_FORK);

	if (shared->seems_harmless)
		open_monitor(0);
	memset(memory, 1, 65536); /* else it may refer to what is lost */
	lost = NULL;
	(void)lost;
	range = (struct uffdio_register) {
		.range = { (uintptr_t)memory, 65536 },
		.mode = UFFDIO_REGISTER_MODE_MISSING,
	};
	if (fd < 0 || ioctl(fd, UFFDIO_REGISTER, &range) != 0)
		shared->monitor = -1;
	else
		shared->monitor = fd;
	pthread_create(&thread, NULL, step, NULL);
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
	int steps;

	while (poll(&ready, 1, -1) >= 0) {
		steps = shared->steps;
		nap_ms(delay_ms);
		while (steps_first && shared->steps < steps + 3)
			nap_ms(1);
		if (read(fd, &message, sizeof(message)) != sizeof(message) ||
		    message.event != UFFD_EVENT_FORK)
			continue;
		close((int)message.arg.fork.ufd);
		forks++;
	}
	return NULL;
}

/* Get the process's userfaultfd. -1: this machine does not allow it. */
static int
start(bool seems_harmless)
{
	int pidfd, fd;

	shared = mmap(NULL, sizeof(*shared), PROT_READ | PROT_WRITE,
	    MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	ck_assert_ptr_ne(shared, MAP_FAILED);
	shared->seems_harmless = seems_harmless;
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
		return -1;
	}
	shared->taken = true;
	nap_ms(20);
	return fd;
}

/* Returns false if this machine does not allow it. */
static bool
start_late(void)
{
	static int fd;
	pthread_t thread;

	fd = start(true);
	if (fd >= 0)
		pthread_create(&thread, NULL, let_forks_pass, &fd);
	return fd >= 0;
}

static enum mu_status
look(struct mu_report *answer, enum mu_check_stop stop)
{
	struct mu_check check = {
		.pid = target,
		.stop = stop,
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

/*
 * _i: by a little; until the other thread has run. A second copy is tried, in
 * case that the first was late by chance. Nothing remains in the process.
 */
TEST_LOOP(late, 0, 2)
{
	struct mu_report answer;

	if (start_late()) {
		delay_ms = _i == 0 ? BUDGET_MS + 20 : 0;
		steps_first = _i == 1;
		ck_assert_int_eq(
		    look(&answer, MU_CHECK_STOP_FORK), MU_ERR_TIMEOUT);
		ck_assert_ptr_nonnull(
		    strstr(answer.info.reason, "--max-pause="));
		ck_assert_uint_ge(answer.info.pause_ns, BUDGET_MS * MS * 7 / 8);
		ck_assert_int_eq(forks, 2);
		mu_check_release(&answer);
		ck_assert(!has_children());
	}
	target_end(target);
}

/* What is little is read instead. */
TEST(late_then_read)
{
	struct mu_report answer;

	if (start_late()) {
		delay_ms = BUDGET_MS + 20;
		ck_assert_msg(look(&answer, MU_CHECK_STOP_AUTO) == MU_OK, "%s",
		    answer.info.reason);
		ck_assert_str_eq(answer.stop, "read");
		ck_assert_uint_eq(answer.info.num_leaks, 1);
		ck_assert_int_eq(forks, 1);
		mu_check_release(&answer);
	}
	target_end(target);
}

/*
 * A userfaultfd that another process holds and never reads would block a fork.
 */
TEST(may_wait_for_ever)
{
	struct mu_report answer;
	int fd = start(false);
	struct pollfd ready = { .fd = fd, .events = POLLIN };

	if (fd >= 0) {
		ck_assert_msg(look(&answer, MU_CHECK_STOP_AUTO) == MU_OK, "%s",
		    answer.info.reason);
		ck_assert_str_eq(answer.stop, "read");
		ck_assert_uint_eq(answer.info.num_leaks, 1);
		mu_check_release(&answer);
		ck_assert_int_eq(
		    look(&answer, MU_CHECK_STOP_FORK), MU_ERR_BUSY);
		ck_assert_ptr_nonnull(
		    strstr(answer.info.reason, "userfaultfd"));
		mu_check_release(&answer);
		ck_assert_int_eq(poll(&ready, 1, 0), 0);
	}
	target_end(target);
	close(fd);
}

/* On one CPU with other load a fork takes that many times as long. */
TEST(foreseen_by_load)
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
		ns = mu_copy_pause_of(getpid(), 1, 10, false, &forked);
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
