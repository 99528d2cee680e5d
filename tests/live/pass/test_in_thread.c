/*
 * A small heap is searched by the asking thread: no process is started, the
 * answer is that of an image, and faults and signals in between harm neither
 * the answer nor the program.
 */
#include <linux/userfaultfd.h>
#include <sys/epoll.h>
#include <sys/ioctl.h>
#include <sys/resource.h>

#include "lib/state/library.h"
#include "tests/support/live.h"
#include "tests/support/suite.h"

#define PAGE ((size_t)4096)
#define PASSES 50

#ifndef UFFDIO_POISON /* Linux 6.6 */
struct uffdio_poison {
	struct uffdio_range range;
	uint64_t mode;
	int64_t updated;
};
#define UFFDIO_POISON _IOWR(UFFDIO, 0x08, struct uffdio_poison)
#endif

static void *global;

/* See test_in_place.c: of 1 MiB and more, a process is started. */
static __attribute__((constructor)) void
find_room_for_blocks(void)
{
	char *self[] = { program_invocation_name, NULL };
	uint32_t half = (uint32_t)(uintptr_t)sbrk(0);

	if (half < 64u << 20 || half > UINT32_MAX - (16u << 20))
		execv("/proc/self/exe", self);
}

/* Page faults of the processes that were waited for. */
static long
faults_of_children(void)
{
	struct rusage usage;

	getrusage(RUSAGE_CHILDREN, &usage);
	return usage.ru_minflt;
}

LIVE bool
starts_process(size_t leaks)
{
	long before = faults_of_children();

	EXPECT_LEAKS(leaks);
	return faults_of_children() != before;
}

/* Under a filter an image is searched, by a process. */
static bool
always_starts_one(void)
{
	if (!suite_is_filtered())
		return false;
	printf("SKIPPED: in_thread: not under a seccomp filter\n");
	return true;
}

TEST(no_process)
{
	uintptr_t block;

	if (always_starts_one())
		return;
	ck_assert(!starts_process(0));
	block = block_new(72);
	ck_assert(!starts_process(1));
	put(&global, block);
	ck_assert(!starts_process(0));
	global = malloc(4u << 20);
	memset(global, 1, 4u << 20);
	ck_assert(starts_process(1));
	free(global);
	put(&global, block);
	ck_assert(!starts_process(0));
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
		drop(&global);
		EXPECT_LEAKS(2);
	}
}

/* More entries than are sent in one piece, and more than a pipe holds. */
TEST(large_answer)
{
	struct UnreachableMemoryInfo info;
	size_t i, limit;

	for (i = 0; i < 2000; i++)
		block_new(16 + i % 300);
	for (limit = 50; limit <= 3200; limit *= 8) {
		scrub();
		info = (struct UnreachableMemoryInfo) { 0 };
		ck_assert(GetUnreachableMemory(&info, limit));
		ck_assert_uint_eq(info.num_leaks, 2000);
		ck_assert_uint_ge(info.num_reported, limit < 250 ? limit : 250);
		FreeUnreachableMemoryInfo(&info);
	}
}

LIVE void
hold_in_kernel(int set, int fd, uintptr_t hidden, int operation)
{
	struct epoll_event event = {
		.events = EPOLLIN,
		.data.u64 = ~hidden,
	};

	ck_assert_int_eq(epoll_ctl(set, operation, fd, &event), 0);
	event.data.u64 = 0;
	__asm__ volatile("" : : "r"(&event) : "memory");
}

TEST(epoll)
{
	uintptr_t block = block_new(72);
	int ends[2], set = epoll_create1(0), other = epoll_create1(0);

	if (always_starts_one())
		return;
	ck_assert_int_eq(pipe(ends), 0);
	EXPECT_LOST(block);
	hold_in_kernel(set, ends[0], block, EPOLL_CTL_ADD);
	ck_assert(!starts_process(0));
	hold_in_kernel(set, ends[0], 0, EPOLL_CTL_DEL);
	EXPECT_LOST(block);
	hold_in_kernel(other, set, block, EPOLL_CTL_ADD);
	ck_assert(!starts_process(0));
}

static volatile sig_atomic_t handled, strange;
static char other_stack[1 << 16];

static void
on_fault(int signo, siginfo_t *info, void *context)
{
	(void)context;
	(void)signo;
	handled++;
	strange += info->si_code != SI_USER || info->si_pid <= getpid();
}

static void
handle_faults(void)
{
	const stack_t stack = {
		.ss_sp = other_stack,
		.ss_size = sizeof(other_stack),
	};
	const struct sigaction action = {
		.sa_sigaction = on_fault,
		.sa_flags = SA_SIGINFO,
	};

	sigaltstack(&stack, NULL);
	sigaction(SIGSEGV, &action, NULL);
	sigaction(SIGBUS, &action, NULL);
}

/*
 * A page that may be read by what the kernel says, and cannot; no process has
 * its contents.
 */
static bool
poison(char *page)
{
	struct uffdio_api api = { .api = UFFD_API };
	struct uffdio_register range = {
		.range = { (uintptr_t)page, PAGE },
		.mode = UFFDIO_REGISTER_MODE_MISSING,
	};
	struct uffdio_poison poison = { .range = range.range };
	int fd = (int)syscall(SYS_userfaultfd, O_CLOEXEC);

	return fd >= 0 && ioctl(fd, UFFDIO_API, &api) == 0 &&
	    ioctl(fd, UFFDIO_REGISTER, &range) == 0 &&
	    ioctl(fd, UFFDIO_POISON, &poison) == 0 &&
	    ioctl(fd, UFFDIO_UNREGISTER, &range.range) == 0;
}

static int
num_descriptors(void)
{
	int fd, count = 0;

	for (fd = 0; fd < 64; fd++)
		count += fcntl(fd, F_GETFD) >= 0;
	return count;
}

TEST(fault_of_the_search)
{
	char *page = mmap(NULL, PAGE, PROT_READ | PROT_WRITE,
	    MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	uintptr_t block = block_new(72);
	size_t mappings;
	int descriptors;

	EXPECT_LOST(block);
	handle_faults();
	if (!poison(page)) {
		fprintf(stderr, "SKIPPED: no UFFDIO_POISON here\n");
		return;
	}
	mappings = count_mappings();
	descriptors = num_descriptors();
	ck_assert(starts_process(1));
	ck_assert_int_eq(handled, 0);
	ck_assert_uint_eq(count_mappings(), mappings);
	ck_assert_int_eq(num_descriptors(), descriptors);
	munmap(page, PAGE);
	ck_assert(!starts_process(1));
}

/* Faults that another process sends are for the program's handler. */
TEST(sent_faults)
{
	uintptr_t block = block_new(72);
	pid_t parent = getpid(), sender;
	size_t mappings;
	unsigned spin;
	stack_t stack;
	int i, descriptors;

	handle_faults();
	mappings = count_mappings();
	descriptors = num_descriptors();
	sender = fork();
	for (spin = 0; sender == 0 && kill(parent, SIGSEGV) == 0; spin++)
		usleep(300 + spin % 7 * 133);
	for (i = 0; i < 20 * PASSES; i++)
		EXPECT_LOST(block);
	kill(sender, SIGKILL);
	waitpid(sender, NULL, 0);
	ck_assert_int_gt(handled, PASSES);
	ck_assert_int_eq(strange, 0);
	EXPECT_LOST(block);
	ck_assert_uint_eq(count_mappings(), mappings);
	ck_assert_int_eq(num_descriptors(), descriptors);
	sigaltstack(NULL, &stack);
	ck_assert_ptr_eq(stack.ss_sp, other_stack);
}

SUITE();
