/*
 * Loses blocks of all shapes, asks the library about them, prints the answer,
 * and waits to be checked from outside: see test_core_files.c.
 *
 * Usage: victim_core THREADS
 *	all 14 304120			blocks and bytes that are lost
 *	leak 55d0c8a012a0 56 4 280	address, size, referenced count, total
 *	ready
 */
#include <dlfcn.h>
#include <sys/mman.h>

#include "tests/support/built.h"
#include "tests/support/live.h"

#define MOST_THREADS 16
#define MMAPPED 300000   /* bytes, above M_MMAP_THRESHOLD */
#define UNTOUCHED 120000 /* below it, and more than was ever freed */

struct held {
	void *global, *in_block, *code;
};

static struct held *volatile held;
static __thread void *volatile of_thread;
static struct worker workers[MOST_THREADS];
static pthread_mutex_t one_at_a_time = PTHREAD_MUTEX_INITIALIZER;

/* This work leaves links in tcache, bins and top. */
LIVE void
churn(unsigned rounds)
{
	void *blocks[64] = { NULL };
	unsigned i;

	for (i = 0; i < rounds; i++) {
		free(blocks[i % 64]);
		blocks[i % 64] = calloc(1, 24 + i * 37 % 3000);
	}
	for (i = 0; i < 64; i++)
		free(blocks[i]);
}

LIVE void
lose_chain(size_t count)
{
	uintptr_t next = block_new(48), one;

	for (; count > 1; count--) {
		one = block_new(48);
		block_link(one, 0, next);
		next = one;
	}
}

LIVE void
lose_cycle(void)
{
	uintptr_t a = block_new(200), b = block_new(72), c = block_new(1000);

	block_link(a, 8, b);
	block_link(b, 16, c);
	block_link(c, 24, a);
}

/* The second page is closed, as below a stack that malloc() gave. */
LIVE void
lose_guarded(void *block)
{
	uintptr_t page = (uintptr_t)block + 2 * 4096 - 1;

	page -= page % 4096;
	if (block == NULL || mprotect((char *)page, 4096, PROT_NONE) != 0)
		abort();
}

/* Memory from malloc that is code: words at any byte refer. */
LIVE void
hold_code(void)
{
	char *code = block_fresh(4096, 8192);
	uintptr_t word = (uintptr_t)block_fresh(0, 111);

	memcpy(code + 4097, &word, sizeof(word));
	if (mprotect(code, 8192, PROT_READ | PROT_EXEC) != 0)
		abort();
	held->code = code;
}

LIVE void
hold(void)
{
	held = block_fresh(0, sizeof(*held));
	held->global = block_fresh(0, 400);
	held->in_block = block_fresh(0, MMAPPED);
	hold_code();
}

LIVE void
body(struct worker *worker)
{
	void *volatile on_stack;

	pthread_mutex_lock(&one_at_a_time);
	churn(500);
	on_stack = block_fresh(0, 333);
	of_thread = block_fresh(0, 555);
	block_new(1024 + 16 * (size_t)(worker - workers));
	pthread_mutex_unlock(&one_at_a_time);
	scrub();
	worker_park(worker);
	(void)on_stack;
}

/* Like worker_start(), but outside of a test. */
LIVE void
begin(struct worker *worker)
{
	worker->body = body;
	if (pthread_create(&worker->thread, NULL, worker_main, worker) != 0)
		abort();
	worker_await(worker, 1);
}

LIVE void
tell(void)
{
	struct UnreachableMemoryInfo info = { 0 };
	size_t i;

	GetUnreachableMemory(&info, 1000);
	if (info.status != MEMUNREACHABLE_COMPLETE)
		printf("not checked: %s\n", info.reason);
	printf("all %zu %zu\n", info.num_leaks, info.leak_bytes);
	for (i = 0; i < info.num_reported; i++)
		printf("leak %zx %zu %zu %zu\n", (size_t)info.leaks[i].begin,
		    info.leaks[i].size, info.leaks[i].referenced_count,
		    info.leaks[i].total_size);
	FreeUnreachableMemoryInfo(&info);
	fflush(stdout);
}

/* The memory between its segments cannot be read. */
LIVE void
load_holes(void)
{
	char path[PATH_MAX];

	built_path("tests/support/shims/hole_shim.so", path);
	if (dlopen(path, RTLD_NOW) == NULL)
		abort();
}

int
main(int argc, char **argv)
{
	int threads = argc > 1 ? atoi(argv[1]) : 1, i;
	static char buffer[16384];

	setvbuf(stdout, buffer, _IOFBF, sizeof(buffer));
	load_holes();
	churn(2000);
	for (i = 0; i + 1 < threads && i < MOST_THREADS; i++)
		begin(&workers[i]);
	hold();
	of_thread = block_fresh(0, 777);
	lose_chain(5);
	lose_cycle();
	block_new(33);
	block_new(MMAPPED);
	lose_guarded(block_fresh(0, 32768));
	lose_guarded(block_fresh(0, MMAPPED));
	lose_guarded(malloc(MMAPPED));
	lose_guarded(malloc(UNTOUCHED));
	churn(1000);
	scrub();
	tell();
	memset(buffer, 0, sizeof(buffer));
	scrub();
	printf("ready\n");
	fflush(stdout);
	for (;;)
		pause();
}
