/*
 * What threads do again and again while others ask: each storm is one round
 * of it.
 */
#ifndef TESTS_SUPPORT_ENVIRONMENT_STORMS_H
#define TESTS_SUPPORT_ENVIRONMENT_STORMS_H

#include <dlfcn.h>
#include <spawn.h>

#include "tests/support/environment.h"

#define BURST 16 /* signals at a time */

extern char **environ;

struct stormer {
	void (*round)(struct stormer *stormer);
	pthread_t thread;
	unsigned long rounds;
};

static int detached; /* threads that have not ended */
static unsigned long sent, received;
static struct sigaction last_set;

static void
reap(pid_t pid)
{
	while (waitpid(pid, NULL, 0) < 0 && errno == EINTR)
		;
}

static void
storm_fork(struct stormer *stormer)
{
	pid_t pid = fork();

	(void)stormer;
	if (pid == 0)
		_exit(0);
	reap(pid);
}

static void
storm_vfork(struct stormer *stormer)
{
	char *argv[] = { "true", NULL };
	pid_t pid = vfork();

	(void)stormer;
	if (pid == 0) {
		execve("/bin/true", argv, environ);
		_exit(97);
	}
	reap(pid);
}

static void
storm_spawn(struct stormer *stormer)
{
	char *argv[] = { "true", NULL };
	pid_t pid;

	(void)stormer;
	if (posix_spawn(&pid, "/bin/true", NULL, NULL, argv, environ) == 0)
		reap(pid);
}

static void
storm_dlopen(struct stormer *stormer)
{
	static const char *const libraries[] = { "libresolv.so.2",
		"libnss_files.so.2", "libthread_db.so.1", "libanl.so.1" };
	void *library = dlopen(libraries[stormer->rounds % 4], RTLD_NOW);

	if (library != NULL)
		dlclose(library);
}

static void *
body_short(void *unused)
{
	(void)unused;
	free(malloc(100));
	return NULL;
}

static void
storm_threads(struct stormer *stormer)
{
	pthread_t thread;

	(void)stormer;
	if (pthread_create(&thread, NULL, body_short, NULL) == 0)
		pthread_join(thread, NULL);
}

static void *
body_detached(void *unused)
{
	(void)unused;
	free(malloc(200));
	__atomic_sub_fetch(&detached, 1, __ATOMIC_SEQ_CST);
	return NULL;
}

static void
storm_detached(struct stormer *stormer)
{
	pthread_attr_t attributes;
	pthread_t thread;

	(void)stormer;
	if (__atomic_load_n(&detached, __ATOMIC_SEQ_CST) > 20)
		return;
	pthread_attr_init(&attributes);
	pthread_attr_setdetachstate(&attributes, PTHREAD_CREATE_DETACHED);
	__atomic_add_fetch(&detached, 1, __ATOMIC_SEQ_CST);
	if (pthread_create(&thread, &attributes, body_detached, NULL) != 0)
		__atomic_sub_fetch(&detached, 1, __ATOMIC_SEQ_CST);
	pthread_attr_destroy(&attributes);
}

static void *
body_to_cancel(void *unused)
{
	void *volatile held = malloc(300);

	pthread_cleanup_push(free, held);
	for (;;)
		usleep(ENVIRONMENT_NAP_US);
	pthread_cleanup_pop(1);
	return unused;
}

static void
storm_cancel(struct stormer *stormer)
{
	pthread_t thread;

	(void)stormer;
	if (pthread_create(&thread, NULL, body_to_cancel, NULL) != 0)
		return;
	pthread_cancel(thread);
	pthread_join(thread, NULL);
}

static void
on_counted(int signo)
{
	(void)signo;
	__atomic_add_fetch(&received, 1, __ATOMIC_SEQ_CST);
}

static void
on_other(int signo)
{
	(void)signo;
}

static void
catch_signal(int signo, void (*handler)(int))
{
	struct sigaction action = { .sa_handler = handler,
		.sa_flags = SA_RESTART };

	sigaction(signo, &action, NULL);
}

/* To threads that block none; queued ones are counted. */
static void
send_burst(int signo, bool count)
{
	union sigval value = { 0 };
	size_t i;

	for (i = 0; i < BURST; i++)
		if (pthread_sigqueue(
			environment_threads[i % 3].thread, signo, value) == 0 &&
		    count)
			__atomic_add_fetch(&sent, 1, __ATOMIC_SEQ_CST);
	usleep(500);
}

static void
storm_urg(struct stormer *stormer)
{
	send_burst(stormer->rounds % 2 == 0 ? SIGURG : SIGWINCH, false);
}

static void
storm_queued(struct stormer *stormer)
{
	send_burst(SIGRTMIN + (int)(stormer->rounds % 4), true);
}

static void
storm_timer(struct stormer *stormer)
{
	(void)stormer;
	usleep(1000);
}

/* glibc sends its own signal to all threads, and waits for them. */
static void
storm_setuid(struct stormer *stormer)
{
	(void)stormer;
	if (setuid(getuid()) != 0)
		abort();
}

static void
storm_sigaction(struct stormer *stormer)
{
	struct sigaction action = { .sa_flags = SA_RESTART };

	action.sa_handler = stormer->rounds % 3 == 0 ? SIG_DFL
	    : stormer->rounds % 3 == 1               ? on_other
						     : SIG_IGN;
	last_set = action;
	sigaction(SIGURG, &action, NULL);
	usleep(stormer->rounds % 7 * 100);
}

static void
storm_masks(struct stormer *stormer)
{
	sigset_t all, old;

	(void)stormer;
	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &old);
	usleep(300);
	pthread_sigmask(SIG_SETMASK, &old, NULL);
	usleep(300);
}

static const struct {
	const char *name;
	void (*round)(struct stormer *stormer);
} storms[] = {
	{ "fork", storm_fork },
	{ "vfork", storm_vfork },
	{ "posix_spawn", storm_spawn },
	{ "dlopen", storm_dlopen },
	{ "threads", storm_threads },
	{ "detached", storm_detached },
	{ "cancel", storm_cancel },
	{ "urg", storm_urg },
	{ "queued", storm_queued },
	{ "timer", storm_timer },
	{ "setuid", storm_setuid },
	{ "sigaction", storm_sigaction },
	{ "masks", storm_masks },
};

#endif
