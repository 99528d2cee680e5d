/*
 * A pass of a program by itself: a thread in uninterruptible sleep is noticed
 * before the stop, and no other thread is stopped for it.
 */
#include <linux/userfaultfd.h>
#include <sched.h>
#include <stdatomic.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>

#include "lib/helpers/priority.h"
#include "lib/state/library.h"
#include "memunreachable/memunreachable.h"
#include "ptrace/live/pause.h"
#include "tests/support/clock.h"
#include "tests/support/hide.h"
#include "tests/support/stop/long_call.h"
#include "tests/support/suite.h"

#define MS (1000 * 1000ull)

static _Atomic bool in_vfork;
static _Atomic uint64_t longest_ns;
static _Atomic pid_t child;

static void *
tick(void *arg)
{
	uint64_t last = now_ns(), now;

	(void)arg;
	for (;;) {
		nap_ms(1);
		now = now_ns();
		if (now - last > longest_ns)
			longest_ns = now - last;
		last = now;
	}
	return NULL;
}

/* Until the child executes a program, or ends. */
static void *
be_in_vfork(void *arg)
{
	struct timespec nap = { 60, 0 };

	(void)arg;
	in_vfork = true;
	if (vfork() == 0) {
		child = (pid_t)syscall(SYS_getpid);
		syscall(SYS_prctl, PR_SET_PDEATHSIG, SIGKILL);
		syscall(SYS_nanosleep, &nap, NULL);
		_exit(0);
	}
	in_vfork = false;
	return NULL;
}

/* _i: auto, by ptrace, by signal. */
TEST_LOOP(thread_in_vfork, 0, 3)
{
	struct UnreachableMemoryInfo info = { 0 };
	pthread_t ticking, waiting;

	pthread_create(&ticking, NULL, tick, NULL);
	pthread_create(&waiting, NULL, be_in_vfork, NULL);
	while (!in_vfork || child == 0)
		nap_ms(1);
	nap_ms(20);
	mu_library.options.stop = (enum mu_stop_option)_i;
	longest_ns = 0;
	ck_assert(!GetUnreachableMemory(&info, 10));
	ck_assert_uint_lt(longest_ns, 2000 * MS);
	ck_assert_int_eq(info.status, MEMUNREACHABLE_TIMEOUT);
	ck_assert_msg(strstr(info.reason, "uninterruptible sleep") != NULL,
	    "%s", info.reason);
	kill(child, SIGKILL);
	pthread_join(waiting, NULL);
	ck_assert(GetUnreachableMemory(&info, 10));
	FreeUnreachableMemoryInfo(&info);
}

static bool
is_refused(const struct UnreachableMemoryInfo *info)
{
	switch (info->status) {
	case MEMUNREACHABLE_PTRACE_SECCOMP:
	case MEMUNREACHABLE_PTRACE_YAMA:
	case MEMUNREACHABLE_ALREADY_TRACED:
	case MEMUNREACHABLE_NO_PERMISSION:
		printf("SKIPPED: ptrace is refused here\n");
		return true;
	default:
		return false;
	}
}

static _Atomic bool in_calls, end_calls;

static void *
be_in_long_calls(void *arg)
{
	in_calls = true;
	while (!end_calls)
		ck_assert(long_call());
	return arg;
}

/* The stop has no time for it, so the next one begins when a call has ended. */
TEST(thread_in_long_calls)
{
	struct UnreachableMemoryInfo info = { 0 };
	pthread_t calling;

	mu_library.options.stop = MU_STOP_PTRACE;
	mu_library.options.max_pause = 100;
	mu_library.options.timeout = 200000;
	pthread_create(&calling, NULL, be_in_long_calls, NULL);
	while (!in_calls)
		nap_ms(1);
	ck_assert_msg(GetUnreachableMemory(&info, 10) || is_refused(&info),
	    "%s", info.reason);
	FreeUnreachableMemoryInfo(&info);
	end_calls = true;
	pthread_join(calling, NULL);
}

#define BIG ((size_t)512 << 20)

