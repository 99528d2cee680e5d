/*
 * A program of one thread is searched without an image. The answer equals that
 * of an image, the program is unchanged, and where a search in place is not
 * possible an image is taken.
 */
#include <sys/resource.h>
#include <sys/time.h>

#include "lib/state/library.h"
#include "tests/support/live.h"
#include "tests/support/suite.h"

#define PAGE ((size_t)4096)
#define PAGES ((size_t)1000)
#define PASSES 50

static void *global;
static char *area;

/*
 * live.h puts no block where the lower half of an address is small, and skips
 * up to 64 MiB of the heap for that: more than is searched in place. Start
 * again until the kernel puts the heap elsewhere.
 */
static __attribute__((constructor)) void
find_room_for_blocks(void)
{
	char *self[] = { program_invocation_name, NULL };
	uint32_t half = (uint32_t)(uintptr_t)sbrk(0);

	if (half < 64u << 20 || half > UINT32_MAX - (16u << 20))
		execv("/proc/self/exe", self);
}

static void
setup(void)
{
	area = mmap(NULL, PAGES * PAGE, PROT_READ | PROT_WRITE,
	    MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	ck_assert_ptr_ne(area, MAP_FAILED);
	madvise(area, PAGES * PAGE, MADV_NOHUGEPAGE);
	memset(area, 1, PAGES * PAGE);
}

/* Page faults of a write to each page of the area. */
LIVE long
faults_of_writes(void)
{
	struct rusage before, after;
	size_t i;

	getrusage(RUSAGE_SELF, &before);
	for (i = 0; i < PAGES; i++)
		((volatile char *)area)[i * PAGE] = 2;
	getrusage(RUSAGE_SELF, &after);
	return after.ru_minflt - before.ru_minflt;
}

LIVE bool
was_copied(void)
{
	return faults_of_writes() > (long)PAGES / 2;
}

/*
 * Behind a fork the first write to each page faults. After a signal during a
 * search the next passes take an image.
 */
LIVE bool
needs_no_image(size_t leaks)
{
	int i;

	for (i = 0; i < PASSES; i++) {
		EXPECT_LEAKS(leaks);
		if (!was_copied())
			return true;
	}
	return false;
}

TEST(no_image)
{
	ck_assert(needs_no_image(0));
	mu_library.options.stop = MU_STOP_PTRACE;
	EXPECT_LEAKS(0);
	ck_assert(was_copied());
}

TEST(same_answer)
{
	uintptr_t first = block_new(72), second = block_new(5000);
	int method;

	block_link(first, 8, second);
	for (method = 0; method < 2; method++) {
		mu_library.options.stop =
		    method == 0 ? MU_STOP_AUTO : MU_STOP_PTRACE;
		EXPECT_LEAKS(2);
		put(&global, second);
		EXPECT_LOST(first);
		put(area + 3 * PAGE + 8, first);
		drop(&global);
		EXPECT_LEAKS(0);
		drop(area + 3 * PAGE + 8);
		EXPECT_LEAKS(2);
	}
}

/* More entries than a pipe holds. */
TEST(large_answer)
{
	struct UnreachableMemoryInfo info = { 0 };
	size_t i;

	for (i = 0; i < 3000; i++)
		block_new(16 + i % 1000);
	scrub();
	ck_assert(GetUnreachableMemory(&info, 3000));
	ck_assert_uint_eq(info.num_leaks, 3000);
	ck_assert_uint_ge(info.num_reported, 900);
	FreeUnreachableMemoryInfo(&info);
	ck_assert(needs_no_image(3000));
}

static void *
wait_for_end(void *arg)
{
	read(*(int *)arg, &(char) { 0 }, 1);
	return NULL;
}

/* Memory that changes while it is searched. */
TEST(another_thread)
{
	pthread_t thread;
	int ends[2];

	ck_assert_int_eq(pipe(ends), 0);
	pthread_create(&thread, NULL, wait_for_end, &ends[0]);
	EXPECT_LEAKS(0);
	ck_assert(was_copied());
	close(ends[1]);
	pthread_join(thread, NULL);
}

TEST(closed_memory)
{
	uintptr_t block = block_new(72);
	char *closed = mmap(NULL, PAGE, PROT_READ | PROT_WRITE,
	    MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	int nowhere = open("/proc/self/oom_score_adj", O_WRONLY);

	put(closed, block);
	mprotect(closed, PAGE, PROT_NONE);
	EXPECT_LEAKS(0);
	ck_assert(was_copied());
	/* For the program the page is still inaccessible. */
	ck_assert_int_eq(write(nowhere, closed, 1), -1);
	ck_assert_int_eq(errno, EFAULT);
	mprotect(closed, PAGE, PROT_READ | PROT_WRITE);
	drop(closed);
	EXPECT_LOST(block);
}

/* The program's handlers are not for the faults of a search. */
static volatile sig_atomic_t handled;

static void
on_fault(int signo)
{
	(void)signo;
	handled++;
	_exit(7);
}

/* A file that was cut: pages that are mapped and cannot be read. */
TEST(faults)
{
	uintptr_t block = block_new(72);
	int fd = memfd_create("cut", 0);
	char *view;

	signal(SIGBUS, on_fault);
	signal(SIGSEGV, on_fault);
	ck_assert_int_eq(ftruncate(fd, (off_t)(4 * PAGE)), 0);
	view = mmap(NULL, 4 * PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE, fd, 0);
	ck_assert_ptr_ne(view, MAP_FAILED);
	memset(view, 3, 4 * PAGE);
	ck_assert_int_eq(ftruncate(fd, (off_t)PAGE), 0);
	put(view + 64, block);
	expect_doubt_of_files();
	EXPECT_LEAKS(0);
	drop(view + 64);
	EXPECT_LOST(block);
	ck_assert_int_eq(handled, 0);
}

/* A page that this thread's protection keys close. */
TEST(fault_of_the_search)
{
	int key = pkey_alloc(0, PKEY_DISABLE_ACCESS);
	uintptr_t block = block_new(72);
	char *page;

	if (key < 0) {
		fprintf(stderr, "SKIPPED: no protection keys here\n");
		return;
	}
	page = mmap(NULL, PAGE, PROT_READ | PROT_WRITE,
	    MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	put(page, block);
	signal(SIGSEGV, on_fault);
	ck_assert_int_eq(
	    pkey_mprotect(page, PAGE, PROT_READ | PROT_WRITE, key), 0);
	EXPECT_LEAKS(0);
	ck_assert(was_copied());
	pkey_mprotect(page, PAGE, PROT_READ | PROT_WRITE, 0);
	drop(page);
	EXPECT_LOST(block);
}

static volatile sig_atomic_t alarms;

static void
on_alarm(int signo)
{
	void *block = malloc(100);

	(void)signo;
	alarms++;
	free(block);
}

/* Handlers that use malloc run before and after, not in between. */
TEST(signals)
{
	struct itimerval often = { { 0, 300 }, { 0, 300 } }, never = { 0 };
	uintptr_t block = block_new(72);
	int i;

	signal(SIGALRM, on_alarm);
	setitimer(ITIMER_REAL, &often, NULL);
	for (i = 0; i < 4 * PASSES; i++)
		EXPECT_LOST(block);
	setitimer(ITIMER_REAL, &never, NULL);
	ck_assert_int_gt(alarms, PASSES);
}

/* The first child of PARENT's but for EXCEPT, or 0. */
static pid_t
child_of(pid_t parent, pid_t except)
{
	char path[64], text[256] = "";
	char *at = text, *end;
	ssize_t n;
	int fd;
	long pid;

	snprintf(
	    path, sizeof(path), "/proc/%d/task/%d/children", parent, parent);
	fd = open(path, O_RDONLY);
	n = read(fd, text, sizeof(text) - 1);
	close(fd);
	for (; n > 0; at = end) {
		pid = strtol(at, &end, 10);
		if (end == at)
			break;
		if (pid != except)
			return (pid_t)pid;
	}
	return 0;
}

/*
 * Kill whatever our parent starts, at all moments, for ever. SIGSEGV is what a
 * fault sends.
 */
static void
kill_children(pid_t parent)
{
	unsigned spin = 0, i;
	pid_t child;

	for (;;) {
		child = child_of(parent, getpid());
		if (child == 0)
			continue;
		for (i = 0; i < spin % 20000; i++)
			__asm__ volatile("" : : "r"(i));
		spin += 977;
		kill(child, spin % 2 == 0 ? SIGKILL : SIGSEGV);
		usleep(20000);
	}
}

/*
 * A search that is killed leaves no mapping and no lock, and the next answer
 * is right. Of a pass whose image was killed there is none.
 */
TEST(killed)
{
	struct UnreachableMemoryInfo info = { 0 };
	uintptr_t block = block_new(72);
	size_t mappings, checked = 0;
	pid_t killer;
	int i;

	EXPECT_LOST(block);
	signal(SIGSEGV, on_fault);
	mappings = count_mappings();
	killer = fork();
	if (killer == 0)
		kill_children(getppid());
	/* On a busy machine more of them are killed. */
	for (i = 0; i < 4 * PASSES || (checked <= PASSES && i < 40 * PASSES);
	     i++) {
		scrub();
		info = (struct UnreachableMemoryInfo) { 0 };
		if (GetUnreachableMemory(&info, 10)) {
			ck_assert_uint_eq(info.num_leaks, 1);
			checked++;
		}
		FreeUnreachableMemoryInfo(&info);
		usleep(3000);
	}
	kill(killer, SIGKILL);
	waitpid(killer, NULL, 0);
	ck_assert_uint_gt(checked, PASSES);
	ck_assert_int_eq(handled, 0);
	ck_assert_uint_eq(count_mappings(), mappings);
	EXPECT_LOST(block);
	free(malloc(100));
}

/* The search of a larger heap also has threads and their stacks. */
TEST(workers)
{
	uintptr_t block, chain = block_new(100);
	size_t i, mappings;

	put(&global, chain);
	for (i = 0; i < 50000; i++) {
		block = block_new(100);
		block_link(chain, 0, block);
		chain = block;
	}
	mu_library.options.workers = 3;
	EXPECT_LEAKS(0);
	mappings = count_mappings();
	for (i = 0; i < PASSES; i++)
		EXPECT_LEAKS(0);
	block = block_new(72);
	for (i = 0; i < PASSES; i++)
		EXPECT_LOST(block);
	ck_assert_uint_eq(count_mappings(), mappings);
	ck_assert(needs_no_image(1));
}

/* 40 MiB of live blocks. */
LIVE void
build_large(void)
{
	uintptr_t block, chain = block_new(100);
	size_t i;

	put(&global, chain);
	for (i = 0; i < 400000; i++) {
		block = block_new(88);
		block_link(chain, 0, block);
		chain = block;
	}
}

/* A heap whose search takes long, during which the program is not stopped. */
TEST(large_heap)
{
	struct UnreachableMemoryInfo info = { 0 };
	bool waited = false;
	int i;

	build_large();
	mu_library.options.max_pause = 1;
	ck_assert(needs_no_image(0));
	for (i = 0; i < PASSES && !waited; i++) {
		info = (struct UnreachableMemoryInfo) { 0 };
		ck_assert(GetUnreachableMemory(&info, 10));
		waited = !was_copied() && info.pause_ns < info.total_ns / 4;
		FreeUnreachableMemoryInfo(&info);
	}
	ck_assert(waited);
}

static volatile sig_atomic_t under_way;

static void
on_alarm_during(int signo)
{
	(void)signo;
	alarms += under_way;
}

/* The search ends for a signal, and the next ones are not begun in place. */
TEST(signal_during_search)
{
	const struct itimerval soon = { .it_value = { 0, 2000 } };
	bool copied = false;
	int i;

	build_large();
	signal(SIGALRM, on_alarm_during);
	for (i = 0; i < PASSES && !copied; i++) {
		setitimer(ITIMER_REAL, &soon, NULL);
		under_way = 1;
		EXPECT_LEAKS(0);
		under_way = 0;
		copied = was_copied();
	}
	ck_assert(copied);
	ck_assert_int_ge(alarms, 1);
	EXPECT_LEAKS(0);
	ck_assert(was_copied());
	ck_assert(needs_no_image(0));
}

/* Room for tables would be memory as soon as it is mapped. */
TEST(locked_memory)
{
	build_large();
	if (mlockall(MCL_FUTURE) != 0) {
		fprintf(stderr, "SKIPPED: mlockall() is refused here\n");
		return;
	}
	EXPECT_LEAKS(0);
	ck_assert(was_copied());
	munlockall();
	ck_assert(needs_no_image(0));
}

/* A program that blocks a signal itself does not wait for it. */
TEST(blocked_signal)
{
	const struct itimerval often = { { 0, 1000 }, { 0, 1000 } };
	sigset_t alarm;

	build_large();
	sigemptyset(&alarm);
	sigaddset(&alarm, SIGALRM);
	sigprocmask(SIG_BLOCK, &alarm, NULL);
	signal(SIGALRM, on_alarm);
	setitimer(ITIMER_REAL, &often, NULL);
	ck_assert(needs_no_image(0));
	ck_assert_int_eq(alarms, 0);
}

SUITE(.setup = setup, .unfiltered = "a search without an image");
