/* Mmapped chunks, compared with the counters in mp_. */
#include "tests/support/heaps/damaged_heap.h"
#include "tests/support/suite.h"

static void
damage_n_mmaps(void)
{
	(*(int *)(subject.glibc.mp + subject.glibc.layout->par_n_mmaps))--;
}

static void
damage_mmapped_mem(void)
{
	*word_of(subject.glibc.mp + subject.glibc.layout->par_mmapped_mem) -=
	    4096;
}

/* What three calls of mremap_chunk() of 2.43 leave behind. */
static void
damage_by_drift(void)
{
	*word_of(subject.glibc.mp + subject.glibc.layout->par_mmapped_mem) +=
	    3 * 16;
}

static void
damage_mmapped_header(void)
{
	*damaged_size_of(subject.mmapped) |= 1;
}

/* A mapping in doubt is not reported. */
TEST(rule6_mmapped)
{
	struct answer whole = damaged_ask(NULL, NULL);
	struct answer answer = damaged_ask(damage_n_mmaps, NULL);

	ck_assert_int_eq(whole.status, MU_OK);
	ck_assert_uint_eq(whole.kept, 0);
	ck_assert_int_eq(answer.status, MU_PARTIAL);
	ck_assert_ptr_nonnull(strstr(answer.why.text, "n_mmaps"));
	ck_assert_uint_ge(answer.kept, 1);
	ck_assert_uint_eq(answer.count, whole.count);
	answer = damaged_ask(damage_mmapped_mem, NULL);
	ck_assert_int_eq(answer.status, MU_PARTIAL);
	ck_assert_uint_ge(answer.kept, 1);
	answer = damaged_ask(damage_by_drift, NULL);
	ck_assert_int_eq(answer.status,
	    subject.glibc.layout->mmapped_tail != 0 ? MU_OK
						    : MU_ERR_HEAP_INCONSISTENT);
	answer = damaged_ask(damage_mmapped_header, NULL);
	ck_assert_int_eq(answer.status, MU_PARTIAL);
	ck_assert_uint_eq(answer.count, whole.count - 1);
}

SUITE(.setup = damaged_setup);