/* _i: auto, by ptrace, by signal. */
TEST_LOOP(fork_would_take_too_long, 0, 3)
{
	struct UnreachableMemoryInfo info = { 0 };
	char *memory = mmap(NULL, BIG, PROT_READ | PROT_WRITE,
	    MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	pthread_t ticking;

	ck_assert_ptr_ne(memory, MAP_FAILED);
	madvise(memory, BIG, MADV_NOHUGEPAGE);
	memset(memory, 1, BIG);
	pthread_create(&ticking, NULL, tick, NULL);
	mu_library.options.stop = (enum mu_stop_option)_i;
	mu_library.options.max_pause = 10;
	ck_assert(!GetUnreachableMemory(&info, 10));
	ck_assert_int_eq(info.status, MEMUNREACHABLE_TIMEOUT);
	ck_assert_msg(strstr(info.reason, "max_pause=1s allows it") != NULL,
	    "%s", info.reason);
	ck_assert_uint_eq(info.pause_ns, 0);
	mu_library.options.max_pause = 20000;
	ck_assert_msg(GetUnreachableMemory(&info, 10) || is_refused(&info),
	    "%s", info.reason);
	FreeUnreachableMemoryInfo(&info);
	munmap(memory, BIG);
}

static char *
map_file_pages(void)
{
	int file = memfd_create("pages", MFD_CLOEXEC);
	char *memory;
	size_t i;

	ck_assert_int_eq(ftruncate(file, (off_t)BIG), 0);
	memory = mmap(NULL, BIG, PROT_READ | PROT_WRITE, MAP_PRIVATE, file, 0);
	ck_assert_ptr_ne(memory, MAP_FAILED);
	close(file);
	memory[0] = 1;
	for (i = 0; i < BIG; i += 4096)
		(void)*(volatile char *)&memory[i];
	return memory;
}

/*
 * By signal: a fork that takes longer than the stop may last, and than is
 * foreseen: it copies the page tables of private pages of a file, too, once one
 * of them was written. The threads do not wait for its end, so the image is not
 * used; unless a thread gets no CPU until then, on a busy machine.
 */
TEST(threads_do_not_wait_for_a_fork)
{
	struct UnreachableMemoryInfo info = { 0 };
	char *memory = map_file_pages();
	pthread_t ticking;
	bool unused = false;
	int i;

	pthread_create(&ticking, NULL, tick, NULL);
	mu_library.options.stop = MU_STOP_SIGNAL;
	mu_library.options.max_pause = 5;
	for (i = 0; i < 200 && !unused; i++) {
		if (GetUnreachableMemory(&info, 10))
			FreeUnreachableMemoryInfo(&info);
		else
			unused = strstr(info.reason, "threads continued");
	}
	ck_assert(unused);
	mu_library.options.max_pause = 20000;
	ck_assert_msg(GetUnreachableMemory(&info, 10), "%s", info.reason);
	FreeUnreachableMemoryInfo(&info);
	munmap(memory, BIG);
}

/* A fork waits until this thread has read of it. */
static void *
read_events(void *arg)
{
	struct uffd_msg message;

	while (read(*(int *)arg, &message, sizeof(message)) > 0)
		if (message.event == UFFD_EVENT_FORK)
			close((int)message.arg.fork.ufd);
	return NULL;
}

/*
 * Register the SIZE bytes at MEMORY with a userfaultfd that only another
 * process has, and does not read. False: there is no userfaultfd.
 */
static bool
watch_from_outside(void *memory, size_t size, uint64_t features)
{
	struct uffdio_api api = { .api = UFFD_API, .features = features };
	struct uffdio_register range = {
		.range = { (uintptr_t)memory, size },
		.mode = UFFDIO_REGISTER_MODE_MISSING,
	};
	int fd = (int)syscall(SYS_userfaultfd, O_CLOEXEC);

	child = fd < 0 ? 0 : fork();
	if (fd >= 0 && child == 0) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		for (;;)
			pause();
	}
	if (fd < 0 || child < 0 || ioctl(fd, UFFDIO_API, &api) != 0 ||
	    ioctl(fd, UFFDIO_REGISTER, &range) != 0) {
		printf("SKIPPED: no userfaultfd (errno %d)\n", errno);
		return false;
	}
	close(fd);
	return true;
}

static void
end_watch(void)
{
	kill(child, SIGKILL);
	waitpid(child, NULL, 0);
}

