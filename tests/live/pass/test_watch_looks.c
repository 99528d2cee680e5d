/*
 * memunreachable_watch_start(): a helper thread looks again and again, tells
 * each look, and judges what grows; also in a child of fork(), and by the
 * option "every".
 */
#include <limits.h>
#include <sys/stat.h>

#include "memunreachable/memunreachable.h"
#include "mu/sys.h"
#include "tests/support/hide.h"
#include "tests/support/suite.h"

#define EVERY_MS 40
#define SIZE 1000
#define STEP_NS (4 * 1000000ull)

enum growing { NOTHING, LOSE, KEEP };

static struct told {
	enum growing growing;
	size_t looks, most; /* after MOST of them it stops itself; 0: never */
	size_t lost_bytes, live_bytes;
	int verdict, status;
	int fd;       /* to which each look is written; -1: none */
	int child_fd; /* the same in a child */
	pid_t owner;
	bool stopped;
} told;

#define KEPT 16384 /* more than are made */

static void *volatile kept[KEPT];
static volatile size_t num_kept;

/* Each lies between blocks that are kept. */
static __attribute__((noinline)) void
lose_one(void)
{
	void *block = memset(malloc(SIZE), 'x', SIZE);

	kept[num_kept++ % KEPT] = malloc(SIZE);
	__asm__ volatile("" : : "r"(block) : "memory");
}

/*
 * As much in each time, in small steps: a look may be late, and the next one
 * follows soon.
 */
static void
keep_some(void)
{
	static uint64_t begin_ns, made;
	uint64_t now_ns = mu_sys_now_ns();

	if (begin_ns == 0)
		begin_ns = now_ns - EVERY_MS * 1000000;
	for (; made * STEP_NS < now_ns - begin_ns; made++)
		kept[num_kept++ % KEPT] = calloc(1, 2000);
}

static __attribute__((noinline)) void
grow(enum growing growing)
{
	if (growing == LOSE)
		lose_one();
	else if (growing == KEEP)
		keep_some();
	scrub_stack();
}

static void
tell(void *ctx, const struct MemunreachableLook *look)
{
	struct told *to = ctx;
	int fd = to->owner == getpid() ? to->fd : to->child_fd;

	to->looks = look->number;
	to->status = look->status;
	to->lost_bytes = look->lost_bytes;
	to->live_bytes = look->live_bytes;
	to->verdict = look->verdict;
	if (fd >= 0)
		ck_assert_int_eq(write(fd, "", 1), 1);
	if (to->most > 0 && to->looks == to->most)
		to->stopped = memunreachable_watch_stop();
	else
		grow(to->growing);
}

/* Looks of it, told through a pipe. */
static void
watch(enum growing growing, size_t looks)
{
	int fds[2];
	char byte;
	size_t i;

	ck_assert_int_eq(pipe(fds), 0);
	told = (struct told) {
		.growing = growing, .fd = fds[1], .owner = getpid()
	};
	ck_assert_msg(memunreachable_watch_start(EVERY_MS, tell, &told), "%s",
	    strerror(errno));
	for (i = 0; i < looks; i++)
		ck_assert_int_eq(read(fds[0], &byte, 1), 1);
	ck_assert(memunreachable_watch_stop());
	close(fds[0]);
	close(fds[1]);
	ck_assert_uint_ge(told.looks, looks);
	ck_assert_int_eq(told.verdict, memunreachable_watch_verdict());
	ck_assert_int_eq(told.status, MEMUNREACHABLE_COMPLETE);
}

TEST(a_leak)
{
	watch(LOSE, 6);
	ck_assert_int_eq(
	    memunreachable_watch_verdict(), MEMUNREACHABLE_VERDICT_LEAK);
	ck_assert_uint_ge(told.lost_bytes, 3 * SIZE);
	ck_assert_str_eq(
	    memunreachable_verdict_name(memunreachable_watch_verdict()),
	    "leak");
}

TEST(growth)
{
	watch(KEEP, 10);
	ck_assert_int_eq(
	    memunreachable_watch_verdict(), MEMUNREACHABLE_VERDICT_GROWTH);
	ck_assert_uint_ge(told.live_bytes, 9 * 20000);
}

TEST(steady)
{
	watch(NOTHING, 6);
	ck_assert_int_eq(
	    memunreachable_watch_verdict(), MEMUNREACHABLE_VERDICT_STEADY);
}

TEST(too_few)
{
	watch(LOSE, 1);
	ck_assert(told.looks > 3 ||
	    memunreachable_watch_verdict() == MEMUNREACHABLE_VERDICT_TOO_FEW);
}

