/* Views of another process's memory: that of a child, which began as ours. */
#include "heapwalk/memory/remote_memory.h"
#include "mu/sys.h"
#include "ptrace/live/mappings.h"
#include "tests/support/pthread_workers.h"
#include "tests/support/suite.h"

#define PAGE ((size_t)4096)
#define SMALL ((size_t)1 << 20)
#define LARGE ((size_t)8 << 20)
#define SLOW ((size_t)64 << 20)
#define FILE_PAGES 64
#define SPARSE ((size_t)1 << 40)
#define PAGES 4096 /* 16 MiB: as many as several workers share */

struct fixture {
	pid_t child;
	int memory, pagemap;
	char *area;  /* PAGES, some of them written */
	char *holes; /* three mappings that touch, the middle one PROT_NONE */
	char *file;  /* FILE_PAGES of one, the middle one written */
	char *shared, *large, *slow;
	char *sparse; /* SPARSE, some pages of it written; NULL: there is no
			 room */
	struct mu_snapshot snap;
	struct mu_remote_memory remote;
	struct mu_arena arena;
	struct mu_why why;
};

static struct fixture fixture;
static size_t window; /* bytes; 0: none */
static const char constant[] = "a constant of the program";

static char *
map(size_t size, int flags)
{
	char *at = mmap(NULL, size, PROT_READ | PROT_WRITE,
	    flags | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

	ck_assert_ptr_ne(at, MAP_FAILED);
	return at;
}

/* Page I was written if it is one of these. */
static bool
is_written(size_t i)
{
	return i % 7 == 3 || (i >= 1000 && i < 1800);
}

static char *
map_file(void)
{
	FILE *file = tmpfile();
	char *at;

	ck_assert_ptr_nonnull(file);
	ck_assert_int_eq(ftruncate(fileno(file), FILE_PAGES * PAGE), 0);
	at = mmap(NULL, FILE_PAGES * PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE,
	    fileno(file), 0);
	ck_assert_ptr_ne(at, MAP_FAILED);
	fclose(file);
	at[FILE_PAGES / 2 * PAGE] = 'w';
	return at;
}

/* Where a page of the sparse memory is written, in the order of addresses. */
static const size_t sparse_written[] = { 0, (size_t)1 << 30,
	((size_t)70 << 30) + PAGE, ((size_t)300 << 30) + 5 * PAGE,
	SPARSE - PAGE };
#define NUM_SPARSE (sizeof(sparse_written) / sizeof(*sparse_written))

static char *
map_sparse(void)
{
	char *at = mmap(NULL, SPARSE, PROT_READ | PROT_WRITE,
	    MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	size_t i;

	if (at == MAP_FAILED)
		return NULL;
	madvise(at, SPARSE, MADV_NOHUGEPAGE);
	for (i = 0; i < NUM_SPARSE; i++)
		at[sparse_written[i]] = (char)(i + 1);
	return at;
}

static void
write_memory(void)
{
	size_t i;

	fixture.area = map(PAGES * PAGE, MAP_PRIVATE);
	madvise(fixture.area, PAGES * PAGE, MADV_NOHUGEPAGE);
	for (i = 0; i < PAGES; i++)
		if (is_written(i))
			memset(
			    fixture.area + i * PAGE, (int)(i % 251 + 1), PAGE);
	fixture.holes = map(3 * PAGE, MAP_PRIVATE);
	memset(fixture.holes, 'h', 3 * PAGE);
	mprotect(fixture.holes + PAGE, PAGE, PROT_NONE);
	fixture.shared = map(4 * PAGE, MAP_SHARED);
	fixture.shared[PAGE] = 's';
	fixture.large = map(LARGE, MAP_SHARED);
	fixture.large[PAGE] = 'l';
	fixture.file = map_file();
}

static int
open_file(pid_t pid, const char *name)
{
	char path[64];
	int fd;

	snprintf(path, sizeof(path), "/proc/%d/%s", pid, name);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	ck_assert_int_ge(fd, 0);
	return fd;
}

static enum mu_status
open_with(size_t limit, const struct mu_remote_part *parts, size_t count)
{
	struct mu_remote_source source = {
		.parts = parts,
		.num_parts = count,
		.has_parts = parts != NULL,
		.memory = fixture.memory,
		.pagemap = fixture.pagemap,
		.shared_pagemap = fixture.pagemap,
		.page_size = PAGE,
		.window = window,
	};

	return mu_remote_memory_open(&fixture.snap.memory, &fixture.remote,
	    &source, fixture.snap.mappings, fixture.snap.num_mappings, limit,
	    &fixture.arena, &fixture.why);
}

static void
setup(void)
{
	int status;

	write_memory();
	fixture.child = fork();
	if (fixture.child == 0) {
		/* A fork copies no page tables of shared memory. */
		fixture.shared[PAGE] = 's';
		fixture.large[PAGE] = 'l';
		raise(SIGSTOP);
		_exit(0);
	}
	ck_assert_int_eq(
	    waitpid(fixture.child, &status, WUNTRACED), fixture.child);
	ck_assert(WIFSTOPPED(status));
	fixture.memory = open_file(fixture.child, "mem");
	fixture.pagemap = open_file(fixture.child, "pagemap");
	mu_arena_open(&fixture.arena, 1 << 30);
	ck_assert_int_eq(
	    mu_mappings_read(fixture.child, &fixture.snap.mappings,
		&fixture.snap.num_mappings, &fixture.arena, &fixture.why),
	    MU_OK);
	ck_assert_int_eq(open_with((size_t)1 << 30, NULL, 0), MU_OK);
}

static void
teardown(void)
{
	kill(fixture.child, SIGKILL);
	waitpid(fixture.child, NULL, 0);
	mu_remote_memory_close(&fixture.snap.memory);
	mu_arena_close(&fixture.arena);
	close(fixture.memory);
	close(fixture.pagemap);
}

static const char *
view(const void *at, size_t size)
{
	return mu_snapshot_view(&fixture.snap, (uintptr_t)at, size);
}

static bool
populated(const void *at, size_t size, struct mu_range *part)
{
	return fixture.snap.memory.ops->populated(&fixture.snap.memory,
	    (struct mu_range) { (uintptr_t)at, (uintptr_t)at + size }, part);
}

/* _i: by how many threads. */
START_TEST(all_of_it_is_seen)
{
	struct mu_workers workers = pthread_workers((unsigned)_i);
	const char *seen;

	fixture.remote.workers = &workers;
	seen = view(fixture.area + 17, PAGES * PAGE - 17);
	ck_assert(memcmp(seen, fixture.area + 17, PAGES * PAGE - 17) == 0);
	ck_assert_ptr_ne(seen, fixture.area + 17);
	ck_assert_uint_eq(fixture.snap.memory.skipped_pages, 0);
	/* The same address for every caller. */
	ck_assert_ptr_eq(
	    view(fixture.area + 5 * PAGE, 1), seen + 5 * PAGE - 17);
}

START_TEST(piece_by_piece)
{
	size_t i, at, size;
	const char *seen;

	srand(7);
	for (i = 0; i < 2000; i++) {
		at = (size_t)rand() % (PAGES * PAGE - 1);
		size = 1 + (size_t)rand() % 100000;
		if (size > PAGES * PAGE - at)
			size = PAGES * PAGE - at;
		seen = view(fixture.area + at, size);
		ck_assert_ptr_nonnull(seen);
		ck_assert(memcmp(seen, fixture.area + at, size) == 0);
	}
}

static char copied[16 * PAGE];

/* Reading in order gives the same bytes as a view; only with a window. */
START_TEST(pages_are_copied)
{
	struct mu_memory *memory = &fixture.snap.memory;
	uintptr_t at;
	size_t i;

	ck_assert_int_eq(
	    memory->ops->read(memory, (struct mu_range) { 0, 0 }, NULL),
	    window > 0);
	for (i = 0; i + 16 <= PAGES && window > 0; i += 11) {
		at = (uintptr_t)fixture.area + i * PAGE;
		ck_assert(memory->ops->read(memory,
		    (struct mu_range) { at, at + sizeof(copied) }, copied));
		ck_assert_mem_eq(copied, (const char *)at, sizeof(copied));
	}
	at = (uintptr_t)constant & ~(PAGE - 1);
	if (window > 0) {
		ck_assert(memory->ops->read(
		    memory, (struct mu_range) { at, at + PAGE }, copied));
		ck_assert_mem_eq(copied, (const char *)at, PAGE);
	}
	/* Not where the program has nothing, nor beyond an end. */
	ck_assert(!memory->ops->read(
	    memory, (struct mu_range) { PAGE, 2 * PAGE }, copied));
}

START_TEST(what_is_populated)
{
	struct mu_range part;
	size_t i;

	for (i = 0; i < PAGES; i++)
		ck_assert_int_eq(
		    populated(fixture.area + i * PAGE, PAGE, &part),
		    is_written(i));
	ck_assert(populated(fixture.area + 1000 * PAGE + 5, 900 * PAGE, &part));
	ck_assert_uint_eq(
	    part.begin, (uintptr_t)fixture.area + 1000 * PAGE + 5);
	ck_assert(part.end == (uintptr_t)fixture.area + 1800 * PAGE);
}

static uint64_t
cpu_ns(void)
{
	struct timespec at;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &at);
	return (uint64_t)at.tv_sec * MU_NS_PER_SEC + (uint64_t)at.tv_nsec;
}

/* Begin again with a child that has the sparse memory. */
static bool
reopen_sparse(void)
{
	fixture.sparse = map_sparse();
	if (fixture.sparse == NULL) {
		printf("SKIPPED: no room for a large mapping\n");
		return false;
	}
	teardown();
	setup();
	return true;
}

/*
 * Memory of which next to nothing was written, such as a sanitizer's shadow,
 * takes no longer than a few times what it takes to find what was. It took 30
 * times that.
 */
START_TEST(sparse_memory_is_skipped)
{
	uint64_t began, found;
	struct mu_range part = { 0, 0 };
	size_t i, at = 0;

	if (!reopen_sparse())
		return;
	began = cpu_ns();
	for (i = 0; i < NUM_SPARSE; i++, at += PAGE) {
		ck_assert(populated(fixture.sparse + at, SPARSE - at, &part));
		at = part.begin - (uintptr_t)fixture.sparse;
		ck_assert_uint_eq(at, sparse_written[i]);
	}
	found = cpu_ns() - began;
	began = cpu_ns();
	ck_assert(mu_remote_memory_fill(
	    &fixture.snap.memory, mu_sys_now_ns() + 600 * MU_NS_PER_SEC));
	ck_assert_uint_lt(cpu_ns() - began, 10 * found);
	for (i = 0; i < NUM_SPARSE; i++)
		ck_assert_int_eq(
		    *view(fixture.sparse + sparse_written[i], 1), (int)i + 1);
	munmap(fixture.sparse, SPARSE);
}

/* Reading after the last part ends, also in the middle of a page. */
START_TEST(nothing_is_not_populated)
{
	struct mu_range part;

	ck_assert(is_written(1000));
	ck_assert(!populated(fixture.area + 1000 * PAGE, 0, &part));
	ck_assert(!populated(fixture.area + 1001 * PAGE - 16, 0, &part));
}

START_TEST(constants_are_seen)
{
	struct mu_range part;
	const char *seen = view(constant, sizeof(constant));

	ck_assert_str_eq(seen, constant);
	/* As the file has it. */
	ck_assert(!populated(constant, sizeof(constant), &part));
}

/* A page of a file may be on a mount that does not answer. */
START_TEST(files_are_read_when_asked_for)
{
	size_t before = fixture.remote.read;

	ck_assert_int_eq(*view(fixture.file + FILE_PAGES / 2 * PAGE, 1), 'w');
	ck_assert_uint_eq(fixture.remote.read - before, PAGE);
	ck_assert_int_eq(*view(fixture.file, 1), 0);
	ck_assert_uint_gt(fixture.remote.read - before, PAGE);
}

START_TEST(shared_memory_is_seen)
{
	struct mu_range part;
	const char *seen = view(fixture.shared, 4 * PAGE);

	ck_assert(memcmp(seen, fixture.shared, 4 * PAGE) == 0);
	/* Untouched memory may hold data all the same. */
	ck_assert(populated(fixture.shared, 4 * PAGE, &part));
	ck_assert_uint_eq(part.begin, (uintptr_t)fixture.shared);
	ck_assert_uint_eq(part.end, (uintptr_t)fixture.shared + 4 * PAGE);
	ck_assert(populated(fixture.large, LARGE, &part));
	ck_assert_uint_eq(part.begin, (uintptr_t)fixture.large + PAGE);
	ck_assert_uint_eq(part.end, (uintptr_t)fixture.large + 2 * PAGE);
	ck_assert_uint_ge(fixture.remote.unasked, LARGE);
}

/* The value at the stop, or the present one; no other is right. */
START_TEST(known_parts_are_seen)
{
	static char known[2 * PAGE];
	uintptr_t at = (uintptr_t)fixture.large;
	const struct mu_remote_part parts[] = {
		{ { at + PAGE, at + 2 * PAGE }, NULL, false },
		{ { at + 2 * PAGE, at + 4 * PAGE }, known, false },
	};
	struct mu_range part;
	const char *seen;

	memset(known, 'k', sizeof(known));
	mu_remote_memory_close(&fixture.snap.memory);
	ck_assert_int_eq(open_with(SIZE_MAX, parts, 2), MU_OK);
	ck_assert(populated(fixture.large, LARGE, &part));
	ck_assert_uint_eq(part.begin, at + PAGE);
	ck_assert_uint_eq(part.end, at + 4 * PAGE);
	ck_assert(!populated(fixture.shared, 4 * PAGE, &part));
	seen = view(fixture.large, LARGE);
	ck_assert_int_eq(seen[PAGE], 'l');
	ck_assert_int_eq(seen[2 * PAGE], 'k');
	ck_assert_int_eq(seen[4 * PAGE - 1], 'k');
	ck_assert_int_eq(seen[4 * PAGE], 0);
}

/* Whatever is seen of them, the reading ends. */
START_TEST(parts_that_overlap_are_read)
{
	static char known[2 * PAGE];
	uintptr_t at = (uintptr_t)fixture.large;
	const struct mu_remote_part parts[] = {
		{ { at, at + 4 * PAGE }, NULL, false },
		{ { at + PAGE, at + 3 * PAGE }, known, false },
	};

	mu_remote_memory_close(&fixture.snap.memory);
	ck_assert_int_eq(open_with(SIZE_MAX, parts, 2), MU_OK);
	ck_assert_int_eq(view(fixture.large, 4 * PAGE)[PAGE], 'l');
}

START_TEST(closed_memory_is_opened)
{
	const char *seen;

	ck_assert_ptr_null(view(fixture.holes, 3 * PAGE));
	ck_assert_ptr_null(view(fixture.holes + PAGE, 1));
	ck_assert_ptr_nonnull(view(fixture.holes, PAGE));
	mu_remote_memory_unlock(&fixture.snap.memory, fixture.snap.mappings,
	    fixture.snap.num_mappings);
	seen = view(fixture.holes, 3 * PAGE);
	ck_assert_int_eq(seen[PAGE], 'h');
	ck_assert_int_eq(seen[2 * PAGE - 1], 'h');
}

START_TEST(nothing_else_is_seen)
{
	ck_assert_ptr_null(view(NULL, 1));
	ck_assert_ptr_null(view(fixture.area, 0));
	ck_assert_ptr_null(view(fixture.area, SIZE_MAX));
	ck_assert_ptr_null(view((char *)UINTPTR_MAX - 7, 8));
	ck_assert_ptr_null(view(fixture.area, (size_t)1 << 45));
}

/*
 * Filled pages keep their contents; pages that are requested late are not read.
 */
START_TEST(filled_and_detached)
{
	const char *seen;

	ck_assert(mu_remote_memory_fill(&fixture.snap.memory, UINT64_MAX));
	ck_assert_int_eq(kill(fixture.child, SIGKILL), 0);
	waitpid(fixture.child, NULL, 0);
	mu_remote_memory_detach(&fixture.snap.memory);
	seen = view(fixture.area, PAGES * PAGE);
	ck_assert(memcmp(seen, fixture.area, PAGES * PAGE) == 0);
	ck_assert_ptr_null(view(constant, sizeof(constant)));
}

START_TEST(more_than_may_be)
{
	mu_remote_memory_close(&fixture.snap.memory);
	ck_assert_int_eq(open_with(100 * PAGE, NULL, 0), MU_ERR_NO_MEMORY);
	/* AddressSanitizer's shadow is more than there is room for. */
	ck_assert(strstr(fixture.why.text, "MiB") != NULL ||
	    strstr(fixture.why.text, "address space") != NULL);
}

/* Memory that must be read in a stop and takes long. */
static void
setup_slow(void)
{
	fixture.slow = map(SLOW, MAP_PRIVATE);
	memset(fixture.slow, 1, SLOW);
	setup();
}

/* The first bytes take a second. */
static void
run_slowly(
    struct mu_workers *workers, unsigned count, mu_worker_body *body, void *ctx)
{
	(void)count;
	if (workers->own == NULL)
		usleep(1000000);
	workers->own = workers;
	body(ctx, 0);
}

/*
 * At that rate all of it takes over four seconds: after a quarter it is known
 * that two are not enough, and the rest is not begun.
 */
START_TEST(slow_reading_is_given_up)
{
	struct mu_workers workers = { .count = 2, .run = run_slowly };

	fixture.remote.workers = &workers;
	ck_assert(!mu_remote_memory_fill(
	    &fixture.snap.memory, mu_sys_now_ns() + 2 * MU_NS_PER_SEC));
	ck_assert(fixture.remote.late);
	ck_assert_uint_ge(fixture.remote.needed_ns, 3 * MU_NS_PER_SEC);
	ck_assert_uint_le(fixture.remote.read, SLOW / 2);
}

/* Memory that is not read in time may have changed. */
START_TEST(the_end_comes_first)
{
	fixture.remote.deadline_ns = mu_sys_now_ns() + MU_NS_PER_SEC * 1000;
	ck_assert_int_eq(*view(fixture.slow, PAGE), 1);
	ck_assert(!fixture.remote.late);
	fixture.remote.deadline_ns = mu_sys_now_ns();
	ck_assert_int_eq(*view(fixture.slow + SLOW / 2, PAGE), 0);
	ck_assert(fixture.remote.late);
}

/* A process that is gone: what cannot be read is counted, and zero. */
START_TEST(gone)
{
	const char *seen;

	kill(fixture.child, SIGKILL);
	waitpid(fixture.child, NULL, 0);
	seen = view(fixture.area, 20 * PAGE);
	ck_assert_int_eq(seen[3 * PAGE] + seen[10 * PAGE] + seen[17 * PAGE], 0);
	ck_assert_uint_ge(fixture.snap.memory.skipped_pages, 3);
}

static void
setup_window(void)
{
	window = SMALL;
	setup();
}

static void
setup_slow_window(void)
{
	window = SMALL;
	setup_slow();
}

/* Bytes of the views and the ring that are in our memory. */
static size_t
resident(const char *seen, size_t size)
{
	static unsigned char vec[PAGES];
	size_t i, count = 0;

	if (mincore((void *)((uintptr_t)seen & -PAGE), size, vec) != 0)
		return 0;
	for (i = 0; i < size / PAGE; i++)
		count += vec[i] & 1;
	return count * PAGE;
}

struct jumping {
	const char *seen;
	size_t wrong;
};

/* Forwards, backwards, and anywhere. */
static void
jump(void *ctx, unsigned worker)
{
	struct jumping *jumping = ctx;
	unsigned seed = worker + 1;
	size_t i, page;

	for (i = 0; i < 3 * (size_t)PAGES; i++) {
		page = i < PAGES    ? i
		    : i < 2 * PAGES ? 2 * PAGES - 1 - i
				    : (size_t)rand_r(&seed) % PAGES;
		if (memcmp(jumping->seen + page * PAGE,
			fixture.area + page * PAGE, PAGE) != 0)
			__atomic_fetch_add(
			    &jumping->wrong, 1, __ATOMIC_RELAXED);
	}
}

/* _i: threads. */
START_TEST(readers_share_a_window)
{
	struct mu_workers workers = pthread_workers((unsigned)_i);
	struct jumping jumping = { view(fixture.area, PAGES * PAGE), 0 };

	mu_workers_run(&workers, (unsigned)_i, jump, &jumping);
	ck_assert_uint_eq(jumping.wrong, 0);
	ck_assert_uint_le(resident(jumping.seen, PAGES * PAGE), SMALL);
}

static char peeked[32];

static const char *
peek(const void *at)
{
	return mu_snapshot_peek(
	    &fixture.snap, (uintptr_t)at, sizeof(peeked), peeked);
}

/* A little, anywhere, is read by itself; by and by it comes into place. */
START_TEST(a_little_is_copied)
{
	const char *at = fixture.area + 1500 * PAGE + 40;
	size_t i;

	for (i = 0; i < 4; i++) {
		ck_assert_ptr_eq(peek(at), peeked);
		ck_assert(memcmp(peeked, at, sizeof(peeked)) == 0);
	}
	ck_assert_ptr_eq(peek(at), view(at, 1));
	ck_assert(memcmp(peek(at), at, sizeof(peeked)) == 0);
	/* Memory that was never written is not read. */
	at = fixture.area + 4 * PAGE;
	ck_assert_ptr_eq(peek(at), view(at, 1));
	ck_assert_int_eq(*peek(at), 0);
	ck_assert_ptr_null(peek(NULL));
}

/* The pieces that it takes to read all, a page at a time. */
static size_t
count_pieces(bool down)
{
	const struct mu_remote_window *pieces = &fixture.remote.window;
	const char *seen = view(fixture.area, PAGES * PAGE);
	size_t before = pieces->last, i, at;

	for (i = 0; i < PAGES; i++) {
		at = (down ? PAGES - 1 - i : i) * PAGE;
		ck_assert_int_eq(seen[at], fixture.area[at]);
	}
	return pieces->last - before;
}

/* A list whose head is the newest object is read from the last page on. */
START_TEST(pieces_grow_both_ways)
{
	size_t up = count_pieces(false), down = count_pieces(true);

	ck_assert_uint_lt(up, PAGES / 6);
	ck_assert_uint_lt(down, PAGES / 6);
}

/* A page that cannot be read counts once, however often it is asked for. */
START_TEST(gone_again)
{
	const char *seen = view(fixture.area, PAGES * PAGE);
	size_t i, sum = 0, first;

	kill(fixture.child, SIGKILL);
	waitpid(fixture.child, NULL, 0);
	for (i = 0; i < PAGES; i++)
		sum += (unsigned char)seen[i * PAGE];
	ck_assert_uint_eq(sum, 0);
	ck_assert(fixture.remote.gone);
	first = fixture.snap.memory.skipped_pages;
	ck_assert_uint_ge(first, PAGES / 7);
	for (i = 0; i < PAGES; i++)
		sum += (unsigned char)seen[i * PAGE];
	ck_assert_uint_eq(fixture.snap.memory.skipped_pages, first);
}

/* A fault of our own stays one. */
START_TEST(other_faults_are_fatal)
{
	char *at =
	    mmap(NULL, PAGE, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	ck_assert_ptr_ne(at, MAP_FAILED);
	ck_assert_int_eq(*(volatile char *)at, 0);
}

START_TEST(a_signal_that_is_sent_is_fatal)
{
	kill(getpid(), SIGSEGV);
}

static void
setup_ignoring(void)
{
	signal(SIGSEGV, SIG_IGN);
	setup_window();
}

/* The handler is still there for the next fault. */
START_TEST(one_that_is_ignored_stays_so)
{
	const char *seen = view(fixture.area, PAGES * PAGE);

	kill(getpid(), SIGSEGV);
	ck_assert_mem_eq(seen + 1000 * PAGE, fixture.area + 1000 * PAGE, PAGE);
	kill(getpid(), SIGSEGV);
	ck_assert_mem_eq(seen + 3 * PAGE, fixture.area + 3 * PAGE, PAGE);
}

/* The memory no longer exists: it is not replaced by zeros. */
START_TEST(detached_is_fatal)
{
	const volatile char *seen = view(fixture.area, PAGE);

	mu_remote_memory_detach(&fixture.snap.memory);
	ck_assert_ptr_null(view(fixture.area, PAGE));
	ck_assert_int_eq(*seen, 0);
}

static void
add_both(TCase *tcase)
{
	tcase_add_loop_test(tcase, all_of_it_is_seen, 1, 5);
	tcase_add_test(tcase, piece_by_piece);
	tcase_add_test(tcase, pages_are_copied);
	tcase_add_test(tcase, what_is_populated);
	tcase_add_test(tcase, nothing_is_not_populated);
	tcase_add_test(tcase, constants_are_seen);
	tcase_add_test(tcase, files_are_read_when_asked_for);
	tcase_add_test(tcase, shared_memory_is_seen);
	tcase_add_test(tcase, known_parts_are_seen);
	tcase_add_test(tcase, parts_that_overlap_are_read);
	tcase_add_test(tcase, closed_memory_is_opened);
	tcase_add_test(tcase, nothing_else_is_seen);
	tcase_add_test(tcase, gone);
}

static TCase *
add_case(Suite *suite, const char *name, void (*begin)(void))
{
	TCase *tcase = tcase_create(name);

	tcase_set_timeout(tcase, 240);
	tcase_add_checked_fixture(tcase, begin, teardown);
	suite_add_tcase(suite, tcase);
	return tcase;
}

int
main(void)
{
	Suite *suite = suite_create("memory_remote");
	TCase *tcase = add_case(suite, "Remote", setup);

	add_both(tcase);
	tcase_add_test(tcase, filled_and_detached);
	tcase_add_test(tcase, more_than_may_be);
	tcase_add_test(tcase, sparse_memory_is_skipped);
	tcase = add_case(suite, "Window", setup_window);
	add_both(tcase);
	tcase_add_loop_test(tcase, readers_share_a_window, 1, 6);
	tcase_add_test(tcase, a_little_is_copied);
	tcase_add_test(tcase, pieces_grow_both_ways);
	tcase_add_test(tcase, gone_again);
	tcase_add_test_raise_signal(tcase, other_faults_are_fatal, SIGSEGV);
	tcase_add_test_raise_signal(
	    tcase, a_signal_that_is_sent_is_fatal, SIGSEGV);
	tcase_add_test_raise_signal(tcase, detached_is_fatal, SIGSEGV);
	tcase = add_case(suite, "Ignoring", setup_ignoring);
	tcase_add_test(tcase, one_that_is_ignored_stays_so);
	tcase = add_case(suite, "Slow window", setup_slow_window);
	tcase_add_test(tcase, the_end_comes_first);
	tcase = add_case(suite, "Slow", setup_slow);
	tcase_add_test(tcase, slow_reading_is_given_up);
	tcase_add_test(tcase, the_end_comes_first);
	return suite_run(suite);
}
