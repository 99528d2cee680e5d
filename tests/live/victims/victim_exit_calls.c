/*
 * A program with threads that are in malloc all the time. It ends with status
 * 5, by _exit() or another call that its first argument names. With a second
 * argument it loses a block of 24 bytes.
 */
#include <dlfcn.h>
#include <errno.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <malloc.h>
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <spawn.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

#include "memunreachable/memunreachable.h"
#include "tests/support/hide.h"

#define STATUS 5
#define WRONG 99

static volatile int up;
static sigjmp_buf back;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

/* Sizes of small and large bins, which malloc's lock protects. */
static void *
churn(void *unused)
{
	void *volatile blocks[64];
	int i, round;

	for (round = 0;; round++) {
		if (round == 1)
			__atomic_fetch_add(&up, 1, __ATOMIC_SEQ_CST);
		for (i = 0; i < 64; i++)
			blocks[i] = malloc(16 + (size_t)i * 100);
		for (i = 0; i < 64; i++)
			free(blocks[i]);
	}
	return unused;
}

static void
start(void *(*body)(void *), void *argument)
{
	pthread_t thread;

	if (pthread_create(&thread, NULL, body, argument) != 0)
		abort();
}

static void
wait_for_end(void)
{
	for (;;)
		pause();
}

static void *
call(void *how)
{
	usleep(20000);
	if (strcmp(how, "quick_exit") == 0)
		quick_exit(STATUS);
	if (strcmp(how, "_Exit") == 0)
		_Exit(STATUS);
	if (strcmp(how, "exit") == 0)
		exit(STATUS);
	_exit(STATUS);
}

static void
call_from_thread(char *how)
{
	start(call, how);
	wait_for_end();
}

static void
two_calls(char *how)
{
	(void)how;
	start(call, "_exit");
	start(call, "_Exit");
	wait_for_end();
}

static void *
call_a_little_later(void *how)
{
	static int calls;

	usleep(
	    1000 * (unsigned)__atomic_add_fetch(&calls, 1, __ATOMIC_SEQ_CST));
	return call(how);
}

/* Several threads are in exit() or quick_exit() at once. */
static void
exits(char *how)
{
	int i;

	(void)how;
	for (i = 0; i < 8; i++)
		start(call_a_little_later, "exit");
	wait_for_end();
}

static void
quick_exits(char *how)
{
	int i;

	(void)how;
	for (i = 0; i < 8; i++)
		start(call_a_little_later, "quick_exit");
	wait_for_end();
}

static void
exits_of_both(char *how)
{
	int i;

	(void)how;
	for (i = 0; i < 8; i++)
		start(call_a_little_later, i % 2 == 0 ? "quick_exit" : "exit");
	wait_for_end();
}

static void
call_beside_exit(char *how)
{
	(void)how;
	start(call, "_exit");
	start(call, "exit");
	wait_for_end();
}

static void *
wait_for_file(void *unused)
{
	struct stat about;

	stat(getenv("SILENT_FILE"), &about);
	return unused;
}

/* A thread is in a system call that not even SIGKILL ends. */
static void
late_thread(char *how)
{
	(void)how;
	start(wait_for_file, NULL);
	usleep(300000);
	syscall(SYS_exit_group, STATUS);
}

static void
end_by_handler(int signo)
{
	(void)signo;
	_exit(STATUS);
}

static void
on_alarm(void (*handler)(int), int flags, useconds_t span)
{
	struct itimerval often = { { 0, span }, { 0, span } };
	struct sigaction action = { .sa_handler = handler, .sa_flags = flags };

	sigaction(SIGALRM, &action, NULL);
	setitimer(ITIMER_REAL, &often, NULL);
}

/* Others block the signal, so it interrupts malloc here. */
static void
handler(char *how)
{
	static char small[8192] __attribute__((aligned(16)));
	stack_t stack = { .ss_sp = small, .ss_size = sizeof(small) };

	(void)how;
	sigaltstack(&stack, NULL);
	on_alarm(end_by_handler, SA_ONSTACK, 20000);
	churn(NULL);
}

