/*
 * A program with a release of glibc that the library does not know: the layout
 * of the nearest known release is tried, the answer says so, and malloc
 * continues to work.
 *
 * The table of layouts is this test's own: without the running release, and
 * with the row of it, or of another one, as its only neighbour's.
 */
#define mu_glibc_layouts known_layouts
#include "heapwalk/heaps/glibc/layout.c"
#undef mu_glibc_layouts

#include <gnu/libc-version.h>

#include "tests/support/pass/live_answer.h"
#include "tests/support/suite.h"

#define HAMMERS 3
#define PASSES 20

const struct mu_glibc_layout *mu_glibc_layouts(size_t *count);

static struct mu_glibc_layout row;
static unsigned running; /* 2.x */
static bool stop;

const struct mu_glibc_layout *
mu_glibc_layouts(size_t *count)
{
	*count = 1;
	return &row;
}

static const struct mu_glibc_layout *
running_row(void)
{
	const struct mu_glibc_layout *rows;
	size_t count, i;
	unsigned major;

	ck_assert_int_eq(
	    sscanf(gnu_get_libc_version(), "%u.%u", &major, &running), 2);
	rows = known_layouts(&count);
	for (i = 0; i < count - 1 && running > rows[i].last; i++)
		;
	return &rows[i];
}

static void
neighbour_is_like(const struct mu_glibc_layout *known)
{
	row = *known;
	row.first = row.last = running - 1;
}

/* Everything that the program's stderr receives. */
static void
log_pass(char *text, size_t size)
{
	int saved = dup(2), file = memfd_create("stderr", MFD_CLOEXEC);
	ssize_t length;

	ck_assert(saved >= 0 && file >= 0);
	dup2(file, 2);
	LogUnreachableMemory(false, 10);
	dup2(saved, 2);
	length = pread(file, text, size - 1, 0);
	ck_assert_int_gt(length, 0);
	text[length] = '\0';
	close(saved);
	close(file);
}

TEST(inferred)
{
	static char text[65536], words[128];
	struct UnreachableMemoryInfo info = { .leaks = NULL };
	uintptr_t lost;
	char *report;

	neighbour_is_like(running_row());
	snprintf(words, sizeof(words),
	    "the heap layout of glibc 2.%u was inferred from that of 2.%u",
	    running, running - 1);
	lost = block_new(777);
	scrub();
	ck_assert_msg(GetUnreachableMemory(&info, 10), "%s", info.reason);
	ck_assert_int_eq(info.status, MEMUNREACHABLE_COMPLETE);
	ck_assert_str_eq(info.reason, words);
	ck_assert_uint_eq(info.num_leaks, 1);
	ck_assert_uint_eq(info.leaks[0].begin, ~lost);
	FreeUnreachableMemoryInfo(&info);

	report = GetUnreachableMemoryString(false, 10);
	ck_assert_ptr_nonnull(strstr(report, words));
	free(report);
	log_pass(text, sizeof(text));
	ck_assert_ptr_nonnull(strstr(text, words));
	block_free(lost);
	scrub();
	ck_assert(NoLeaks());
}

/* No byte of a wrong "mutex" may be written: malloc must still work. */
static void
expect_refusal(const struct mu_glibc_layout *known)
{
	struct UnreachableMemoryInfo info = { .leaks = NULL };
	char words[64];
	char *report;

	neighbour_is_like(known);
	snprintf(words, sizeof(words), "glibc 2.%u is not known here", running);
	ck_assert_msg(!GetUnreachableMemory(&info, 10), "as in 2.%u: %s",
	    known->first, info.reason);
	ck_assert_int_eq(info.status, MEMUNREACHABLE_UNKNOWN_GLIBC);
	ck_assert_ptr_nonnull(strstr(info.reason, words));
	ck_assert_uint_eq(info.num_allocations, 0);
	report = GetUnreachableMemoryString(false, 10);
	ck_assert_ptr_nonnull(strstr(report, words));
	free(report);
	report = malloc(100000);
	ck_assert_ptr_nonnull(report);
	free(report);
	ck_assert(!NoLeaks());
}

TEST(refused)
{
	const struct mu_glibc_layout *rows, *right = running_row();
	size_t count, i;

	rows = known_layouts(&count);
	for (i = 0; i < count; i++)
		if (&rows[i] != right)
			expect_refusal(&rows[i]);
}

static void *
hammer(void *arg)
{
	unsigned seed = (unsigned)(uintptr_t)arg;
	void *kept[64] = { NULL };
	size_t i;

	while (!__atomic_load_n(&stop, __ATOMIC_RELAXED)) {
		i = (size_t)rand_r(&seed) % 64;
		free(kept[i]);
		kept[i] = malloc((size_t)rand_r(&seed) % 4000);
	}
	for (i = 0; i < 64; i++)
		free(kept[i]);
	return NULL;
}

/* Inside malloc as often as not: an answer that is right, or none. */
TEST(inferred_under_load)
{
	pthread_t threads[HAMMERS];
	struct UnreachableMemoryInfo info;
	unsigned answers = 0;
	uintptr_t lost, i;

	neighbour_is_like(running_row());
	lost = block_new(777);
	for (i = 0; i < HAMMERS; i++)
		ck_assert_int_eq(
		    pthread_create(&threads[i], NULL, hammer, (void *)(i + 1)),
		    0);
	for (i = 0; i < PASSES; i++) {
		info = (struct UnreachableMemoryInfo) { .leaks = NULL };
		scrub();
		if (!GetUnreachableMemory(&info, 10)) {
			ck_assert_msg(
			    info.status == MEMUNREACHABLE_UNKNOWN_GLIBC ||
				info.status == MEMUNREACHABLE_HEAP_INCONSISTENT,
			    "%s", info.reason);
			continue;
		}
		ck_assert_int_eq(info.status, MEMUNREACHABLE_COMPLETE);
		ck_assert_uint_ge(info.num_leaks, 1);
		ck_assert_ptr_nonnull(entry_of(&info, lost));
		FreeUnreachableMemoryInfo(&info);
		answers++;
	}
	__atomic_store_n(&stop, true, __ATOMIC_RELAXED);
	for (i = 0; i < HAMMERS; i++)
		pthread_join(threads[i], NULL);
	ck_assert_uint_gt(answers, 0);
	block_free(lost);
}
