/*
 * The kind of each place (heapwalk/roots/root_kinds.c, heapwalk/subject/tls.c),
 * and that it is no root where snap->reach excludes it. Threads are real ones.
 */
#include "heapwalk/heaps/glibc/pthread.h"
#include "heapwalk/subject/tls.h"
#include "tests/support/heaps/roots_found.h"
#include "tests/support/suite.h"

#ifndef MAP_FIXED_NOREPLACE
#define MAP_FIXED_NOREPLACE 0x100000
#endif

static char data[64] = "data", bss[64];
static __thread char tls_data[64] = "tls", tls_bss[64];
static struct mu_thread pair[2];

/* The addresses of one thread: stack, TLS, struct pthread. */
struct scene {
	pthread_barrier_t ready, done;
	uintptr_t sp;
	char *local, *data, *bss;
	void *pthread;
	pid_t tid;
};

static void
fill(struct scene *scene, char *local)
{
	memset(local, 'l', 64);
	tls_data[0] = tls_bss[0] = 'x';
	scene->local = local;
	scene->data = tls_data;
	scene->bss = tls_bss;
	scene->pthread = (void *)mu_arch_tp();
	scene->tid = gettid();
}

static void *
play(void *arg)
{
	struct scene *scene = arg;
	char local[64];

	fill(scene, local);
	scene->sp = mu_arch_sp();
	pthread_barrier_wait(&scene->ready);
	pthread_barrier_wait(&scene->done);
	return arg;
}

static pthread_t
start(struct scene *scene)
{
	pthread_t other;

	pthread_barrier_init(&scene->ready, NULL, 2);
	pthread_barrier_init(&scene->done, NULL, 2);
	ck_assert_int_eq(pthread_create(&other, NULL, play, scene), 0);
	pthread_barrier_wait(&scene->ready);
	pair[0] = thread;
	pair[1] = (struct mu_thread) { .tid = scene->tid,
		.sp = scene->sp,
		.tp = (uintptr_t)scene->pthread };
	found_snap.threads = pair;
	found_snap.num_threads = 2;
	return other;
}

static void
finish(struct scene *scene, pthread_t other)
{
	pthread_barrier_wait(&scene->done);
	pthread_join(other, NULL);
}

TEST(kinds)
{
	static struct scene here, there;
	char local[64];
	pthread_t other;

	fill(&here, local);
	data[0] = bss[0] = 'x';
	other = start(&there);
	found_find();
	ck_assert_int_eq(kind_of(data), MU_ROOT_GLOBALS);
	ck_assert_int_eq(kind_of(bss), MU_ROOT_GLOBALS);
	ck_assert_int_eq(kind_of(local), MU_ROOT_STACK);
	ck_assert_int_eq(kind_of(here.data), MU_ROOT_TLS);
	ck_assert_int_eq(kind_of(here.bss), MU_ROOT_TLS);
	ck_assert_int_eq(kind_of(here.pthread), MU_ROOT_TLS);
	ck_assert_int_eq(kind_of(there.local), MU_ROOT_STACK);
	ck_assert_int_eq(kind_of(there.data), MU_ROOT_TLS);
	ck_assert_int_eq(kind_of(there.bss), MU_ROOT_TLS);
	ck_assert_int_eq(kind_of(there.pthread), MU_ROOT_TLS);
	ck_assert_int_eq(found_times(here.data), 1);
	ck_assert_int_eq(found_times(there.data), 1);
	finish(&there, other);
}

/* As the kernel does where the memory behind has the same flags, but for the
   child of a fork. */
static void
join(const struct mu_mapping *mapping)
{
	size_t i = (size_t)(mapping - found_snap.mappings);

	if (found_snap.mappings[i].range.end !=
	    found_snap.mappings[i + 1].range.begin)
		return;
	found_snap.mappings[i].range.end = found_snap.mappings[i + 1].range.end;
	found_snap.num_mappings--;
	memmove(&found_snap.mappings[i + 1], &found_snap.mappings[i + 2],
	    (found_snap.num_mappings - i - 1) * sizeof(*found_snap.mappings));
}

/* Of one mapping, the bytes up to the end of .bss. */
TEST(memory_behind_bss)
{
	static char many[3 * 4096];
	char *last = many + sizeof(many) - 1, *behind;
	const struct mu_mapping *mapping;

	*last = 'x';
	image_open(&found_snap);
	mapping = mu_snapshot_mapping(&found_snap, (uintptr_t)last);
	ck_assert_ptr_nonnull(mapping);
	ck_assert_uint_eq(mapping->inode, 0);
	behind =
	    mmap((void *)mapping->range.end, image.page, PROT_READ | PROT_WRITE,
		MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE, -1, 0);
	ck_assert_ptr_eq(behind, (char *)mapping->range.end);
	*behind = 'x';
	image_open(&found_snap);
	join(mu_snapshot_mapping(&found_snap, (uintptr_t)last));
	ck_assert(mu_memory_self_look(&found_snap.memory, &image.pages));
	ck_assert_int_eq(mu_roots_find(&found_roots, &found_snap, &found_heap,
			     &image.arena, &found_why),
	    MU_OK);
	ck_assert_int_eq(kind_of(last), MU_ROOT_GLOBALS);
	ck_assert_int_eq(kind_of(behind), MU_ROOT_ANONYMOUS);
	munmap(behind, image.page);
}

