/*
 * A daemon that reports its leaks whenever a signal arrives:
 *
 *	./watch_daemon &
 *	kill -s RTMIN+5 $!
 *
 * It serves requests until TERM or INT arrives, or as many as its argument
 * says.
 *
 *	cc watch_daemon.c $(pkg-config --cflags --libs memunreachable)
 */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include <memunreachable/memunreachable.h>

struct session {
	struct session *next;
	unsigned long number;
	char client[48];
};

static struct session *sessions;
static volatile sig_atomic_t ending;

static void
end(int signo)
{
	(void)signo;
	ending = 1;
}

static void
open_session(unsigned long number)
{
	struct session *session = calloc(1, sizeof(*session));

	if (session == NULL)
		return;
	session->number = number;
	snprintf(session->client, sizeof(session->client), "client %lu",
	    number % 10);
	session->next = sessions;
	sessions = session;
}

static void
close_session(void)
{
	struct session *session = sessions;

	if (session == NULL)
		return;
	sessions = session->next;
	/*
	 * The bug: every fourth session is removed from the list but not freed.
	 */
	if (session->number % 4 != 0)
		free(session);
}

static void
serve(unsigned long number)
{
	struct timespec pause = { 0, 50000000 }; /* 50 ms of work */

	open_session(number);
	nanosleep(&pause, NULL);
	close_session();
}

int
main(int argc, char **argv)
{
	unsigned long number, requests = 0; /* 0: no end */
	struct sigaction action;

	if (argc > 1)
		requests = strtoul(argv[1], NULL, 10);
	memset(&action, 0, sizeof(action));
	action.sa_handler = end;
	sigaction(SIGTERM, &action, NULL);
	sigaction(SIGINT, &action, NULL);

	if (!memunreachable_watch_signal(SIGRTMIN + 5)) {
		perror("memunreachable_watch_signal");
		return EXIT_FAILURE;
	}
	printf("For a report: kill -s RTMIN+5 %ld\n", (long)getpid());
	fflush(stdout);
	for (number = 1; !ending && (requests == 0 || number <= requests);
	     number++)
		serve(number);
	return EXIT_SUCCESS;
}
