/*
 * victim_jemalloc THREADS ROUNDS [fork]: threads allocate and free by all
 * calls, sizes from 0 to 8 MiB, also by tcaches that they made; half of the
 * work is done by threads that end; if there are none, by main(). Then all
 * rest, the program prints "ready", its PID and the version of the allocator,
 * and waits for the end of its input. With fork it is a child that does so, in
 * which the other threads are not.
 */
#include <malloc.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#define SLOTS 4096
#define SHARED 1024

void *mallocx(size_t size, int flags) __attribute__((weak));
void sdallocx(void *block, size_t size, int flags) __attribute__((weak));
int mi_version(void) __attribute__((weak));
const char *tc_version(int *major, int *minor, const char **patch)
    __attribute__((weak));
int mallctl(const char *name, void *old, size_t *old_size, void *new_value,
    size_t size) __attribute__((weak));

static void *_Atomic shared[SHARED];
static _Atomic unsigned resting;
static unsigned rounds;
static pthread_barrier_t barrier;

struct lane {
	void *blocks[SLOTS];
	uint64_t seed;
	int tcache; /* MALLOCX_TCACHE() of one that it made */
};

static uint64_t
next(uint64_t *seed)
{
	*seed ^= *seed << 13;
	*seed ^= *seed >> 7;
	*seed ^= *seed << 17;
	return *seed;
}

static size_t
any_size(uint64_t *seed)
{
	uint64_t word = next(seed);

	switch (word % 64) {
	case 0:
		if ((word >> 8) % 8 != 0)
			return (word >> 11) % ((size_t)256 << 10);
		return (word >> 11) % ((size_t)8 << 20);
	case 1:
	case 2:
		return (word >> 8) % ((size_t)64 << 10);
	case 3:
		return 0;
	default:
		return (word >> 8) % 2048;
	}
}

static void *
any_block(struct lane *lane)
{
	size_t size = any_size(&lane->seed);
	uint64_t word = next(&lane->seed);
	void *block = NULL;

	switch (word % 9) {
	case 0:
		return calloc(3, size / 3 + 1);
	case 1:
		if (posix_memalign(
			&block, (size_t)8 << (word >> 8) % 12, size) != 0)
			abort();
		return block;
	case 2:
		size = (size_t)16 << (word >> 8) % 9;
		return aligned_alloc(size, size * ((word >> 20) % 5 + 1));
	case 3:
		return memalign((size_t)64 << (word >> 8) % 8, size);
	case 4:
		return valloc(size % 65536);
	case 5:
		if (mallctl != NULL) /* jemalloc; the shim has mallocx() */
			return mallocx(size + 1,
			    (int)((word >> 8) % 13) |
				((word >> 32) % 2 == 0 ? lane->tcache : 0));
		/* fallthrough */
	default:
		return malloc(size);
	}
}

static void
one(struct lane *lane)
{
	uint64_t word = next(&lane->seed);
	void **slot = &lane->blocks[(word >> 8) % SLOTS];
	size_t size;

	switch (word % 8) {
	case 0:
	case 1:
		free(*slot);
		*slot = NULL;
		break;
	case 2:
		*slot = realloc(*slot, any_size(&lane->seed) + 1);
		break;
	case 3: /* in place, mostly */
		if (*slot != NULL)
			*slot = realloc(
			    *slot, malloc_usable_size(*slot) * 5 / 4 + 1);
		break;
	case 4: /* freed by another thread */
		*slot = atomic_exchange(&shared[(word >> 32) % SHARED], *slot);
		break;
	case 5:
		if (*slot != NULL && mallctl != NULL) {
			size = malloc_usable_size(*slot);
			sdallocx(*slot, size,
			    (word >> 48) % 2 == 0 ? lane->tcache : 0);
			*slot = NULL;
		}
		break;
	default:
		free(*slot);
		*slot = any_block(lane);
		if (*slot != NULL && malloc_usable_size(*slot) > 8)
			memset(*slot, 1, 8);
	}
}

static void *
run_some(void *arg)
{
	unsigned i;

	for (i = 0; i < rounds; i++)
		one(arg);
	return NULL;
}

static int
make_tcache(void)
{
	unsigned index;
	size_t size = sizeof(index);

	return mallctl != NULL &&
		mallctl("tcache.create", &index, &size, NULL, 0) == 0
	    ? (int)(index + 2) << 8
	    : 0;
}

/* Its work is done by short threads in part. */
static void *
run(void *arg)
{
	struct lane *lane = arg;
	pthread_t thread;
	unsigned i;

	lane->tcache = make_tcache();
	for (i = 0; i < 4; i++) {
		run_some(arg);
		if (pthread_create(&thread, NULL, run_some, arg) != 0 ||
		    pthread_join(thread, NULL) != 0)
			abort();
	}
	pthread_barrier_wait(&barrier);
	resting++;
	for (;;)
		pause();
}

/*
 * Where memory is given back, jemalloc's leaves of the tree have nothing after
 * that. In mimalloc each of these blocks has a segment.
 */
static void
use_much(void)
{
	void *blocks[40];
	unsigned i;

	if (malloc((size_t)40 << 20) == NULL ||
	    memalign((size_t)64 << 20, (size_t)20 << 20) == NULL)
		abort();
	for (i = 0; i < 40; i++)
		blocks[i] = malloc((size_t)16 << 20);
	for (i = 0; i < 40; i++)
		free(blocks[i]);
}

int
main(int argc, char **argv)
{
	unsigned count = argc > 1 ? (unsigned)atoi(argv[1]) : 1, i;
	struct lane *lanes = calloc(count + 1, sizeof(*lanes));
	char mimalloc[16];
	const char *version = "none";
	size_t size = sizeof(version);
	pthread_t thread;
	char byte;

	rounds = argc > 2 ? (unsigned)atoi(argv[2]) : 10000;
	pthread_barrier_init(&barrier, NULL, count);
	for (i = 0; i < count; i++) {
		lanes[i].seed = 88172645463325252ull + i * 7919;
		if (pthread_create(&thread, NULL, run, &lanes[i]) != 0)
			abort();
	}
	if (count == 0) {
		lanes[0].seed = 88172645463325252ull;
		run_some(lanes);
	}
	while (resting < count)
		usleep(1000);
	use_much();
	usleep(50000);
	if (argc > 3 && fork() != 0) {
		wait(NULL);
		return 0;
	}
	if (mallctl != NULL)
		mallctl("version", &version, &size, NULL, 0);
	if (mi_version != NULL) {
		snprintf(mimalloc, sizeof(mimalloc), "%d", mi_version());
		version = mimalloc;
	}
	if (tc_version != NULL)
		version = strchr(tc_version(NULL, NULL, NULL), ' ') + 1;
	dprintf(1, "ready %d %s\n", (int)getpid(), version);
	while (read(0, &byte, 1) > 0)
		;
	return 0;
}
