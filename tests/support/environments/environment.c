#include "tests/support/environments/environment.h"

/*
 * What the program of a play has lost, and who holds on to it after all.
 */

#define ENVIRONMENT_LOST 5

static size_t environment_num_lost;
static uintptr_t environment_lost[ENVIRONMENT_LOST]; /* hidden */

static __attribute__((noinline)) void
environment_lose_hidden(uintptr_t hidden)
{
	if (environment_num_lost < ENVIRONMENT_LOST)
		environment_lost[environment_num_lost++] = hidden;
}

static __attribute__((noinline)) bool
environment_show_reference(
    void *ctx, const struct MemunreachableReference *reference)
{
	char text[512];

	(void)ctx;
	memunreachable_format_reference(reference, text, sizeof(text));
	environment_say("[%s] ", text);
	return true;
}

/* Which references keep the lost blocks that were not found? */
static __attribute__((noinline)) void
environment_explain(const struct UnreachableMemoryInfo *info)
{
	size_t i, j;

	for (i = 0; i < environment_num_lost; i++) {
		for (j = 0; j < info->num_leaks; j++)
			if (info->leaks[j].begin == ~environment_lost[i])
				break;
		if (j < info->num_leaks)
			continue;
		environment_say("lost block %zu: ", i);
		memunreachable_why_reachable(mu_reveal(environment_lost[i]),
		    environment_show_reference, NULL);
	}
}
#define ENVIRONMENT_ERRNO 4242
#define ENVIRONMENT_LOOKS 3000 /* 30 s at least */

size_t environment_lost_bytes, environment_num_threads;
struct environment_thread environment_threads[ENVIRONMENT_THREADS];
static void *volatile environment_held; /* a block; written only */
int environment_asked; /* how often threads were asked whether they run */
int environment_output = 1;
int environment_parts = STATE_ALL;
bool environment_has_children; /* the program has children */
bool environment_small;        /* no 32 KiB of stack left to scrub */
static volatile sig_atomic_t environment_children_ended;
char environment_words[512]; /* what the first pass said */
static char
    environment_line[8192]; /* what was said since the last end of line */
static size_t environment_line_length;
volatile bool environment_rests; /* no thread allocates now */
static int environment_shown;    /* answers that were wrong */
static struct state environment_was, environment_is;

__attribute__((noinline)) __attribute__((format(printf, 1, 2))) void
environment_say(const char *format, ...)
{
	size_t room = sizeof(environment_line) - environment_line_length;
	va_list args;
	int n;

	va_start(args, format);
	n = vsnprintf(
	    environment_line + environment_line_length, room, format, args);
	va_end(args);
	if (n < 0 || (size_t)n >= room)
		abort();
	environment_line_length += (size_t)n;
	if (environment_line[environment_line_length - 1] != '\n')
		return;
	if (write(environment_output, environment_line,
		environment_line_length) != (ssize_t)environment_line_length)
		_exit(95);
	environment_line_length = 0;
}

static __attribute__((noinline)) void
environment_lose(size_t size)
{
	void *block = malloc(size);

	if (block == NULL)
		abort();
	memset(block, 0x5a, malloc_usable_size(block));
	environment_lost_bytes += malloc_usable_size(block);
	environment_lose_hidden(mu_hide(block));
}

/* One that is to be held. */
static __attribute__((noinline)) uintptr_t
environment_new(size_t size)
{
	void *block = calloc(1, size);

	if (block == NULL)
		abort();
	return mu_hide(block);
}

__attribute__((noinline)) void
environment_plant(void)
{
	static const size_t sizes[ENVIRONMENT_LOST] = { 24, 100, 5000, 90000,
		300000 };
	size_t i;

	for (i = 0; i < ENVIRONMENT_LOST; i++)
		environment_lose(sizes[i]);
	environment_held = calloc(2, 40);
	*(void **)environment_held = calloc(3, 400);
	scrub();
}