static void
exit_by_handler(int signo)
{
	(void)signo;
	exit(STATUS);
}

/*
 * The memory above the alternate stack is not readable; like a heap, it is
 * below the thread-local variables.
 */
static void
exit_on_alternate_stack(char *how)
{
	size_t size = (size_t)sysconf(_SC_PAGESIZE) * 4;
	stack_t stack = { .ss_size = size };
	uintptr_t below = (uintptr_t)&errno / size * size - size * 1024;

	(void)how;
	stack.ss_sp = mmap((void *)below, size * 2, PROT_NONE,
	    MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (stack.ss_sp == MAP_FAILED ||
	    mprotect(stack.ss_sp, size, PROT_READ | PROT_WRITE) != 0 ||
	    sigaltstack(&stack, NULL) != 0)
		exit(WRONG);
	on_alarm(exit_by_handler, SA_ONSTACK, 20000);
	wait_for_end();
}

/* It may also come during the check of another thread. */
static void
handler_of_many(char *how)
{
	sigset_t none;

	sigemptyset(&none);
	pthread_sigmask(SIG_SETMASK, &none, NULL);
	start(call, how);
	on_alarm(end_by_handler, 0, 19000);
	wait_for_end();
}

static void
jump(int signo)
{
	(void)signo;
	siglongjmp(back, 1);
}

/* A jump out of _exit() does not let the program go on. */
static void
jumps(char *how)
{
	(void)how;
	if (sigsetjmp(back, 1) != 0)
		_exit(WRONG);
	on_alarm(jump, 0, 20000);
	_exit(STATUS);
}

static void
expect(pid_t pid, int status)
{
	int seen;

	if (waitpid(pid, &seen, 0) != pid || !WIFEXITED(seen) ||
	    WEXITSTATUS(seen) != status)
		exit(WRONG);
}

static void
vfork_children(char *how)
{
	char *const none[] = { "none", NULL };
	volatile int i;
	pid_t pid;

	for (i = 0; i < 20; i++) {
		pid = vfork();
		if (pid == 0)
			_exit(7);
		expect(pid, 7);
		if (posix_spawn(&pid, "/no/such", NULL, NULL, none, environ) ==
		    0)
			expect(pid, 127);
	}
	call(how);
}

static void
fork_children(char *how)
{
	pid_t pid;
	int i;

	for (i = 0; i < 5; i++) {
		pid = fork();
		if (pid == 0) {
			start(churn, NULL);
			usleep(1000);
			_exit(8);
		}
		expect(pid, 8);
	}
	call(how);
}

static void
end_again(void)
{
	_exit(STATUS);
}

static void
exit_handler(char *how)
{
	(void)how;
	atexit(end_again);
	exit(WRONG);
}

static void
quick_exit_handler(char *how)
{
	(void)how;
	at_quick_exit(end_again);
	quick_exit(WRONG);
}

static ptrdiff_t
need_lock(void *unused, uintptr_t *words, size_t max)
{
	(void)unused;
	(void)words;
	(void)max;
	pthread_mutex_lock(&lock);
	pthread_mutex_unlock(&lock);
	return 0;
}

/* A callback would wait for this thread. The library is preloaded only. */
static void
lock_of_callback(char *how)
{
	bool (*add)(memunreachable_root_provider, void *);

	*(void **)&add =
	    dlsym(RTLD_DEFAULT, "memunreachable_register_root_provider");
	if (add != NULL)
		add(need_lock, NULL);
	pthread_mutex_lock(&lock);
	call(how);
}

/* Everything that threads and malloc need is permitted. */
static void
sandbox(unsigned action)
{
	static const int permitted[] = { SYS_exit_group, SYS_exit, SYS_futex,
		SYS_brk, SYS_mmap, SYS_munmap, SYS_mprotect, SYS_madvise,
		SYS_write, SYS_rt_sigreturn, SYS_getpid, SYS_prctl,
		SYS_clock_nanosleep };
	enum { COUNT = sizeof(permitted) / sizeof(permitted[0]) };
	struct sock_filter code[COUNT * 2 + 2];
	struct sock_fprog program = { COUNT * 2 + 2, code };
	size_t i;

	code[0] = (struct sock_filter)BPF_STMT(
	    BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr));
	for (i = 0; i < COUNT; i++) {
		code[1 + i * 2] = (struct sock_filter)BPF_JUMP(
		    BPF_JMP | BPF_JEQ | BPF_K, (unsigned)permitted[i], 0, 1);
		code[2 + i * 2] = (struct sock_filter)BPF_STMT(
		    BPF_RET | BPF_K, SECCOMP_RET_ALLOW);
	}
	code[1 + COUNT * 2] =
	    (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, action);
	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0 ||
	    syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER,
		SECCOMP_FILTER_FLAG_TSYNC, &program) != 0)
		exit(WRONG);
}

