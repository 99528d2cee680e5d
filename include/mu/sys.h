/*
 * System calls without errno: every wrapper returns the kernel's own value,
 * -errno on failure. The collector shares its TLS, including errno, with the
 * thread that started it, and a call into libc could wait for a lock that a
 * stopped thread holds.
 *
 * Runs in: any.
 */
#ifndef MU_SYS_H
#define MU_SYS_H

#include <errno.h>
#include <fcntl.h>
#include <linux/futex.h>
#include <poll.h>
#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/types.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <time.h>

#include "mu/arch/cpu.h"

/*
 * ThreadSanitizer does not see these calls. What a thread wrote to memory that
 * it then unmapped came before what another does to a mapping in its place.
 */
#ifdef __SANITIZE_THREAD__
void __tsan_acquire(void *address);
void __tsan_release(void *address);
extern char **environ; /* an address that all files have */
#define MU_TSAN(what) __tsan_##what(&environ)
#else
#define MU_TSAN(what) ((void)0)
#endif

#define MU_NS_PER_SEC 1000000000ull
#define MU_NS_PER_MS 1000000ull

/* For older kernel headers; the numbers are the same on every CPU. */
#ifndef SYS_pidfd_open
#define SYS_pidfd_open 434
#endif
#ifndef SYS_process_mrelease
#define SYS_process_mrelease 448
#endif
#ifndef SYS_close_range
#define SYS_close_range 436
#endif

/* System call NR without arguments. Returns the result, or -errno. */
static inline long
mu_sys0(long nr)
{
	return mu_syscall6(nr, 0, 0, 0, 0, 0, 0);
}

/* The same with one argument. */
static inline long
mu_sys1(long nr, long a)
{
	return mu_syscall6(nr, a, 0, 0, 0, 0, 0);
}

/* The same with two arguments. */
static inline long
mu_sys2(long nr, long a, long b)
{
	return mu_syscall6(nr, a, b, 0, 0, 0, 0);
}

/* The same with three arguments. */
static inline long
mu_sys3(long nr, long a, long b, long c)
{
	return mu_syscall6(nr, a, b, c, 0, 0, 0);
}

/* The same with four arguments. */
static inline long
mu_sys4(long nr, long a, long b, long c, long d)
{
	return mu_syscall6(nr, a, b, c, d, 0, 0);
}

/* The caller's process ID, in its PID namespace. */
static inline pid_t
mu_sys_getpid(void)
{
	return (pid_t)mu_sys0(SYS_getpid);
}

/* The calling thread's ID, in its PID namespace. */
static inline pid_t
mu_sys_gettid(void)
{
	return (pid_t)mu_sys0(SYS_gettid);
}

/*
 * How often a call that must not fail is tried. A sandbox whose supervisor
 * decides about each call (SECCOMP_RET_USER_NOTIF) may refuse one and permit
 * the next.
 */
#define MU_SYS_TRIES 4

/*
 * openat(), again after EINTR (a FIFO, a slow filesystem). Returns a
 * descriptor, or -errno.
 */
static inline int
mu_sys_openat(int dir_fd, const char *path, int flags, mode_t mode)
{
	int fd, tries = 0;

	do
		fd = (int)mu_sys4(
		    SYS_openat, dir_fd, (long)path, flags, (long)mode);
	while (fd == -EINTR && ++tries < MU_SYS_TRIES);
	return fd;
}

/* The same for PATH from the root or the working directory. */
static inline int
mu_sys_open(const char *path, int flags, mode_t mode)
{
	return mu_sys_openat(AT_FDCWD, path, flags, mode);
}

/* Close *FD if it is a descriptor, and set it to -1. */
static inline void
mu_sys_close(int *fd)
{
	if (*fd >= 0)
		mu_sys1(SYS_close, *fd);
	*fd = -1;
}

/*
 * One read(): returns the bytes read, also if they are fewer than SIZE, or
 * -errno, -EINTR included.
 */
static inline ssize_t
mu_sys_read(int fd, void *buffer, size_t size)
{
	return mu_sys3(SYS_read, fd, (long)buffer, (long)size);
}

/* One pread() at OFFSET; the same. */
static inline ssize_t
mu_sys_pread(int fd, void *buffer, size_t size, uint64_t offset)
{
	return mu_sys4(SYS_pread64, fd, (long)buffer, (long)size, (long)offset);
}

/*
 * Read the memory of process PID, several times as fast as through
 * /proc/PID/mem. Fails with -EFAULT also where only /proc/PID/mem can read
 * (PROT_NONE).
 */
static inline ssize_t
mu_sys_vm_read(pid_t pid, void *buffer, size_t size, uintptr_t address)
{
	struct iovec to = { buffer, size }, from = { (void *)address, size };

	return mu_syscall6(
	    SYS_process_vm_readv, pid, (long)&to, 1, (long)&from, 1, 0);
}

/*
 * One pwrite() at OFFSET: returns the bytes written, also if they are fewer
 * than SIZE, or -errno, -EINTR included.
 */
