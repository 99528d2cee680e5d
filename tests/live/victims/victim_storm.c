/*
 * A program that runs passes while its other threads repeat an action: see
 * tests/support/environments/environment.h for what it prints. Every pass is
 * exact, or says why it could not check; queued signals arrive once each; what
 * the threads have set stays set.
 *
 * Usage: victim_storm STORM...
 */
#include <dlfcn.h>
#include <spawn.h>
#include <sys/time.h>

#include "tests/support/environments/environment.h"

/*
 * The actions that threads repeat while others run passes; each storm is one
 * round.
 */

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

/* Send signals to threads that block none; queued ones are counted. */
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

#define STORMERS 8
#define PASSES 6 /* or TESTS_ROUNDS */
#define ROUNDS 20
#define MOST_TOLD 3

static struct stormer stormers[STORMERS];
static size_t num_stormers;
static bool storm_over;

static void *
body_storm(void *arg)
{
	struct stormer *stormer = arg;

	while (!__atomic_load_n(&storm_over, __ATOMIC_SEQ_CST)) {
		stormer->round(stormer);
		__atomic_add_fetch(&stormer->rounds, 1, __ATOMIC_SEQ_CST);
	}
	return NULL;
}

static unsigned
passes_wanted(void)
{
	const char *given = getenv("TESTS_ROUNDS");

	return given == NULL ? PASSES : (unsigned)atoi(given);
}

/*
 * The settings that the program makes before a storm and verifies afterwards.
 */
static void
set_signals(void)
{
	int i;

	for (i = 0; i < 4; i++)
		catch_signal(SIGRTMIN + i, on_counted);
	catch_signal(SIGALRM, on_other);
}

static void
begin_storm(const char *name)
{
	struct stormer *stormer = &stormers[num_stormers];
	size_t i;

	for (i = 0; i < sizeof(storms) / sizeof(*storms); i++)
		if (strcmp(storms[i].name, name) == 0)
			stormer->round = storms[i].round;
	if (stormer->round == NULL || num_stormers++ == STORMERS)
		_exit(96);
	if (stormer->round == storm_urg) {
		catch_signal(SIGURG, on_other);
		catch_signal(SIGWINCH, on_other);
	}
	/* glibc sets its own handlers when these are first used. */
	if (stormer->round == storm_cancel || stormer->round == storm_setuid)
		stormer->round(stormer);
	if (stormer->round == storm_sigaction)
		last_set.sa_handler = SIG_DFL;
}

static void
start_storms(void)
{
	struct itimerval often = { { 0, 500 }, { 0, 500 } };
	size_t i;

	for (i = 0; i < num_stormers; i++) {
		if (stormers[i].round == storm_timer)
			setitimer(ITIMER_REAL, &often, NULL);
		if (pthread_create(&stormers[i].thread, NULL, body_storm,
			&stormers[i]) != 0)
			abort();
	}
}

static bool
all_have_stormed(void)
{
	size_t i;

	for (i = 0; i < num_stormers; i++)
		if (__atomic_load_n(&stormers[i].rounds, __ATOMIC_SEQ_CST) <
		    ROUNDS)
			return false;
	return true;
}

static void
end_storms(void)
{
	struct itimerval never = { { 0, 0 }, { 0, 0 } };
	struct sigaction action;
	size_t i;

	__atomic_store_n(&storm_over, true, __ATOMIC_SEQ_CST);
	for (i = 0; i < num_stormers; i++)
		pthread_join(stormers[i].thread, NULL);
	setitimer(ITIMER_REAL, &never, NULL);
	while (__atomic_load_n(&detached, __ATOMIC_SEQ_CST) != 0 ||
	    __atomic_load_n(&received, __ATOMIC_SEQ_CST) < sent)
		usleep(1000);
	if (received != sent)
		environment_say("%lu signals for %lu, ", received, sent);
	for (i = 0; i < num_stormers; i++) {
		if (stormers[i].round != storm_sigaction)
			continue;
		sigaction(SIGURG, NULL, &action);
		if (action.sa_handler != last_set.sa_handler)
			environment_say("the handler of SIGURG is lost, ");
		/* As environment_begin() found it. */
		catch_signal(SIGURG, on_other);
	}
}

int
main(int argc, char **argv)
{
	char words[sizeof(environment_words)];
	unsigned passes, wanted = passes_wanted(), wrong = 0, refused = 0;
	int i, status;

	environment_plant();
	environment_start_some();
	set_signals();
	for (i = 1; i < argc; i++)
		begin_storm(argv[i]);
	catch_signal(SIGURG, on_other);
	environment_has_children = true;
	environment_parts = STATE_FILES | STATE_DISPOSITIONS | STATE_THREADS;
	environment_begin();
	start_storms();
	for (passes = 0; passes < wanted || !all_have_stormed(); passes++) {
		if (environment_pass(words, sizeof(words)))
			continue;
		if (strstr(words, "complete") == words ||
		    strstr(words, "partial") == words)
			wrong++;
		else
			refused++;
		if (wrong + refused <= MOST_TOLD)
			environment_say("%s, ", words);
	}
	end_storms();
	environment_say("%u wrong, %u not checked, ", wrong, refused);
	fprintf(stderr, "%u passes\n", passes);
	environment_ask();
	environment_has_children = false;
	status = environment_end();
	return status;
}
