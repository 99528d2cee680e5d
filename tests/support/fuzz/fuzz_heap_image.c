#include "tests/support/fuzz/fuzz_heap_image.h"
#define FUZZ_TCACHE_MAX 32 /* above any default of tcache_count */
#define FUZZ_LARGE 20000   /* mmapped */

/* Written, so that no optimizer drops what is allocated for its place. */
static uintptr_t *
fuzz_block(size_t size)
{
	char *block = __libc_malloc(size);

	require(block != NULL);
	memset(block, 0, size);
	return (uintptr_t *)block;
}

/* Chains, a cycle and what is shared by two: something to be folded. */
static void
fuzz_link(void)
{
	uintptr_t *blocks[6];
	size_t i;

	for (i = 0; i < 6; i++)
		blocks[i] = fuzz_block(24 + 40 * i);
	for (i = 0; i < 5; i++)
		blocks[i][i % 2] = (uintptr_t)blocks[i + 1];
	blocks[3][2] = (uintptr_t)blocks[1];
	fuzz_block(100)[3] = (uintptr_t)blocks[4] + 8;
}

static void
fuzz_fill(struct mu_thread *thread)
{
	uintptr_t *small[FUZZ_TCACHE_MAX + 4], *large[4], *cached[3];
	size_t i;

	thread->tp = mu_arch_tp();
	thread->sp = mu_arch_sp();
	fuzz_link();
	for (i = 0; i < 4; i++) {
		large[i] = fuzz_block(3000 + 16 * i);
		fuzz_block(40);
	}
	for (i = 0; i < FUZZ_TCACHE_MAX + 4; i++)
		small[i] = fuzz_block(56);
	for (i = 0; i < 3; i++)
		cached[i] = fuzz_block(200);
	fuzz_block(1000);
	/* What fits nowhere sorts them; what is freed later stays unsorted. */
	for (i = 0; i < 3; i++)
		__libc_free(large[i]);
	fuzz_block(9000);
	__libc_free(large[3]);
	/* The tcache gets full of them; the others go where it leaves them. */
	for (i = 0; i < FUZZ_TCACHE_MAX + 4; i++)
		__libc_free(small[i]);
	for (i = 0; i < 3; i++)
		__libc_free(cached[i]);
}

struct fuzz_job {
	struct fuzz_heap *heap;
	struct mu_thread *thread;
};

static void *
fuzz_thread(void *arg)
{
	const struct fuzz_job *job = arg;

	fuzz_fill(job->thread);
	pthread_barrier_wait(&job->heap->ready);
	for (;;)
		pause();
	return NULL;
}

static void
fuzz_populate(struct fuzz_heap *heap)
{
	static struct fuzz_job jobs[FUZZ_THREADS];
	pthread_attr_t attributes;
	pthread_t thread;
	size_t i;

	mallopt(M_MMAP_THRESHOLD, 16 << 10);
	pthread_barrier_init(&heap->ready, NULL, FUZZ_THREADS);
	pthread_attr_init(&attributes);
	pthread_attr_setstacksize(&attributes, 128 << 10);
	for (i = 0; i < FUZZ_MMAPPED; i++)
		heap->mmapped[i] =
		    (uintptr_t)fuzz_block(FUZZ_LARGE + (i << 12));
	for (i = 1; i < FUZZ_THREADS; i++) {
		jobs[i] = (struct fuzz_job) { heap, &heap->threads[i] };
		require(pthread_create(
			    &thread, &attributes, fuzz_thread, &jobs[i]) == 0);
	}
	pthread_barrier_wait(&heap->ready);
	fuzz_fill(&heap->threads[0]);
	for (i = 0; i < FUZZ_THREADS; i++) {
		heap->threads[i].tid = getpid() + (pid_t)i;
		heap->threads[i].first_value = i;
		heap->threads[i].num_values = 1;
		heap->threads[i].calling = i == 0;
	}
}
#define FUZZ_MAPPING_MAX ((size_t)1 << 30)

/* Of the sanitizer's memory and the fuzzer's own nothing is looked at. */
static bool
fuzz_is_wanted(const struct fuzz_heap *heap, const struct mu_mapping *mapping)
{
	const struct mu_snapshot *snap = &heap->self.snap;
	struct mu_range whole;
	size_t i;

	if (mu_mapping_is_named(mapping, "[heap]") ||
	    mu_mapping_same_file(
		mapping, mu_snapshot_mapping(snap, snap->libc_address)) ||
	    mu_range_has(mapping->range, heap->glibc.main_arena))
		return true;
	for (i = 1; i < heap->glibc.num_arenas; i++) {
		whole.begin =
		    heap->glibc.arenas[i] - heap->glibc.layout->heap_header;
		whole.end = whole.begin + heap->glibc.heap_max;
		/* It may begin before: the kernel joins what touches. */
		if (mapping->range.begin < whole.end &&
		    mapping->range.end > whole.begin)
			return true;
	}
	for (i = 0; i < FUZZ_THREADS; i++)
		if (mu_range_has(mapping->range, heap->threads[i].tp) ||
		    mu_range_has(mapping->range, heap->threads[i].sp))
			return true;
	for (i = 0; i < FUZZ_MMAPPED; i++)
		if (mu_range_has(mapping->range, heap->mmapped[i]))
			return true;
	return false;
}

/*
 * Not by memcpy(): a sanitizer would object to its red zones on stacks. What
 * cannot be read stays zero: the guard pages of stacks, which since 2.42 may
 * be no mappings of their own (MADV_GUARD_INSTALL).
 */