static void
filter_kills(char *how)
{
	sandbox(SECCOMP_RET_KILL_PROCESS);
	call(how);
}

static void
filter_kills_in_exit(char *how)
{
	(void)how;
	sandbox(SECCOMP_RET_KILL_PROCESS);
	exit(STATUS);
}

static void
filter_refuses(char *how)
{
	sandbox(SECCOMP_RET_ERRNO | 1);
	call(how);
}

/* Not even getpid() is permitted. */
static void
permit_only_exit(void)
{
	struct sock_filter code[] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS,
		    offsetof(struct seccomp_data, nr)),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_exit_group, 0, 1),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_KILL_PROCESS),
	};
	struct sock_fprog program = { 4, code };

	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0 ||
	    prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) != 0)
		exit(WRONG);
}

static void
only_exit(char *how)
{
	(void)how;
	permit_only_exit();
	_exit(STATUS);
}

/* These end with 0. */
static void
filter_and_exit(char *how)
{
	(void)how;
	permit_only_exit();
	exit(0);
}

static void *
filter_itself(void *unused)
{
	permit_only_exit();
	for (;;)
		__atomic_store_n(&up, 1, __ATOMIC_SEQ_CST);
	return unused;
}

static void
exit_beside_filter(char *how)
{
	(void)how;
	start(filter_itself, NULL);
	while (__atomic_load_n(&up, __ATOMIC_SEQ_CST) == 0)
		usleep(1000);
	exit(0);
}

static void
exit_after_vfork(char *how)
{
	(void)how;
	if (vfork() == 0) {
		permit_only_exit();
		_exit(0);
	}
	exit(0);
}

/* The calls by which libseccomp finds what the kernel supports. */
static void
exit_after_probe(char *how)
{
	(void)how;
	if (prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, NULL) == 0 ||
	    syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER,
		SECCOMP_FILTER_FLAG_TSYNC, NULL) == 0)
		exit(WRONG);
	exit(0);
}

#ifdef __x86_64__
#define PASSED 7

static void
end_child(void)
{
	syscall(SYS_exit, PASSED);
}

/* The child returns from syscall() on its own stack: libc's has no frame. */
static void
exit_after_clone(char *how)
{
	static uintptr_t stack[4096] __attribute__((aligned(16)));
	uintptr_t *top = &stack[4000];
	int status;
	long child;

	(void)how;
	*top = (uintptr_t)end_child;
	child = syscall(SYS_clone, CLONE_VM | SIGCHLD, top, NULL, NULL, 0);
	if (waitpid((pid_t)child, &status, 0) != child || !WIFEXITED(status) ||
	    WEXITSTATUS(status) != PASSED)
		abort();
	exit(0);
}
#endif

/* Signals that end the program: how they come. */
static void
raises(char *how)
{
	(void)how;
	usleep(20000);
	raise(SIGTERM);
}

#define CLEARED ((size_t)16 << 20)

static void *
clear(void *unused)
{
	void *volatile block;

	for (;;) {
		block = calloc(1, CLEARED);
		free(block);
		__atomic_fetch_add(&up, 1, __ATOMIC_SEQ_CST);
	}
	return unused;
}