TEST(stopped_by_its_callback)
{
	int fds[2];
	char byte;
	size_t i;

	ck_assert_int_eq(pipe(fds), 0);
	told = (struct told) { .most = 2, .fd = fds[1], .owner = getpid() };
	ck_assert(memunreachable_watch_start(EVERY_MS, tell, &told));
	for (i = 0; i < 2; i++)
		ck_assert_int_eq(read(fds[0], &byte, 1), 1);
	while (memunreachable_watch_stop())
		sched_yield();
	ck_assert(told.stopped);
	ck_assert_uint_eq(told.looks, 2);
	/* and begun again */
	watch(NOTHING, 1);
}

/* The watch of a child has its looks only. */
TEST(in_a_child)
{
	int fds[2], child[2], status;
	char byte;
	pid_t pid;

	ck_assert_int_eq(pipe(fds), 0);
	ck_assert_int_eq(pipe(child), 0);
	told = (struct told) {
		.fd = fds[1], .child_fd = child[1], .owner = getpid()
	};
	ck_assert(memunreachable_watch_start(EVERY_MS, tell, &told));
	ck_assert_int_eq(read(fds[0], &byte, 1), 1);
	ck_assert_int_eq(read(fds[0], &byte, 1), 1);
	pid = fork();
	ck_assert_int_ge(pid, 0);
	if (pid == 0) {
		if (read(child[0], &byte, 1) != 1 ||
		    !memunreachable_watch_stop() || told.looks == 0)
			_exit(1);
		_exit(told.status == MEMUNREACHABLE_COMPLETE ? 0 : 2);
	}
	ck_assert_int_eq(waitpid(pid, &status, 0), pid);
	ck_assert_int_eq(status, 0);
	ck_assert(memunreachable_watch_stop());
	/* Nor has it one after the end of its parent's. */
	pid = fork();
	if (pid == 0)
		_exit(memunreachable_watch_stop() ? 1 : 0);
	ck_assert_int_eq(waitpid(pid, &status, 0), pid);
	ck_assert_int_eq(status, 0);
}

/* The thread of the looks has ended. */
static bool
is_alone(void)
{
	struct stat task;

	return stat("/proc/self/task", &task) == 0 && task.st_nlink == 3;
}

/* With the option: a look is a report in the log. */
static int
play(int argc, char **argv)
{
	bool counted = argc >= 2 && strcmp(argv[1], "counted") == 0;

	if (argc < 2)
		return -1;
	while (memunreachable_watch_verdict() != MEMUNREACHABLE_VERDICT_LEAK &&
	    !(counted && is_alone())) {
		lose_one();
		scrub_stack();
		usleep(2000);
	}
	return memunreachable_watch_stop() == counted;
}

static char text[1 << 20];

/* What PLAY says with OPTIONS. */
static void
run(const char *play_name, const char *options)
{
	char self[PATH_MAX] = "";
	size_t length = 0;
	int fds[2], status;
	ssize_t n;
	pid_t pid;

	ck_assert_int_gt(readlink("/proc/self/exe", self, sizeof(self) - 1), 0);
	ck_assert_int_eq(pipe(fds), 0);
	pid = fork();
	if (pid == 0) {
		dup2(fds[1], STDERR_FILENO);
		close(fds[0]);
		close(fds[1]);
		setenv("MEMUNREACHABLE_OPTIONS", options, 1);
		execl(self, self, play_name, NULL);
		_exit(127);
	}
	close(fds[1]);
	while (length < sizeof(text) - 1 &&
	    (n = read(fds[0], text + length, sizeof(text) - 1 - length)) > 0)
		length += (size_t)n;
	text[length] = '\0';
	close(fds[0]);
	ck_assert_int_eq(waitpid(pid, &status, 0), pid);
	ck_assert_msg(status == 0, "status %#x: %s", status, text);
}

TEST(by_option)
{
	run("leak", "every=10ms");
	ck_assert_msg(strstr(text, "look 1: ") != NULL, "%s", text);
	ck_assert_msg(
	    strstr(text, " lost; so far: leak, ") != NULL, "%s", text);
	ck_assert_msg(
	    strstr(text, " bytes unreachable at ") != NULL, "%s", text);
}

TEST(so_many_by_option)
{
	run("counted", "every=10ms:count=2");
	ck_assert_msg(strstr(text, "look 2: ") != NULL, "%s", text);
	ck_assert_ptr_null(strstr(text, "look 3: "));
}

SUITE(.timeout = 240, .play = play);
