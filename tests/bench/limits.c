/*
 * What the machine can do at best, in a buffer of ordinary 4 KiB pages:
 * reading in order, reading lines of 64 bytes in a random order where the next
 * address is known beforehand, and where it is what the last line says; fork()
 * with the buffer resident, and the first read of each page in the child, which
 * finds them without the accessed bit.
 *
 * Usage: limits MIB. Prints key=value, one line.
 */
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "heap.h"
#include "load.h"

#define LINE 64
#define WORDS (LINE / sizeof(uint64_t))
#define READS ((size_t)4000000)
#define ROUNDS 5

typedef uint64_t vector __attribute__((vector_size(16)));

struct part {
	const uint64_t *words;
	size_t count;
	uint64_t sum;
	pthread_t thread;
};

/* 128 bytes a round, by whatever vectors the compiler may use. */
static void *
read_in_order(void *argument)
{
	struct part *part = argument;
	const vector *v = (const vector *)part->words;
	size_t i, count = part->count * sizeof(uint64_t) / sizeof(*v);
	vector a = { 0 }, b = { 0 }, c = { 0 }, d = { 0 };

	for (i = 0; i + 8 <= count; i += 8) {
		a ^= v[i] ^ v[i + 4];
		b ^= v[i + 1] ^ v[i + 5];
		c ^= v[i + 2] ^ v[i + 6];
		d ^= v[i + 3] ^ v[i + 7];
	}
	a ^= b ^ c ^ d;
	part->sum += a[0] ^ a[1];
	return NULL;
}

/* Nanoseconds for all of it, by COUNT threads. */
static uint64_t
time_in_order(const uint64_t *words, size_t count, size_t threads)
{
	struct part parts[2] = { 0 };
	uint64_t began = bench_now_ns(), took;
	size_t i;

	for (i = 0; i < threads; i++) {
		parts[i].words = words + count / threads * i;
		parts[i].count = count / threads;
		if (i > 0)
			pthread_create(
			    &parts[i].thread, NULL, read_in_order, &parts[i]);
	}
	read_in_order(&parts[0]);
	for (i = 1; i < threads; i++)
		pthread_join(parts[i].thread, NULL);
	took = bench_now_ns() - began;
	__asm__ volatile("" : : "r"(parts[0].sum + parts[1].sum));
	return took;
}

static uint64_t
time_independent(const uint64_t *words, size_t lines, uint64_t random)
{
	uint64_t began = bench_now_ns(), sum = 0;
	size_t i;

	for (i = 0; i < READS; i++) {
		random = random * 6364136223846793005ull + 1;
		sum += words[(size_t)((unsigned __int128)random * lines >> 64) *
		    WORDS];
	}
	__asm__ volatile("" : : "r"(sum));
	return bench_now_ns() - began;
}

static uint64_t
time_dependent(const uint64_t *words, size_t reads)
{
	uint64_t began = bench_now_ns(), at = 0;
	size_t i;

	for (i = 0; i < reads; i++)
		at = words[at * WORDS];
	__asm__ volatile("" : : "r"(at));
	return bench_now_ns() - began;
}

/* One cycle through all lines: Sattolo's shuffle. */
static void
link_lines(uint64_t *words, size_t lines)
{
	uint64_t random = 7, next;
	size_t i, other;

	for (i = 0; i < lines; i++)
		words[i * WORDS] = i;
	for (i = lines - 1; i > 0; i--) {
		other = bench_random_below(&random, i);
		next = words[i * WORDS];
		words[i * WORDS] = words[other * WORDS];
		words[other * WORDS] = next;
	}
}

/* Nanoseconds that fork() takes; those of the child's reads to *READS_NS. */
static uint64_t
time_fork(const uint64_t *words, size_t count, uint64_t *reads_ns)
{
	uint64_t began, took, sum = 0;
	int ends[2];
	size_t i;
	pid_t child;

	*reads_ns = 0;
	if (pipe(ends) != 0)
		return 0;
	began = bench_now_ns();
	child = fork();
	took = bench_now_ns() - began;
	if (child == 0) {
		began = bench_now_ns();
		for (i = 0; i < count; i += BENCH_PAGE / sizeof(*words))
			sum += words[i];
		__asm__ volatile("" : : "r"(sum));
		began = bench_now_ns() - began;
		_exit(write(ends[1], &began, sizeof(began)) < 0);
	}
	if (child > 0) {
		if (read(ends[0], reads_ns, sizeof(*reads_ns)) < 0)
			*reads_ns = 0;
		waitpid(child, NULL, 0);
	}
	close(ends[0]);
	close(ends[1]);
	return took;
}

static double
least(double a, double b)
{
	return a == 0 || b < a ? b : a;
}

int
main(int argc, char **argv)
{
	size_t size = (argc > 1 ? strtoul(argv[1], NULL, 10) : 1024) << 20;
	size_t lines = size / LINE, count = size / sizeof(uint64_t);
	double one = 0, two = 0, apart = 0, chained = 0, forked = 0, pages = 0;
	uint64_t *words, reads;
	int i;

	words = mmap(NULL, size, PROT_READ | PROT_WRITE,
	    MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (words == MAP_FAILED || lines < 2)
		return 1;
	madvise(words, size, MADV_NOHUGEPAGE);
	link_lines(words, lines);
	for (i = 0; i < ROUNDS; i++) {
		one = least(one, (double)time_in_order(words, count, 1));
		two = least(two, (double)time_in_order(words, count, 2));
		apart = least(apart,
		    (double)time_independent(
			words, lines, (uint64_t)i * 977 + 1));
		chained =
		    least(chained, (double)time_dependent(words, READS / 4));
		forked = least(forked, (double)time_fork(words, count, &reads));
		pages = least(pages, (double)reads);
	}
	printf("sequential_gbs=%.2f sequential2_gbs=%.2f independent_ns=%.2f "
	       "dependent_ns=%.1f fork_ms=%.2f copied_ns=%.0f\n",
	    (double)size / one, (double)size / two, apart / (double)READS,
	    chained / (double)(READS / 4), forked / 1e6,
	    pages / ((double)size / (double)BENCH_PAGE));
	return 0;
}
