/*
 * A program that asks while other threads of it do something again and again:
 * see tests/support/environment.h for what it prints. Every pass is exact, or
 * says why it could not check; signals that were queued arrive, once each; what
 * the threads have set stays set.
 *
 * Usage: victim_storm STORM...
 */
#include <sys/time.h>

#include "tests/support/environment_storms.h"

#define STORMERS 8
#define PASSES 12
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

/* What the program sets before any storm, and still has afterwards. */
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
		/* As environment_begin() saw it. */
		catch_signal(SIGURG, on_other);
	}
}

int
main(int argc, char **argv)
{
	char words[sizeof(environment_words)];
	unsigned passes, wrong = 0, refused = 0;
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
	for (passes = 0; passes < PASSES || !all_have_stormed(); passes++) {
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
