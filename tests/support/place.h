/*
 * For the plays of where and when a pass must work: a program that has lost
 * some blocks and holds others makes two passes, and prints one line:
 *	complete by ptrace: exact; the same again; unharmed
 * or what there is instead. "exact" is: all blocks that were lost, nothing of
 * what is held, byte for byte. "unharmed" is: every thread runs on, and all
 * that place_state.h lists is as it was.
 *
 * No check here: these are whole programs, which a script judges.
 */
#ifndef TESTS_SUPPORT_PLACE_H
#define TESTS_SUPPORT_PLACE_H

#include <errno.h>
#include <sys/wait.h>

#include "tests/support/live.h"
#include "tests/support/place_lost.h"
#include "tests/support/place_state.h"

#define PLACE_THREADS 1024
#define PLACE_ERRNO 4242
#define PLACE_NAP_US 100000
#define PLACE_LOOKS 3000 /* 30 s at least */

/* How a thread passes its time. */
enum place_kind {
	PLACE_IDLE,     /* waits */
	PLACE_COMPUTES, /* makes no system call */
	PLACE_ALLOCATES,
	PLACE_BLOCKED, /* waits with every signal blocked that can be */
	PLACE_KINDS,
	PLACE_NAPS = PLACE_KINDS, /* allocates, sleeps, allocates, ... */
	PLACE_DEAF, /* waits with those blocked too that libc never blocks */
};

struct place_thread {
	pthread_t thread;
	uintptr_t hidden; /* a block that only its stack holds */
	enum place_kind kind;
	int answered;
};

static size_t place_lost_bytes, place_num_threads;
static struct place_thread place_threads[PLACE_THREADS];
static void *place_held; /* a block */
static int place_asked;  /* how often threads were asked whether they run */
static int place_output = 1;
static int place_parts = STATE_ALL;
static bool place_has_children; /* the program has children */
static bool place_small;        /* no 32 KiB of stack left to scrub */
static volatile sig_atomic_t place_children_ended;
static char place_words[512]; /* what the first pass said */
static char place_line[8192]; /* what was said since the last end of line */
static size_t place_line_length;
static volatile bool place_rests; /* no thread allocates now */
static int place_shown;           /* answers that were wrong */
static struct state place_was, place_is;

/* Adds to the line; its end lets it out. stdout may be closed, or half full. */
LIVE __attribute__((format(printf, 1, 2))) void
place_say(const char *format, ...)
{
	size_t room = sizeof(place_line) - place_line_length;
	va_list args;
	int n;

	va_start(args, format);
	n = vsnprintf(place_line + place_line_length, room, format, args);
	va_end(args);
	if (n < 0 || (size_t)n >= room)
		abort();
	place_line_length += (size_t)n;
	if (place_line[place_line_length - 1] != '\n')
		return;
	if (write(place_output, place_line, place_line_length) !=
	    (ssize_t)place_line_length)
		_exit(95);
	place_line_length = 0;
}

LIVE void
place_lose(size_t size)
{
	void *block = malloc(size);

	if (block == NULL)
		abort();
	memset(block, 0x5a, malloc_usable_size(block));
	place_lost_bytes += malloc_usable_size(block);
	place_lose_hidden(mu_hide(block));
}

/* One that is to be held. */
LIVE uintptr_t
place_new(size_t size)
{
	void *block = calloc(1, size);

	if (block == NULL)
		abort();
	return mu_hide(block);
}

LIVE void
place_plant(void)
{
	static const size_t sizes[PLACE_LOST] = { 24, 100, 5000, 90000,
		300000 };
	size_t i;

	for (i = 0; i < PLACE_LOST; i++)
		place_lose(sizes[i]);
	place_held = calloc(2, 40);
	*(void **)place_held = calloc(3, 400);
	scrub();
}

/* One round of what THREAD does. */
LIVE void
place_round(const struct place_thread *thread, int asked)
{
	char *volatile block;
	unsigned i;

	switch (thread->kind) {
	case PLACE_COMPUTES:
		for (i = 0; i < 10000; i++)
			__asm__ volatile("" : : "r"(i));
		break;
	case PLACE_ALLOCATES:
	case PLACE_NAPS:
		for (i = 0; i < 50 && !place_rests; i++) {
			block = malloc(20 + i * 97 % 4000);
			block[0] = 1;
			free(block);
		}
		if (thread->kind == PLACE_NAPS)
			usleep(4 * PLACE_NAP_US);
		break;
	default:
		futex(&place_asked, FUTEX_WAIT_PRIVATE, asked);
	}
}

LIVE void *
place_body(void *arg)
{
	struct place_thread *thread = arg;
	void *volatile held = mu_reveal(thread->hidden), *volatile block;
	sigset_t all;
	int asked;

	scrub_registers(); /* a new thread has those of its creator */
	/* Its arena: mapped before anybody looks at the mappings. */
	if (thread->kind == PLACE_ALLOCATES || thread->kind == PLACE_NAPS) {
		block = malloc(1);
		free(block);
	}
	if (thread->kind == PLACE_BLOCKED) {
		sigfillset(&all);
		pthread_sigmask(SIG_SETMASK, &all, NULL);
	} else if (thread->kind == PLACE_DEAF) {
		memset(&all, 0xff, sizeof(all));
		syscall(SYS_rt_sigprocmask, SIG_SETMASK, &all, NULL, 8);
	}
	for (;;) {
		asked = __atomic_load_n(&place_asked, __ATOMIC_SEQ_CST);
		__atomic_store_n(&thread->answered, asked, __ATOMIC_SEQ_CST);
		if (asked < 0)
			break;
		place_round(thread, asked);
	}
	free(held);
	return NULL;
}

