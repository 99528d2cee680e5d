/*
 * The watcher as a thread of libc. libc ends a program after the pthread_exit()
 * of its last thread, and would wait for this one. So it watches for the end of
 * the main thread, and then for that of all others.
 */
#include "lib/malloc_debug/dumps/watch_thread.h"

#include <dirent.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/prctl.h>

#include "lib/malloc_debug/dumps/watch_bare.h"
#include "lib/malloc_debug/state/state.h"
#include "mu/sys.h"

#define STACK_SIZE ((size_t)512 << 10)
#define LOOK_NS (MU_NS_PER_SEC / 20)

static struct {
	bool resident;
	int *pending;
	void (*run)(int bits);
	int alive; /* the resident thread exists */
	int working;
	pthread_key_t main_ends; /* has a value in the main thread only */
	int main_ended;
} watcher;

static void
on_main_end(void *value)
{
	(void)value;
	__atomic_store_n(&watcher.main_ended, 1, __ATOMIC_RELEASE);
	mu_sys_futex_wake(watcher.pending, 1, FUTEX_PRIVATE_FLAG);
}

/* As the kernel's struct linux_dirent64. */
struct entry {
	uint64_t inode, offset;
	uint16_t length;
	uint8_t type;
	char name[];
};

/*
 * True if there are threads other than this one and the main thread, which
 * stays listed until the end.
 */
static bool
others_are_there(void)
{
	char buffer[1024] __attribute__((aligned(8))) = "";
	const struct entry *entry;
	int fd, count = 0;
	long n, at;

	fd = mu_sys_open(
	    "/proc/self/task", O_RDONLY | O_DIRECTORY | O_CLOEXEC, 0);
	if (fd < 0)
		return true;
	while ((n = mu_sys3(SYS_getdents64, fd, (long)buffer, sizeof(buffer))) >
	    0) {
		for (at = 0; at < n; at += entry->length) {
			entry = (const struct entry *)(buffer + at);
			count += entry->name[0] != '.';
		}
	}
	mu_sys_close(&fd);
	return count > 2;
}

static void
end_program(void)
{
	recorder_leave();
	exit(0); /* as start_thread() of glibc does */
}

/*
 * Returns false if there was no request. Bits are cleared only after work is
 * marked as in progress.
 */
static bool
work(void)
{
	int bits;

	__atomic_store_n(&watcher.working, 1, __ATOMIC_SEQ_CST);
	bits = __atomic_exchange_n(watcher.pending, 0, __ATOMIC_SEQ_CST);
	if (bits != 0)
		watcher.run(bits);
	__atomic_store_n(&watcher.working, 0, __ATOMIC_SEQ_CST);
	return bits != 0;
}

static void *
watch(void *arg)
{
	(void)arg;
	recorder_enter();
	prctl(PR_SET_NAME, "malloc_debug");
	for (;;) {
		if (work())
			continue;
		if (!__atomic_load_n(&watcher.main_ended, __ATOMIC_ACQUIRE)) {
			mu_sys_futex_await(watcher.pending, 0);
		} else {
			mu_sys_futex_wait(watcher.pending, 0,
			    FUTEX_PRIVATE_FLAG, mu_sys_now_ns() + LOOK_NS);
			if (!others_are_there())
				end_program();
		}
	}
	return NULL;
}

/*
 * The static TLS of large programs lies on the stack too: then use the default
 * size.
 */
static int
create(void)
{
	pthread_attr_t attributes;
	pthread_t thread;
	int error = EINVAL;

	pthread_attr_init(&attributes);
	pthread_attr_setdetachstate(&attributes, PTHREAD_CREATE_DETACHED);
	if (pthread_attr_setstacksize(&attributes, STACK_SIZE) == 0)
		error = pthread_create(&thread, &attributes, watch, NULL);
	pthread_attr_destroy(&attributes);
	if (error != EINVAL)
		return error;
	error = pthread_create(&thread, NULL, watch, NULL);
	if (error == 0)
		pthread_detach(thread);
	return error;
}

/*
 * Not with raw masks: a change of the user id waits until all threads of libc
 * have taken signal 33, which pthread_sigmask() leaves unblocked.
 */
static void
start_resident(void)
{
	sigset_t all, old;
	int error;

	recorder_enter();
	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &old);
	pthread_setspecific(watcher.main_ends, &watcher);
	error = create();
	pthread_sigmask(SIG_SETMASK, &old, NULL);
	recorder_leave();
	__atomic_store_n(&watcher.alive, error == 0, __ATOMIC_RELEASE);
	if (error != 0)
		recorder_say("no thread for requests by signal");
}

void
watch_thread_start(bool resident, int *pending, void (*run)(int bits))
{
	watcher.resident = resident;
	watcher.pending = pending;
	watcher.run = run;
	if (!resident) {
		if (!watch_bare_prepare(pending, run))
			recorder_say("no memory for requests by signal");
		return;
	}
	if (pthread_key_create(&watcher.main_ends, on_main_end) == 0)
		start_resident();
}

void
watch_thread_wake(const int *pending)
{
	if (watcher.resident)
		mu_sys_futex_wake(pending, 1, FUTEX_PRIVATE_FLAG);
	else
		watch_bare_wake();
}

/* In this order, which matches work(). */
bool
watch_thread_busy(void)
{
	if (!watcher.resident)
		return watch_bare_busy();
	return __atomic_load_n(&watcher.alive, __ATOMIC_ACQUIRE) &&
	    (__atomic_load_n(watcher.pending, __ATOMIC_SEQ_CST) != 0 ||
		__atomic_load_n(&watcher.working, __ATOMIC_SEQ_CST));
}

/* The thread that forked is the main thread of the child. */
void
watch_thread_fork_child(void)
{
	if (!watcher.resident) {
		watch_bare_fork_child();
		return;
	}
	__atomic_store_n(&watcher.main_ended, 0, __ATOMIC_RELEASE);
	__atomic_store_n(&watcher.working, 0, __ATOMIC_RELEASE);
	start_resident();
}