static void
fuzz_copy_bytes(char *to, struct mu_range from)
{
	struct iovec local = { to, FUZZ_PAGE }, remote = local;
	uintptr_t at;
	long n;

	for (at = from.begin; at < from.end; at += FUZZ_PAGE) {
		local.iov_base = to + (at - from.begin);
		remote.iov_base = (void *)at;
		n = mu_syscall6(SYS_process_vm_readv, getpid(), (long)&local, 1,
		    (long)&remote, 1, 0);
		require(n == (long)FUZZ_PAGE || n == -EFAULT);
	}
}

static void
fuzz_copy_run(struct fuzz_run *run)
{
	size_t size = mu_range_size(run->range);
	char *place = mmap(NULL, size + 2 * FUZZ_PAGE, PROT_NONE,
	    MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	require(place != MAP_FAILED);
	run->copy = place + FUZZ_PAGE;
	require(mprotect(run->copy, size, PROT_READ | PROT_WRITE) == 0);
	fuzz_copy_bytes(run->copy, run->range);
}

static void
fuzz_copy(struct fuzz_heap *heap)
{
	const struct mu_snapshot *snap = &heap->self.snap;
	const struct mu_mapping *mapping;
	struct fuzz_run *run = NULL;
	size_t i;

	for (i = 0; i < snap->num_mappings; i++) {
		mapping = &snap->mappings[i];
		if (!fuzz_is_wanted(heap, mapping))
			continue;
		require(heap->num_mappings < FUZZ_MAPPINGS);
		heap->mappings[heap->num_mappings++] = *mapping;
		require(mu_range_size(mapping->range) < FUZZ_MAPPING_MAX);
		if (!mu_mapping_is_memory(mapping))
			continue;
		if (run != NULL && run->range.end == mapping->range.begin) {
			run->range.end = mapping->range.end;
			continue;
		}
		require(heap->num_runs < FUZZ_RUNS);
		run = &heap->runs[heap->num_runs++];
		run->range = mapping->range;
	}
	for (i = 0; i < heap->num_runs; i++)
		fuzz_copy_run(&heap->runs[i]);
}

void
fuzz_heap_make(struct fuzz_heap *heap)
{
	struct mu_snapshot *snap = &heap->self.snap;

	fuzz_populate(heap);
	require(self_snapshot_take(&heap->self, heap->threads, FUZZ_THREADS) ==
	    MU_OK);
	require(mu_glibc_find(&heap->glibc, NULL, snap, &heap->self.arena,
		    &heap->self.why) == MU_OK);
	require(heap->glibc.num_arenas == FUZZ_THREADS);
	fuzz_copy(heap);
}

struct fuzz_run *
fuzz_run_of(struct fuzz_heap *heap, uintptr_t address)
{
	size_t i;

	for (i = 0; i < heap->num_runs; i++)
		if (mu_range_has(heap->runs[i].range, address))
			return &heap->runs[i];
	return NULL;
}

uintptr_t *
fuzz_word(struct fuzz_heap *heap, uintptr_t address)
{
	struct fuzz_run *run = fuzz_run_of(heap, address);

	if (run == NULL || run->range.end - address < sizeof(uintptr_t))
		return NULL;
	return (uintptr_t *)(run->copy + (address - run->range.begin));
}

bool
fuzz_is_mapped(const struct mu_snapshot *snap, uintptr_t address, size_t size)
{
	const struct mu_mapping *mapping, *end;
	uintptr_t stop;

	if (size == 0 || __builtin_add_overflow(address, size, &stop))
		return false;
	end = snap->mappings + snap->num_mappings;
	for (mapping = snap->mappings; mapping < end; mapping++) {
		if (!mu_range_has(mapping->range, address))
			continue;
		if (!mu_mapping_is_memory(mapping))
			return false;
		if (mapping->range.end >= stop)
			return true;
		address = mapping->range.end;
	}
	return false;
}

/* A copy of small ones that has no byte more: a sanitizer sees the rest. */
static const void *
fuzz_exactly(struct fuzz_heap *heap, const char *bytes, size_t size)
{
	void *view;

	if (!heap->exact || size > FUZZ_PAGE || heap->num_views == FUZZ_VIEWS)
		return bytes;
	view = malloc(size);
	require(view != NULL);
	heap->views[heap->num_views++] = view;
	return memcpy(view, bytes, size);
}

const void *
fuzz_view(struct mu_memory *memory, uintptr_t address, size_t size)
{
	struct fuzz_heap *heap = memory->ctx;
	struct fuzz_run *run = fuzz_run_of(heap, address);

	if (run == NULL || !fuzz_is_mapped(&heap->snap, address, size) ||
	    size > run->range.end - address)
		return NULL;
	return fuzz_exactly(
	    heap, run->copy + (address - run->range.begin), size);
}

bool
fuzz_read(struct mu_memory *memory, struct mu_range range, void *buffer)
{
	struct fuzz_heap *heap = memory->ctx;
	struct fuzz_run *run = fuzz_run_of(heap, range.begin);
	size_t size = mu_range_size(range);

	if (size == 0)
		return true;
	if (run == NULL || size > run->range.end - range.begin ||
	    !fuzz_is_mapped(&heap->snap, range.begin, size))
		return false;
	memcpy(buffer, run->copy + (range.begin - run->range.begin), size);
	return true;
}

bool
fuzz_populated(
    struct mu_memory *memory, struct mu_range range, struct mu_range *part)
{
	const struct fuzz_heap *heap = memory->ctx;
	const struct mu_mapping *mapping = heap->snap.mappings;
	const struct mu_mapping *end = mapping + heap->snap.num_mappings;

	for (; mapping < end; mapping++) {
		*part = mapping->range;
		if (part->begin < range.begin)
			part->begin = range.begin;
		if (part->end > range.end)
			part->end = range.end;
		if (part->begin < part->end && mapping->writable &&
		    mu_mapping_is_memory(mapping))
			return true;
	}
	return false;
}