/* One round of what THREAD does. */
static __attribute__((noinline)) void
environment_round(const struct environment_thread *thread, int asked)
{
	char *volatile block;
	unsigned i;

	switch (thread->kind) {
	case ENVIRONMENT_COMPUTES:
		for (i = 0; i < 10000; i++)
			__asm__ volatile("" : : "r"(i));
		break;
	case ENVIRONMENT_ALLOCATES:
	case ENVIRONMENT_NAPS:
		for (i = 0; i < 50 && !environment_rests; i++) {
			block = malloc(20 + i * 97 % 4000);
			block[0] = 1;
			free(block);
		}
		if (thread->kind == ENVIRONMENT_NAPS)
			usleep(4 * ENVIRONMENT_NAP_US);
		break;
	default:
		futex(&environment_asked, FUTEX_WAIT_PRIVATE, asked);
	}
}

static __attribute__((noinline)) void *
environment_body(void *arg)
{
	struct environment_thread *thread = arg;
	void *volatile held = mu_reveal(thread->hidden), *volatile block;
	sigset_t all;
	int asked;

	scrub_registers(); /* a new thread has those of its creator */
	/* Its arena is mapped before the mappings are compared. */
	if (thread->kind == ENVIRONMENT_ALLOCATES ||
	    thread->kind == ENVIRONMENT_NAPS) {
		block = malloc(1);
		free(block);
	}
	if (thread->kind == ENVIRONMENT_BLOCKED) {
		sigfillset(&all);
		pthread_sigmask(SIG_SETMASK, &all, NULL);
	} else if (thread->kind == ENVIRONMENT_DEAF) {
		memset(&all, 0xff, sizeof(all));
		syscall(SYS_rt_sigprocmask, SIG_SETMASK, &all, NULL, 8);
	}
	for (;;) {
		asked = __atomic_load_n(&environment_asked, __ATOMIC_SEQ_CST);
		__atomic_store_n(&thread->answered, asked, __ATOMIC_SEQ_CST);
		if (asked < 0)
			break;
		environment_round(thread, asked);
	}
	free(held);
	return NULL;
}

__attribute__((noinline)) void
environment_ask_threads(int asked)
{
	size_t i;

	__atomic_store_n(&environment_asked, asked, __ATOMIC_SEQ_CST);
	futex(&environment_asked, FUTEX_WAKE_PRIVATE, INT_MAX);
	for (i = 0; i < environment_num_threads; i++)
		while (__atomic_load_n(&environment_threads[i].answered,
			   __ATOMIC_SEQ_CST) != asked)
			usleep(200);
}

__attribute__((noinline)) void
environment_start(enum environment_kind kind, size_t stack_size)
{
	struct environment_thread *thread =
	    &environment_threads[environment_num_threads];
	pthread_attr_t attributes;

	if (environment_num_threads == ENVIRONMENT_THREADS)
		abort();
	thread->kind = kind;
	thread->hidden = environment_new(72);
	thread->answered = -2;
	pthread_attr_init(&attributes);
	if (stack_size != 0)
		pthread_attr_setstacksize(&attributes, stack_size);
	if (pthread_create(
		&thread->thread, &attributes, environment_body, thread))
		abort();
	pthread_attr_destroy(&attributes);
	environment_num_threads++;
	scrub();
}

__attribute__((noinline)) void
environment_start_some(void)
{
	int kind;

	for (kind = 0; kind < ENVIRONMENT_KINDS; kind++)
		environment_start((enum environment_kind)kind, 0);
}

__attribute__((noinline)) void
environment_end_threads(void)
{
	size_t i;

	environment_ask_threads(-1);
	for (i = 0; i < environment_num_threads; i++)
		pthread_join(environment_threads[i].thread, NULL);
	environment_num_threads = 0;
}

static __attribute__((noinline)) void
environment_on_child(int signo)
{
	(void)signo;
	environment_children_ended++;
}

