/*
 * A program that runs a pass at an unusual phase of its life, or on an unusual
 * stack: see tests/support/environments/environment.h for what it prints.
 *
 * Usage: victim_phase MOMENT
 */
#include <spawn.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <ucontext.h>

#include "tests/support/environments/environment.h"

#define CHILDREN 20
#define COROUTINES 4
#define COROUTINE_STACK ((size_t)16 << 10)

extern char **environ;

/* The C form of destructors of thread_local objects. */
int __cxa_thread_atexit_impl(void (*)(void *), void *, void *);
extern void *__dso_handle;

static const char *moment = "";
static int failures;

static void
play(void)
{
	failures += environment_play();
}

static void
play_for(void *unused)
{
	(void)unused;
	play();
}

static void
play_on_exit(int status, void *unused)
{
	(void)status;
	(void)unused;
	play();
}

static bool
is(const char *name)
{
	return strcmp(moment, name) == 0;
}

static __attribute__((constructor)) void
constructor(int argc, char **argv)
{
	moment = argc > 1 ? argv[1] : "plain";
	environment_plant();
	environment_start_some();
	if (is("constructor"))
		play();
}

static __attribute__((destructor)) void
destructor(void)
{
	if (is("destructor"))
		play();
}

static void
thread_run(void *(*body)(void *), size_t stack_size)
{
	pthread_attr_t attributes;
	pthread_t thread;

	pthread_attr_init(&attributes);
	if (stack_size != 0)
		pthread_attr_setstacksize(&attributes, stack_size);
	if (pthread_create(&thread, &attributes, body, NULL) != 0)
		abort();
	pthread_join(thread, NULL);
}

static void *
body_tsd(void *unused)
{
	pthread_key_t key;

	(void)unused;
	pthread_key_create(&key, play_for);
	pthread_setspecific(key, "something");
	return NULL;
}

static void *
body_thread_local(void *unused)
{
	(void)unused;
	__cxa_thread_atexit_impl(play_for, NULL, &__dso_handle);
	return NULL;
}

static void *
body_play(void *unused)
{
	(void)unused;
	play();
	return NULL;
}

static void *
body_play_and_exit(void *unused)
{
	(void)unused;
	while (thread_state(getpid()) != 'Z')
		usleep(1000);
	play();
	exit(failures);
}

static void
on_signal(int signo)
{
	(void)signo;
	play();
}