/* A fork in the asking thread would never return. That of a helper is ended. */
TEST_LOOP(fork_waits_for_a_process, 0, 2)
{
	struct UnreachableMemoryInfo info = { 0 };
	pthread_t thread;
	char *memory = mmap(NULL, 65536, PROT_READ | PROT_WRITE,
	    MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	pthread_create(&thread, NULL, tick, NULL);
	if (!watch_from_outside(memory, 65536, UFFD_FEATURE_EVENT_FORK))
		return;
	mu_library.options.stop = _i == 0 ? MU_STOP_SIGNAL : MU_STOP_PTRACE;
	ck_assert(!GetUnreachableMemory(&info, 10));
	if (_i == 1 && is_refused(&info))
		return;
	ck_assert_msg(
	    strstr(info.reason, _i == 0 ? "would wait" : "waits") != NULL &&
		strstr(info.reason, "userfaultfd") != NULL,
	    "%s", info.reason);
	ck_assert_int_eq(info.pause_ns > 0, _i);
	FreeUnreachableMemoryInfo(&info);
	end_watch();
}

static __attribute__((noinline)) uintptr_t
hide_block(void)
{
	return mu_hide(memset(malloc(1000), 'b', 1000));
}

/* The only pointer to a block is in a page that another process has taken. */
TEST_LOOP(memory_is_elsewhere, 0, 2)
{
	size_t page = (size_t)sysconf(_SC_PAGESIZE);
	struct UnreachableMemoryInfo info = { 0 };
	uintptr_t hidden = hide_block();
	pthread_t thread;
	void **memory = mmap(NULL, page, PROT_READ | PROT_WRITE,
	    MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (mu_library.options.stop == MU_STOP_SIGNAL) {
		printf("SKIPPED: by signal a fork waits for a userfaultfd\n");
		return;
	}
	if (_i == 1)
		pthread_create(&thread, NULL, tick, NULL);
	*memory = mu_reveal(hidden);
	scrub_stack();
	if (!watch_from_outside(memory, page, 0))
		return;
	ck_assert(GetUnreachableMemory(&info, 10));
	ck_assert_uint_eq(info.num_leaks, 0);
	ck_assert_int_eq(info.status, MEMUNREACHABLE_COMPLETE);
	FreeUnreachableMemoryInfo(&info);
	madvise(memory, page, MADV_DONTNEED);
	ck_assert(GetUnreachableMemory(&info, 10));
	ck_assert_uint_eq(info.num_leaks, 1);
	ck_assert_int_eq(info.status, MEMUNREACHABLE_PARTIAL);
	ck_assert_ptr_nonnull(strstr(info.reason, "userfaultfd"));
	FreeUnreachableMemoryInfo(&info);
	end_watch();
}

/* The state is known before the stop. _i: auto, by ptrace, by signal. */
TEST_LOOP(fork_waits_for_a_thread, 0, 3)
{
	struct uffdio_api api = {
		.api = UFFD_API,
		.features = UFFD_FEATURE_EVENT_FORK,
	};
	struct uffdio_register range = { .mode = UFFDIO_REGISTER_MODE_MISSING };
	struct UnreachableMemoryInfo info = { 0 };
	int fd = (int)syscall(SYS_userfaultfd, O_CLOEXEC);
	pthread_t thread;
	char *memory = mmap(NULL, 65536, PROT_READ | PROT_WRITE,
	    MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	range.range = (struct uffdio_range) { (uintptr_t)memory, 65536 };
	if (fd < 0 || ioctl(fd, UFFDIO_API, &api) != 0 ||
	    ioctl(fd, UFFDIO_REGISTER, &range) != 0) {
		printf("SKIPPED: no userfaultfd (errno %d)\n", errno);
		return;
	}
	pthread_create(&thread, NULL, read_events, &fd);
	pthread_create(&thread, NULL, tick, NULL);
	mu_library.options.stop = (enum mu_stop_option)_i;
	ck_assert(!GetUnreachableMemory(&info, 10));
	ck_assert_msg(strstr(info.reason, "would wait") != NULL &&
		strstr(info.reason, "userfaultfd") != NULL,
	    "%s", info.reason);
	ck_assert_uint_eq(info.pause_ns, 0);
	FreeUnreachableMemoryInfo(&info);
}

#define RIVALS 20
#define MAPPERS 8
#define MAPPED ((size_t)2 << 20)

/* In turns they hold the lock of the address space; the others wait. */
static void *
map_and_unmap(void *arg)
{
	void *memory;

	for (;;) {
		memory = mmap(NULL, MAPPED, PROT_READ | PROT_WRITE,
		    MAP_PRIVATE | MAP_ANONYMOUS | MAP_POPULATE, -1, 0);
		if (memory != MAP_FAILED)
			munmap(memory, MAPPED);
	}
	return arg;
}

static void
be_rivals_on_one_cpu(void)
{
	cpu_set_t one;
	int i;

	CPU_ZERO(&one);
	CPU_SET(sched_getcpu(), &one);
	ck_assert_int_eq(sched_setaffinity(0, sizeof(one), &one), 0);
	for (i = 0; i < RIVALS; i++) {
		if (fork() != 0)
			continue;
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		for (;;)
			__asm__ volatile("");
	}
}

/*
 * On a busy CPU each thread may be in uninterruptible sleep for up to a second;
 * that is no reason to refuse, even if many threads do so in turns.
 */
TEST(threads_wait_in_turns)
{
	pthread_t thread;
	struct mu_priority priority;
	struct mu_why why;
	int i, refused = 0;

	be_rivals_on_one_cpu();
	for (i = 0; i < MAPPERS; i++)
		pthread_create(&thread, NULL, map_and_unmap, NULL);
	nap_ms(500);
	/* As in a pass, whose own naps are not longer then. */
	mu_priority_raise(&priority);
	for (i = 0; i < 6; i++)
		refused += mu_pause_await_interruptible(
			       getpid(), NULL, NULL, &why) != MU_OK;
	ck_assert_int_le(refused, 2);
}