__attribute__((noinline)) void
environment_begin(void)
{
	struct sigaction action = { .sa_handler = environment_on_child,
		.sa_flags = SA_RESTART | SA_NOCLDSTOP };

	if (!environment_has_children)
		sigaction(SIGCHLD, &action, NULL);
	if (environment_num_threads > 0)
		environment_ask_threads(environment_asked + 1);
	state_look(&environment_was, environment_parts);
	state_look(&environment_was, environment_parts);
}

/* The words for INFO: see above. True if it is exact. */
static __attribute__((noinline)) bool
environment_report(
    const struct UnreachableMemoryInfo *info, char *words, size_t size)
{
	static const char *const stops[] = { "none", "ptrace", "signal" };
	const char *status = memunreachable_status_name(info->status),
		   *stop = (unsigned)info->stop < 3 ? stops[info->stop] : "?";
	bool checked = info->status == MEMUNREACHABLE_COMPLETE ||
	    info->status == MEMUNREACHABLE_PARTIAL;
	bool exact = checked && info->num_leaks == ENVIRONMENT_LOST &&
	    info->leak_bytes == environment_lost_bytes;

	if (exact && info->reason[0] == '\0')
		snprintf(words, size, "%s by %s: exact", status, stop);
	else if (checked)
		snprintf(words, size,
		    "%s by %s: %zu of %d blocks, %zu of %zu bytes %s", status,
		    stop, info->num_leaks, ENVIRONMENT_LOST, info->leak_bytes,
		    environment_lost_bytes, info->reason);
	else
		snprintf(
		    words, size, "%s by %s: %s", status, stop, info->reason);
	return exact;
}

__attribute__((noinline)) bool
environment_pass(char *words, size_t size)
{
	struct UnreachableMemoryInfo info = { 0 };
	bool exact;

	if (environment_small)
		scrub_registers();
	else
		scrub();
	errno = ENVIRONMENT_ERRNO;
	GetUnreachableMemory(&info, 20);
	if (errno != ENVIRONMENT_ERRNO)
		environment_say("errno changed: ");
	exact = environment_report(&info, words, size);
	if (info.num_leaks > ENVIRONMENT_LOST && environment_shown++ < 2)
		show(&info);
	if (info.num_leaks < environment_num_lost && environment_shown++ < 2 &&
	    (info.status == MEMUNREACHABLE_COMPLETE ||
		info.status == MEMUNREACHABLE_PARTIAL))
		environment_explain(&info);
	FreeUnreachableMemoryInfo(&info);
	return exact;
}

__attribute__((noinline)) void
environment_ask(void)
{
	char words[sizeof(environment_words)];

	environment_pass(environment_words, sizeof(environment_words));
	environment_pass(words, sizeof(words));
	environment_say("%s; ", environment_words);
	if (strcmp(words, environment_words) == 0)
		environment_say("the same again; ");
	else
		environment_say("then %s; ", words);
}

/*
 * Is all as it was? A thread that waited in the handler has left it when the
 * pass returns, but may not have run since: its mask changes with its next
 * step. What stays is harm.
 */
static __attribute__((noinline)) bool
environment_is_same(char *words, size_t size)
{
	int i;

	for (i = 0; i < ENVIRONMENT_LOOKS; i++) {
		state_look(&environment_is, environment_parts);
		if (state_same(&environment_was, &environment_is, words, size))
			return true;
		usleep(ENVIRONMENT_NAP_US / 10);
	}
	return false;
}

__attribute__((noinline)) int
environment_end(void)
{
	char words[sizeof(environment_words)];

	if (environment_num_threads > 0)
		environment_ask_threads(environment_asked + 1);
	if (!environment_is_same(words, sizeof(words)))
		environment_say("harmed: %s\n", words);
	else if (!environment_has_children &&
	    (waitpid(-1, NULL, __WALL | WNOHANG) != -1 || errno != ECHILD))
		environment_say("harmed: a child is left\n");
	else if (environment_children_ended != 0)
		environment_say("harmed: SIGCHLD came\n");
	else {
		environment_say("unharmed\n");
		return 0;
	}
	return 1;
}

__attribute__((noinline)) int
environment_play(void)
{
	environment_begin();
	environment_ask();
	return environment_end();
}