static void
play_in_handler(int flags)
{
	struct sigaction action = { .sa_handler = on_signal,
		.sa_flags = flags };
	stack_t stack = { .ss_size = (size_t)64 << 10 };

	stack.ss_sp = mmap(NULL, stack.ss_size, PROT_READ | PROT_WRITE,
	    MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	syscall(SYS_sigaltstack, &stack, NULL);
	environment_small = true;
	sigaction(SIGUSR1, &action, NULL);
	raise(SIGUSR1);
}

struct coroutine {
	ucontext_t inside, outside;
	pthread_t thread;
	int state; /* 1: runs, 2: to end */
};

static void
coroutine_play(void)
{
	play();
}

/* Between two pages that must not be touched. */
static void *
coroutine_stack(void)
{
	size_t page = (size_t)sysconf(_SC_PAGESIZE);
	char *at = mmap(NULL, COROUTINE_STACK + 2 * page, PROT_NONE,
	    MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (at == MAP_FAILED ||
	    mprotect(at + page, COROUTINE_STACK, PROT_READ | PROT_WRITE) != 0)
		abort();
	return at + page;
}

static void
coroutine_enter(struct coroutine *coroutine, void (*body)(void))
{
	getcontext(&coroutine->inside);
	coroutine->inside.uc_stack.ss_sp = coroutine_stack();
	coroutine->inside.uc_stack.ss_size = COROUTINE_STACK;
	coroutine->inside.uc_link = &coroutine->outside;
	makecontext(&coroutine->inside, body, 0);
	swapcontext(&coroutine->outside, &coroutine->inside);
}

static struct coroutine coroutines[COROUTINES];
static __thread struct coroutine *own;

/* Half of the threads compute, half sleep; each holds a block. */
static void
coroutine_stay(void)
{
	void *volatile held = calloc(1, 500);

	__atomic_store_n(&own->state, 1, __ATOMIC_SEQ_CST);
	while (__atomic_load_n(&own->state, __ATOMIC_SEQ_CST) == 1)
		if ((own - coroutines) % 2 == 0)
			usleep(ENVIRONMENT_NAP_US);
	free(held);
}

static void *
body_coroutine(void *arg)
{
	own = arg;
	coroutine_enter(own, coroutine_stay);
	return NULL;
}

static void
play_beside_coroutines(void)
{
	size_t i;

	for (i = 0; i < COROUTINES; i++)
		pthread_create(&coroutines[i].thread, NULL, body_coroutine,
		    &coroutines[i]);
	for (i = 0; i < COROUTINES; i++)
		while (__atomic_load_n(
			   &coroutines[i].state, __ATOMIC_SEQ_CST) == 0)
			usleep(1000);
	play();
	for (i = 0; i < COROUTINES; i++)
		__atomic_store_n(&coroutines[i].state, 2, __ATOMIC_SEQ_CST);
	for (i = 0; i < COROUTINES; i++)
		pthread_join(coroutines[i].thread, NULL);
}

static void
single_threaded(void)
{
	environment_end_threads();
}

static void
reap(pid_t pid)
{
	int status = -1;

	while (waitpid(pid, &status, 0) < 0 && errno == EINTR)
		;
	if (status != 0)
		failures++;
}

/* Threads exist in the parent only; what they hold is held here as well. */
static void
play_in_child(void)
{
	static void *held[ENVIRONMENT_THREADS];
	size_t i;
	pid_t pid;

	environment_rests = true;
	environment_ask_threads(1);
	environment_ask_threads(2);
	for (i = 0; i < environment_num_threads; i++)
		put(&held[i], environment_threads[i].hidden);
	pid = fork();
	if (pid == 0) {
		environment_num_threads = 0;
		play();
		_exit(failures);
	}
	reap(pid);
	for (i = 0; i < environment_num_threads; i++)
		drop(&held[i]);
}

static bool passes_stop;
static unsigned passes_wrong, passes_done;

static void *
body_passes(void *unused)
{
	char words[sizeof(environment_words)];

	(void)unused;
	while (!__atomic_load_n(&passes_stop, __ATOMIC_SEQ_CST)) {
		if (!environment_pass(words, sizeof(words)))
			__atomic_add_fetch(&passes_wrong, 1, __ATOMIC_SEQ_CST);
		__atomic_add_fetch(&passes_done, 1, __ATOMIC_SEQ_CST);
	}
	return NULL;
}

/* Children are made while another thread is anywhere in a pass. */
static void
fork_beside_passes(void)
{
	char words[sizeof(environment_words)];
	pthread_t thread;
	pid_t pid;
	int i;

	/* Blocks that only other threads hold are lost in a child. */
	single_threaded();
	pthread_create(&thread, NULL, body_passes, NULL);
	while (__atomic_load_n(&passes_done, __ATOMIC_SEQ_CST) == 0)
		usleep(1000);
	environment_has_children = true;
	for (i = 0; i < CHILDREN; i++) {
		pid = fork();
		if (pid == 0)
			_exit(environment_pass(words, sizeof(words)) ? 0 : 1);
		reap(pid);
	}
	__atomic_store_n(&passes_stop, true, __ATOMIC_SEQ_CST);
	pthread_join(thread, NULL);
	environment_has_children = false;
	environment_say(
	    "%u wrong passes, %d wrong children, ", passes_wrong, failures);
	play();
}

/* The program itself, in a child: it plays at once and says so. */
static void
play_spawned(bool by_vfork)
{
	char *argv[] = { "/proc/self/exe", "plain", NULL };
	pid_t pid;

	if (!by_vfork) {
		if (posix_spawn(&pid, argv[0], NULL, NULL, argv, environ) != 0)
			abort();
	} else {
		pid = vfork();
		if (pid == 0) {
			execve(argv[0], argv, environ);
			_exit(97);
		}
	}
	reap(pid);
}

int
main(void)
{
	static struct coroutine coroutine;
	pthread_t thread;

	if (is("plain"))
		play();
	else if (is("single-threaded")) {
		single_threaded();
		play();
	} else if (is("atexit"))
		atexit(play);
	else if (is("on_exit"))
		on_exit(play_on_exit, NULL);
	else if (is("quick_exit")) {
		at_quick_exit(play);
		quick_exit(0);
	} else if (is("tsd"))
		thread_run(body_tsd, 0);
	else if (is("thread_local"))
		thread_run(body_thread_local, 0);
	else if (is("thread_local of the main thread"))
		__cxa_thread_atexit_impl(play_for, NULL, &__dso_handle);
	else if (is("small stack")) {
		environment_small = true;
		thread_run(body_play, PTHREAD_STACK_MIN);
	} else if (is("main thread has ended")) {
		pthread_create(&thread, NULL, body_play_and_exit, NULL);
		pthread_exit(NULL);
	} else if (is("handler"))
		play_in_handler(0);
	else if (is("handler on its own stack"))
		play_in_handler(SA_ONSTACK);
	else if (is("coroutine")) {
		environment_small = true;
		coroutine_enter(&coroutine, coroutine_play);
	} else if (is("beside coroutines"))
		play_beside_coroutines();
	else if (is("child"))
		play_in_child();
	else if (is("child of a single thread")) {
		single_threaded();
		play_in_child();
	} else if (is("fork beside passes"))
		fork_beside_passes();
	else if (is("vfork and exec"))
		play_spawned(true);
	else if (is("posix_spawn"))
		play_spawned(false);
	return failures;
}