static inline ssize_t
mu_sys_pwrite(int fd, const void *buffer, size_t size, uint64_t offset)
{
	return mu_sys4(
	    SYS_pwrite64, fd, (long)buffer, (long)size, (long)offset);
}

/* One write(); the same. */
static inline ssize_t
mu_sys_write(int fd, const void *buffer, size_t size)
{
	return mu_sys3(SYS_write, fd, (long)buffer, (long)size);
}

/* Returns the kernel's value: -errno is in [-4095, -1]. */
static inline long
mu_sys_mmap(void *hint, size_t size, int prot, int flags)
{
	long address =
	    mu_syscall6(SYS_mmap, (long)hint, (long)size, prot, flags, -1, 0);

	MU_TSAN(acquire);
	return address;
}

/* True if RESULT of mu_sys_mmap() and similar is an -errno, not an address. */
static inline bool
mu_sys_failed(long result)
{
	return result < 0 && result >= -4095;
}

/* munmap(); the pages in SIZE bytes from ADDRESS. */
static inline long
mu_sys_munmap(void *address, size_t size)
{
	MU_TSAN(release);
	return mu_sys2(SYS_munmap, (long)address, (long)size);
}

/*
 * Clear SIZE bytes of private anonymous memory, whole pages, and return them to
 * the kernel. Locked pages are cleared but not returned (EINVAL).
 */
static inline void
mu_sys_wipe(void *address, size_t size)
{
	if (mu_sys3(SYS_madvise, (long)address, (long)size, MADV_DONTNEED) == 0)
		return;
	__builtin_memset(address, 0, size);
	__asm__ volatile("" : : "r"(address) : "memory");
}

#define MU_STACK_GUARD ((size_t)64 << 10) /* the largest page size of Linux */

/*
 * Map a stack of SIZE bytes. Its lowest MU_STACK_GUARD bytes cannot be
 * accessed. Returns what mu_sys_mmap() does.
 */
static inline long
mu_sys_map_stack(size_t size)
{
	long stack = mu_sys_mmap(NULL, size, PROT_READ | PROT_WRITE,
	    MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_STACK);

	if (!mu_sys_failed(stack))
		mu_sys3(SYS_mprotect, stack, MU_STACK_GUARD, PROT_NONE);
	return stack;
}

/*
 * CLOCK_MONOTONIC in nanoseconds; always 0 if the call is refused, so that no
 * deadline passes.
 */
static inline uint64_t
mu_sys_now_ns(void)
{
	struct timespec now = { 0, 0 };
	int tries = 0;

	while (mu_sys2(SYS_clock_gettime, CLOCK_MONOTONIC, (long)&now) < 0 &&
	    ++tries < MU_SYS_TRIES)
		continue;
	return (uint64_t)now.tv_sec * MU_NS_PER_SEC + (uint64_t)now.tv_nsec;
}

/* CLOCK_REALTIME in nanoseconds; 0 if the call is refused. */
static inline uint64_t
mu_sys_real_ns(void)
{
	struct timespec now = { 0, 0 };

	mu_sys2(SYS_clock_gettime, CLOCK_REALTIME, (long)&now);
	return (uint64_t)now.tv_sec * MU_NS_PER_SEC + (uint64_t)now.tv_nsec;
}

/* NS nanoseconds as the kernel takes them. */
static inline struct timespec
mu_sys_timespec(uint64_t ns)
{
	return (struct timespec) { (time_t)(ns / MU_NS_PER_SEC),
		(long)(ns % MU_NS_PER_SEC) };
}

/* Sleep for NS nanoseconds, or until a signal handler has run. */
static inline void
mu_sys_sleep_ns(uint64_t ns)
{
	struct timespec span = mu_sys_timespec(ns);

	mu_sys2(SYS_nanosleep, (long)&span, 0);
}

/*
 * Wait while *WORD is EXPECTED, until woken or DEADLINE_NS. FLAGS:
 * FUTEX_PRIVATE_FLAG for glibc's own locks, 0 for words that the kernel wakes
 * at a child's exit (CLONE_CHILD_CLEARTID). Returns 0, -EAGAIN, -EINTR or
 * -ETIMEDOUT.
 */
static inline long
mu_sys_futex_wait(
    const int *word, int expected, int flags, uint64_t deadline_ns)
{
	struct timespec at = mu_sys_timespec(deadline_ns);

	/* FUTEX_WAIT_BITSET takes an absolute CLOCK_MONOTONIC time. */
	return mu_syscall6(SYS_futex, (long)word, FUTEX_WAIT_BITSET | flags,
	    expected, (long)&at, 0, -1);
}

#define MU_SYS_NAP_NS (20 * 1000ull)

/*
 * Wait until *WORD, a private futex, may differ from EXPECTED; sleep for
 * MU_SYS_NAP_NS where futex() is refused.
 */
static inline void
mu_sys_futex_await(const int *word, int expected)
{
	long error =
	    mu_sys_futex_wait(word, expected, FUTEX_PRIVATE_FLAG, INT64_MAX);

	if (error < 0 && error != -EAGAIN && error != -EINTR)
		mu_sys_sleep_ns(MU_SYS_NAP_NS);
}