/* A thread is nearly always in a calloc() that clears memory. */
static void
raises_in_calloc(char *how)
{
	mallopt(M_MMAP_THRESHOLD, 2 * CLEARED);
	mallopt(M_TRIM_THRESHOLD, 4 * CLEARED);
	start(clear, NULL);
	while (__atomic_load_n(&up, __ATOMIC_SEQ_CST) < 2)
		usleep(1000);
	raises(how);
}

static void
aborts(char *how)
{
	(void)how;
	usleep(20000);
	abort();
}

static void
faults(char *how)
{
	volatile int *nowhere = NULL;

	(void)how;
	usleep(20000);
	*nowhere = 1;
}

/* It comes to a thread that sleeps. */
static void
alarm_asleep(char *how)
{
	(void)how;
	on_alarm(SIG_DFL, 0, 20000);
	wait_for_end();
}

/* It comes to a thread that is in malloc as often as the others. */
static void
alarm_busy(char *how)
{
	(void)how;
	on_alarm(SIG_DFL, 0, 20000);
	churn(NULL);
}

/* An ignored signal comes all the time. */
static void
ignores(char *how)
{
	(void)how;
	on_alarm(SIG_IGN, 0, 1000);
	usleep(20000);
	_exit(STATUS);
}

static const struct {
	const char *name;
	void (*end)(char *how);
	bool alone;
} ends[] = {
	{ "_exit", call_from_thread, false },
	{ "_Exit", call_from_thread, false },
	{ "quick_exit", call_from_thread, false },
	{ "two_calls", two_calls, false },
	{ "exits", exits, false },
	{ "quick_exits", quick_exits, false },
	{ "exits_of_both", exits_of_both, false },
	{ "call_beside_exit", call_beside_exit, false },
	{ "late_thread", late_thread, true },
	{ "handler", handler, false },
	{ "exit_on_alternate_stack", exit_on_alternate_stack, true },
	{ "handler_of_many", handler_of_many, false },
	{ "jumps", jumps, false },
	{ "vfork_children", vfork_children, false },
	{ "fork_children", fork_children, false },
	{ "exit_handler", exit_handler, false },
	{ "quick_exit_handler", quick_exit_handler, false },
	{ "lock_of_callback", lock_of_callback, false },
	{ "filter_kills", filter_kills, false },
	{ "filter_kills_in_exit", filter_kills_in_exit, false },
	{ "filter_refuses", filter_refuses, false },
	{ "only_exit", only_exit, true },
	{ "filter_and_exit", filter_and_exit, true },
	{ "exit_beside_filter", exit_beside_filter, true },
	{ "exit_after_vfork", exit_after_vfork, true },
	{ "exit_after_probe", exit_after_probe, true },
#ifdef __x86_64__
	{ "exit_after_clone", exit_after_clone, true },
#endif
	{ "raises", raises, false },
	{ "raises_in_calloc", raises_in_calloc, true },
	{ "aborts", aborts, false },
	{ "faults", faults, false },
	{ "alarm_asleep", alarm_asleep, false },
	{ "alarm_busy", alarm_busy, false },
	{ "alarm_alone", alarm_busy, true },
	{ "ignores", ignores, false },
};

static __attribute__((noinline)) uintptr_t
lose(void)
{
	return mu_hide(memset(malloc(24), 'x', 24));
}

int
main(int argc, char **argv)
{
	volatile uintptr_t lost = argc > 2 ? lose() : 0;
	sigset_t alarm_only;
	size_t i, j;

	scrub_stack();
	for (i = 0; i < sizeof(ends) / sizeof(ends[0]); i++) {
		if (argc < 2 || strcmp(ends[i].name, argv[1]) != 0)
			continue;
		sigemptyset(&alarm_only);
		sigaddset(&alarm_only, SIGALRM);
		pthread_sigmask(SIG_BLOCK, &alarm_only, NULL);
		for (j = 0; j < 3 && !ends[i].alone; j++)
			start(churn, NULL);
		while (up < (ends[i].alone ? 0 : 3))
			usleep(1000);
		pthread_sigmask(SIG_UNBLOCK, &alarm_only, NULL);
		ends[i].end(argv[1]);
	}
	return lost == 1 ? 1 : WRONG;
}
