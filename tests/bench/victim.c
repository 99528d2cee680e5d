/*
 * A program with a generated heap that is checked as often as requested, so
 * that several of them, one a peer, can be asked in turn.
 *
 * Usage: victim [key=value...], with the keys of settings[] below. Says "ready"
 * and what it has, then answers each command on stdin with one line:
 *	check    one check, nothing else going on
 *	digest   one check with the whole report, and a digest of it
 *	tick     one check while a thread looks at the clock
 *	fork     a child that ends at once, while a thread looks at the clock
 *	still    as tick, with 100 ms of nothing in place of the check
 *	write    one check while a thread writes all over the heap
 *	hot      the same, most writes to few pages
 *	copy     as write, beside a child that lives for 300 ms
 *	dirty    write to every page, so that nothing of it is shared
 */
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "heap.h"
#include "load.h"
#include "peer.h"

#define COPY_LIVES_US 300000

static struct bench_plan plan;
static struct bench_heap heap;
static size_t threads, mappings;
static size_t lose_all, freed;
static char shape[16] = "graph";

static const struct setting {
	const char *name;
	size_t *value;
} settings[] = {
	{ "blocks", &plan.blocks },
	{ "edges", &plan.edges },
	{ "least", &plan.min_size }, /* bytes a block */
	{ "lost_every", &plan.lost_every },
	{ "arenas", &plan.arenas },
	{ "seed", &plan.seed },
	{ "lose_all", &lose_all },
	{ "freed", &freed }, /* enum bench_freed */
	{ "threads", &threads },
	{ "mappings", &mappings },
};

/* Said through no buffer of stdio: it would be one block more. */
static void __attribute__((format(printf, 1, 2))) say(const char *format, ...)
{
	static char line[1024];
	va_list args;
	int length;

	va_start(args, format);
	length = vsnprintf(line, sizeof(line), format, args);
	va_end(args);
	if (write(STDOUT_FILENO, line, (size_t)length) != length)
		_exit(1);
}

static bool
set(const char *word)
{
	const char *value = strchr(word, '=');
	size_t i, length;

	if (value == NULL)
		return false;
	length = (size_t)(value++ - word);
	if (length == 5 && strncmp(word, "shape", length) == 0) {
		snprintf(shape, sizeof(shape), "%s", value);
		return true;
	}
	for (i = 0; i < sizeof(settings) / sizeof(*settings); i++) {
		if (strlen(settings[i].name) == length &&
		    strncmp(word, settings[i].name, length) == 0) {
			*settings[i].value = strtoull(value, NULL, 10);
			return true;
		}
	}
	return false;
}

/* CPU time of this process and of the children that it waited for. */
static uint64_t
cpu_ns(void)
{
	struct rusage usage[2];
	uint64_t us = 0;
	int i;

	getrusage(RUSAGE_SELF, &usage[0]);
	getrusage(RUSAGE_CHILDREN, &usage[1]);
	for (i = 0; i < 2; i++)
		us += (uint64_t)(usage[i].ru_utime.tv_sec +
			  usage[i].ru_stime.tv_sec) *
			1000000 +
		    (uint64_t)(usage[i].ru_utime.tv_usec +
			usage[i].ru_stime.tv_usec);
	return us * 1000;
}

static void
say_answer(const struct bench_answer *answer, uint64_t began, uint64_t took)
{
	say("took_ns=%llu began_ns=%llu pause_ns=%llu total_ns=%llu "
	    "stopped=%zu lost=%zu lost_bytes=%zu digest=%llx status=%d ",
	    (unsigned long long)took, (unsigned long long)began,
	    (unsigned long long)answer->pause_ns,
	    (unsigned long long)answer->total_ns, answer->threads, answer->lost,
	    answer->lost_bytes, (unsigned long long)answer->digest,
	    answer->status);
}

static void
check(bool whole)
{
	static struct bench_answer answer;
	uint64_t cpu = cpu_ns(), began = bench_now_ns();

	bench_peer_check(&answer, whole, heap.low * BENCH_PAGE);
	say_answer(&answer, began, bench_now_ns() - began);
	say("cpu_ns=%llu reason=%s", (unsigned long long)(cpu_ns() - cpu),
	    answer.reason);
}