/*
 * Wake COUNT threads that wait for *WORD. Returns their number, or -errno after
 * MU_SYS_TRIES refusals. FLAGS as in mu_sys_futex_wait().
 */
static inline long
mu_sys_futex_wake(const int *word, int count, int flags)
{
	long woken;
	int tries = 0;

	do
		woken =
		    mu_sys3(SYS_futex, (long)word, FUTEX_WAKE | flags, count);
	while (woken < 0 && ++tries < MU_SYS_TRIES);
	return woken;
}

/*
 * Store VALUE into *WORD and wake COUNT threads that wait for it. FLAGS: 0 or
 * FUTEX_PRIVATE_FLAG.
 */
static inline void
mu_sys_futex_set(int *word, int value, int count, int flags)
{
	__atomic_store_n(word, value, __ATOMIC_RELEASE);
	mu_sys_futex_wake(word, count, flags);
}

#define MU_WALL 0x40000000 /* __WALL: children without an exit signal too */

/*
 * wait4() for one child, by id. If wait4() is refused, waitid() is tried, so
 * that no zombie remains; its siginfo_t is converted to the same status.
 */
static inline pid_t
mu_sys_wait(pid_t pid, int *status, int options)
{
	pid_t got = (pid_t)mu_sys4(SYS_wait4, pid, (long)status, options, 0);
	siginfo_t info = { 0 };
	long error;

	if (got >= 0 || got == -EINTR || got == -ECHILD)
		return got;
	error = mu_syscall6(
	    SYS_waitid, P_PID, pid, (long)&info, options | WEXITED, 0, 0);
	if (error < 0)
		return (pid_t)error;
	if (info.si_pid == pid && status != NULL)
		*status = info.si_code == CLD_EXITED
		    ? (info.si_status & 0xff) << 8
		    : info.si_status & 0x7f;
	return info.si_pid;
}

/* kill(). Returns 0, or -errno. */
static inline long
mu_sys_kill(pid_t pid, int signo)
{
	return mu_sys2(SYS_kill, pid, signo);
}

/* ptrace() as the kernel has it: PTRACE_PEEK... store their word at DATA. */
static inline long
mu_sys_ptrace(long request, pid_t tid, uintptr_t address, uintptr_t data)
{
	return mu_sys4(SYS_ptrace, request, tid, (long)address, (long)data);
}

/*
 * Read SIZE bytes at ADDRESS of process or thread TID. Returns the bytes that
 * the kernel copied, 0 on failure.
 */
static inline size_t
mu_sys_read_memory(pid_t tid, uintptr_t address, void *buffer, size_t size)
{
	struct iovec local = { buffer, size };
	struct iovec remote = { (void *)address, size };
	long n = mu_syscall6(
	    SYS_process_vm_readv, tid, (long)&local, 1, (long)&remote, 1, 0);

	return n < 0 ? 0 : (size_t)n;
}

/*
 * A signal mask; it can block libc's own signals too, which sigprocmask()
 * spares.
 */
typedef uint64_t mu_sigmask;

/*
 * Set the calling thread's mask to *MASK; the previous one is stored in *OLD,
 * which may be NULL. Returns false if the call is refused MU_SYS_TRIES times.
 */
static inline bool
mu_sys_set_mask(const mu_sigmask *mask, mu_sigmask *old)
{
	int tries = 0;
	long error;

	do
		error = mu_sys4(SYS_rt_sigprocmask, 2 /* SIG_SETMASK */,
		    (long)mask, (long)old, sizeof(mu_sigmask));
	while (error < 0 && ++tries < MU_SYS_TRIES);
	return error == 0;
}

/*
 * Block every signal. Returns false if the call is refused; *OLD is not valid
 * then.
 */
static inline bool
mu_sys_block_signals(mu_sigmask *old)
{
	const mu_sigmask all = ~(mu_sigmask)0;

	*old = 0;
	return mu_sys_set_mask(&all, old);
}

/* Set the mask that mu_sys_block_signals() stored. */
static inline void
mu_sys_restore_signals(const mu_sigmask *old)
{
	mu_sys_set_mask(old, NULL);
}

/* End the process, without handlers of exit(). */
static inline _Noreturn void
mu_sys_exit(int status)
{
	for (;;)
		mu_sys1(SYS_exit_group, status);
}

/*
 * Read the file DIR_FD/PATH (AT_FDCWD for an absolute path) from its start, at
 * most SIZE - 1 bytes, and terminate it with a NUL. Returns the bytes read, or
 * -errno.
 */
static inline ssize_t
mu_sys_read_file(int dir_fd, const char *path, char *buffer, size_t size)
{
	size_t used = 0;
	ssize_t n = 0;
	int fd = mu_sys_openat(dir_fd, path, O_RDONLY | O_CLOEXEC, 0);

	if (fd < 0)
		return fd;
	while (used + 1 < size) {
		n = mu_sys_read(fd, buffer + used, size - 1 - used);
		if (n == -EINTR)
			continue;
		if (n <= 0)
			break;
		used += (size_t)n;
	}
	buffer[used] = '\0';
	mu_sys_close(&fd);
	return n < 0 ? n : (ssize_t)used;
}

#endif