/* 0 everything, 1 globals, 2 stacks, 3 tls, 4 regions, 5 registers. */
TEST_LOOP(left_out, 0, 6)
{
	static struct scene here, there;
	char local[64], *mapped = map_filled(1), *region = map_untouched(2);
	struct mu_range ranges[] = { { (uintptr_t)region,
	    (uintptr_t)region + 64 } };
	uintptr_t word = 0x123456, known = 0x654321, named = 0x777777;
	pthread_t other;

	region[0] = 'x';
	mprotect(region, image.page, PROT_READ);
	fill(&here, local);
	data[0] = bss[0] = 'x';
	other = start(&there);
	found_snap.values = &word;
	found_snap.num_values = 1;
	found_snap.kernel_values = &known;
	found_snap.num_kernel_values = 1;
	found_snap.root_values = &named;
	found_snap.num_root_values = 1;
	found_snap.root_regions = ranges;
	found_snap.num_root_regions = 1;
	found_snap.reach.no_globals = _i == 1;
	found_snap.reach.no_stacks = _i == 2;
	found_snap.reach.no_tls = _i == 3;
	found_snap.reach.no_regions = _i == 4;
	found_snap.reach.no_registers = _i == 5;
	found_find();
	ck_assert_int_eq(found_times(data), _i != 1);
	ck_assert_int_eq(found_times(bss), _i != 1);
	ck_assert_int_eq(found_times(local), _i != 2);
	ck_assert_int_eq(found_times(there.local), _i != 2);
	ck_assert_int_eq(has_value(there.sp), _i != 2);
	ck_assert_int_eq(found_times(here.data), _i != 3);
	ck_assert_int_eq(found_times(here.pthread), _i != 3);
	ck_assert_int_eq(found_times(there.bss), _i != 3);
	ck_assert_int_eq(found_times(there.pthread), _i != 3);
	ck_assert_int_eq(found_times(region), _i == 4 ? 1 : 2);
	ck_assert_int_eq(has_value(word), _i != 5);
	ck_assert_int_eq(found_times(mapped), 1);
	ck_assert(has_value(known));
	ck_assert(has_value(named));
	finish(&there, other);
}

/* Words in the place of a vector that is none. */
TEST(damaged_vectors)
{
	static const uintptr_t bad[] = { 0, 8, 1, UINTPTR_MAX - 7,
		UINTPTR_MAX & ~(uintptr_t)15, 0x1000 };
	char *page = map_filled(3);
	uintptr_t tp = (uintptr_t)page + image.page, count;
	struct mu_range none = { 0, 0 };
	struct mu_tls_module place;
	struct mu_tls tls;
	size_t i;

	mprotect(page + 2 * image.page, image.page, PROT_NONE);
	image_open(&found_snap);
	thread.tp = tp;
	for (i = 0; i < sizeof(bad) / sizeof(*bad); i++) {
		memcpy((char *)tp + MU_TCB_DTV, &bad[i], sizeof(bad[i]));
		mu_tls_find(&tls, &found_snap, &thread, none);
		ck_assert_uint_eq(mu_range_size(tls.vector), 0);
		ck_assert(!mu_tls_module(&tls, &found_snap, 0, &place));
		ck_assert(tls.storage.end > tls.storage.begin);
	}
	/* A number of modules for which there is no room. */
	for (count = 500; count < 70000; count *= 2) {
		uintptr_t vector[] = { count, 0, 1, 0 };
		uintptr_t at = tp + image.page - 600, middle = at + 16;

		memcpy((char *)at, vector, sizeof(vector));
		memcpy((char *)tp + MU_TCB_DTV, &middle, sizeof(middle));
		mu_tls_find(&tls, &found_snap, &thread, none);
		ck_assert_uint_eq(mu_range_size(tls.vector), 0);
	}
}

TEST(threads_without_tls)
{
	struct mu_range none = { 0, 0 };
	struct mu_tls tls;

	image_open(&found_snap);
	thread.tp = 0;
	mu_tls_find(&tls, &found_snap, &thread, none);
	ck_assert_uint_eq(mu_range_size(tls.storage), 0);
	thread.tp = 16;
	mu_tls_find(&tls, &found_snap, &thread, none);
	ck_assert_uint_eq(mu_range_size(tls.storage), 0);
	ck_assert_uint_eq(mu_range_size(tls.vector), 0);
}

SUITE(.setup = found_setup, .teardown = image_teardown);