static void
fork_once(useconds_t lives)
{
	uint64_t took, began = bench_now_ns();
	pid_t child = fork();

	took = bench_now_ns() - began;
	if (child == 0) {
		if (lives > 0)
			usleep(lives);
		_exit(0);
	}
	waitpid(child, NULL, 0);
	say("took_ns=%llu", (unsigned long long)took);
}

static void
subject_check(void)
{
	check(false);
}

static void
subject_copy(void)
{
	fork_once(COPY_LIVES_US);
}

static void
write_during(void (*subject)(void), bool hot)
{
	struct bench_rates rates;

	if (!bench_writer(&heap, hot, subject, &rates)) {
		say("status=-1 reason=no writer");
		return;
	}
	say(" gap_ns=%llu before=%.3f during=%.3f slow_ns=%llu",
	    (unsigned long long)rates.gap_ns, rates.before, rates.during,
	    (unsigned long long)rates.slow_ns);
}

static void
tick_during(const char *command)
{
	uint64_t gap;

	if (!bench_ticker_begin()) {
		say("status=-1 reason=no ticker");
		return;
	}
	if (strcmp(command, "fork") == 0)
		fork_once(0);
	else if (strcmp(command, "still") == 0)
		usleep(100000);
	else
		check(false);
	gap = bench_ticker_end();
	say(" gap_ns=%llu", (unsigned long long)gap);
}

static void
obey(const char *command)
{
	if (strcmp(command, "check") == 0)
		check(false);
	else if (strcmp(command, "digest") == 0)
		check(true);
	else if (strcmp(command, "dirty") == 0)
		bench_dirty(&heap);
	else if (strcmp(command, "write") == 0)
		write_during(subject_check, false);
	else if (strcmp(command, "hot") == 0)
		write_during(subject_check, true);
	else if (strcmp(command, "copy") == 0)
		write_during(subject_copy, false);
	else if (strcmp(command, "tick") == 0 || strcmp(command, "fork") == 0 ||
	    strcmp(command, "still") == 0)
		tick_during(command);
	else
		say("status=-1 reason=no such command");
	say("\n");
}

static void
listen(void)
{
	char command[32];
	size_t length = 0;

	while (read(STDIN_FILENO, command + length, 1) == 1) {
		if (command[length] != '\n') {
			length += length + 1 < sizeof(command);
			continue;
		}
		command[length] = '\0';
		length = 0;
		obey(command);
	}
}

/* KiB that the process has resident, or 0. */
static unsigned long long
resident_kib(void)
{
	static char text[256];
	unsigned long long pages = 0;
	int fd = open("/proc/self/statm", O_RDONLY | O_CLOEXEC);
	ssize_t n = fd >= 0 ? read(fd, text, sizeof(text) - 1) : 0;
	char *field;

	if (fd >= 0)
		close(fd);
	text[n > 0 ? n : 0] = '\0';
	field = strchr(text, ' ');
	if (field != NULL)
		pages = strtoull(field, NULL, 10);
	return pages * 4;
}

int
main(int argc, char **argv)
{
	uint64_t began = bench_now_ns();
	int i;

	plan = bench_plan_default;
	for (i = 1; i < argc; i++) {
		if (!set(argv[i])) {
			fprintf(stderr, "victim: no setting %s\n", argv[i]);
			return 2;
		}
	}
	plan.shape = shape;
	plan.lose_all = lose_all != 0;
	plan.freed = (enum bench_freed)freed;
	bench_peer_begin();
	if (!bench_heap_build(&plan, &heap) || !bench_idle_threads(threads) ||
	    !bench_mappings(mappings)) {
		fprintf(stderr, "victim: no such heap, or no room\n");
		return 1;
	}
	say("ready peer=%s blocks=%zu bytes=%zu span=%zu lost=%zu "
	    "lost_bytes=%zu resident_kib=%llu built_ns=%llu\n",
	    bench_peer_name, heap.blocks, heap.bytes,
	    (size_t)((heap.high - heap.low + 1) * BENCH_PAGE), heap.lost,
	    heap.lost_bytes, resident_kib(),
	    (unsigned long long)(bench_now_ns() - began));
	listen();
	_exit(0); /* no check at exit */
}