/* Every thread is asked for a sign, and gives it; else for ever. */
LIVE void
place_ask_threads(int asked)
{
	size_t i;

	__atomic_store_n(&place_asked, asked, __ATOMIC_SEQ_CST);
	futex(&place_asked, FUTEX_WAKE_PRIVATE, INT_MAX);
	for (i = 0; i < place_num_threads; i++)
		while (__atomic_load_n(&place_threads[i].answered,
			   __ATOMIC_SEQ_CST) != asked)
			usleep(200);
}

LIVE void
place_start(enum place_kind kind, size_t stack_size)
{
	struct place_thread *thread = &place_threads[place_num_threads];
	pthread_attr_t attributes;

	if (place_num_threads == PLACE_THREADS)
		abort();
	thread->kind = kind;
	thread->hidden = place_new(72);
	thread->answered = -2;
	pthread_attr_init(&attributes);
	if (stack_size != 0)
		pthread_attr_setstacksize(&attributes, stack_size);
	if (pthread_create(&thread->thread, &attributes, place_body, thread))
		abort();
	pthread_attr_destroy(&attributes);
	place_num_threads++;
	scrub();
}

/* One of each kind. */
LIVE void
place_start_some(void)
{
	int kind;

	for (kind = 0; kind < PLACE_KINDS; kind++)
		place_start((enum place_kind)kind, 0);
}

LIVE void
place_end_threads(void)
{
	size_t i;

	place_ask_threads(-1);
	for (i = 0; i < place_num_threads; i++)
		pthread_join(place_threads[i].thread, NULL);
	place_num_threads = 0;
}

LIVE void
place_on_child(int signo)
{
	(void)signo;
	place_children_ended++;
}

/* What it is to be compared with; two looks, as the first may map memory. */
LIVE void
place_begin(void)
{
	struct sigaction action = { .sa_handler = place_on_child,
		.sa_flags = SA_RESTART | SA_NOCLDSTOP };

	if (!place_has_children)
		sigaction(SIGCHLD, &action, NULL);
	if (place_num_threads > 0)
		place_ask_threads(place_asked + 1);
	state_look(&place_was, place_parts);
	state_look(&place_was, place_parts);
}

/* The words for INFO: see above. True if it is exact. */
LIVE bool
place_tell(const struct UnreachableMemoryInfo *info, char *words, size_t size)
{
	static const char *const stops[] = { "none", "ptrace", "signal" };
	const char *status = memunreachable_status_name(info->status),
		   *stop = (unsigned)info->stop < 3 ? stops[info->stop] : "?";
	bool judged = info->status == MEMUNREACHABLE_COMPLETE ||
	    info->status == MEMUNREACHABLE_PARTIAL;
	bool exact = judged && info->num_leaks == PLACE_LOST &&
	    info->leak_bytes == place_lost_bytes;

	if (exact && info->reason[0] == '\0')
		snprintf(words, size, "%s by %s: exact", status, stop);
	else if (judged)
		snprintf(words, size,
		    "%s by %s: %zu of %d blocks, %zu of %zu bytes %s", status,
		    stop, info->num_leaks, PLACE_LOST, info->leak_bytes,
		    place_lost_bytes, info->reason);
	else
		snprintf(
		    words, size, "%s by %s: %s", status, stop, info->reason);
	return exact;
}

LIVE bool
place_pass(char *words, size_t size)
{
	struct UnreachableMemoryInfo info = { 0 };
	bool exact;

	if (place_small)
		scrub_registers();
	else
		scrub();
	errno = PLACE_ERRNO;
	GetUnreachableMemory(&info, 20);
	if (errno != PLACE_ERRNO)
		place_say("errno changed: ");
	exact = place_tell(&info, words, size);
	if (info.num_leaks > PLACE_LOST && place_shown++ < 2)
		show(&info);
	if (info.num_leaks < place_num_lost && place_shown++ < 2 &&
	    (info.status == MEMUNREACHABLE_COMPLETE ||
		info.status == MEMUNREACHABLE_PARTIAL))
		place_explain(&info);
	FreeUnreachableMemoryInfo(&info);
	return exact;
}

/* Two passes and what they said, without the end of the line. */
LIVE void
place_ask(void)
{
	char words[sizeof(place_words)];

	place_pass(place_words, sizeof(place_words));
	place_pass(words, sizeof(words));
	place_say("%s; ", place_words);
	if (strcmp(words, place_words) == 0)
		place_say("the same again; ");
	else
		place_say("then %s; ", words);
}

/*
 * Is all as it was? A thread that was parked in a handler has left it when the
 * pass returns, but may not have run since: its mask changes with its next
 * step. What stays is harm.
 */
LIVE bool
place_is_same(char *words, size_t size)
{
	int i;

	for (i = 0; i < PLACE_LOOKS; i++) {
		state_look(&place_is, place_parts);
		if (state_same(&place_was, &place_is, words, size))
			return true;
		usleep(PLACE_NAP_US / 10);
	}
	return false;
}

/* The rest of the line; the program's exit status. */
LIVE int
place_end(void)
{
	char words[sizeof(place_words)];

	if (place_num_threads > 0)
		place_ask_threads(place_asked + 1);
	if (!place_is_same(words, sizeof(words)))
		place_say("harmed: %s\n", words);
	else if (!place_has_children &&
	    (waitpid(-1, NULL, __WALL | WNOHANG) != -1 || errno != ECHILD))
		place_say("harmed: a child is left\n");
	else if (place_children_ended != 0)
		place_say("harmed: SIGCHLD came\n");
	else {
		place_say("unharmed\n");
		return 0;
	}
	return 1;
}

LIVE int
place_play(void)
{
	place_begin();
	place_ask();
	return place_end();
}

#endif
