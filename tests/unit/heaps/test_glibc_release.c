/*
 * A release of glibc that the table does not have: its heap is read with the
 * layout of its neighbour, and accepted only if nothing contradicts it. And
 * heaps that are not, or not only, glibc's.
 *
 * The table is this test's own: the known one as far as a test leaves it.
 */
#define mu_glibc_layouts known_layouts
#include "heapwalk/heaps/glibc/layout.c"
#undef mu_glibc_layouts

#include "tests/support/heaps/damaged_heap.h"
#include "tests/support/suite.h"

#define MAX_ROWS 32

const struct mu_glibc_layout *mu_glibc_layouts(size_t *count);

static struct mu_glibc_layout table[MAX_ROWS];
static size_t num_rows;
static unsigned running; /* 2.x */

const struct mu_glibc_layout *
mu_glibc_layouts(size_t *count)
{
	if (num_rows == 0)
		return known_layouts(count);
	*count = num_rows;
	return table;
}

static void
setup_release(void)
{
	unsigned major;

	num_rows = 0;
	ck_assert_int_eq(
	    sscanf(gnu_get_libc_version(), "%u.%u", &major, &running), 2);
	damaged_setup();
	num_rows = 1;
	table[0] = *subject.glibc.layout;
}

/* The only row is ROW, said to be of the release before the running one. */
static void
know_only(const struct mu_glibc_layout *row)
{
	num_rows = 1;
	table[0] = *row;
	table[0].first = table[0].last = running - 1;
}

static void
unknown(void (*damage)(void), const char *words)
{
	struct answer answer = damaged_ask(damage, NULL);
	char release[32];

	snprintf(release, sizeof(release), "glibc 2.%u", running);
	ck_assert_msg(answer.status == MU_ERR_UNKNOWN_GLIBC &&
		strstr(answer.why.text, words) != NULL &&
		strstr(answer.why.text, release) != NULL,
	    "%s: \"%s\", wanted \"%s\" and \"%s\"",
	    mu_status_name(answer.status), answer.why.text, release, words);
}

TEST(nearest_release)
{
	const struct mu_glibc_layout *row;
	unsigned neighbour = 0;

	num_rows = 0;
	ck_assert_ptr_null(mu_glibc_layout_find(2, 25));
	ck_assert_ptr_null(mu_glibc_layout_find(2, 44));
	ck_assert_ptr_null(mu_glibc_layout_find(3, 36));
	row = mu_glibc_layout_nearest(2, 44, &neighbour);
	ck_assert_ptr_eq(row, mu_glibc_layout_find(2, 43));
	ck_assert_uint_eq(neighbour, 43);
	row = mu_glibc_layout_nearest(2, 3, &neighbour);
	ck_assert_ptr_eq(row, mu_glibc_layout_find(2, 26));
	ck_assert_uint_eq(neighbour, 26);
	ck_assert_ptr_null(mu_glibc_layout_nearest(3, 0, &neighbour));

	table[0] = *mu_glibc_layout_find(2, 26);
	table[1] = *mu_glibc_layout_find(2, 43);
	num_rows = 2;
	mu_glibc_layout_nearest(2, 34, &neighbour);
	ck_assert_uint_eq(neighbour, 26);
	mu_glibc_layout_nearest(2, 35, &neighbour);
	ck_assert_uint_eq(neighbour, 43);
}

/* No two rows say the same, and no release is in two. */
TEST(table_is_ordered)
{
	const struct mu_glibc_layout *rows;
	size_t count, i;

	num_rows = 0;
	rows = mu_glibc_layouts(&count);
	ck_assert_uint_eq(rows[0].first, 26);
	for (i = 0; i < count; i++) {
		ck_assert_uint_le(rows[i].first, rows[i].last);
		if (i > 0)
			ck_assert_uint_eq(rows[i].first, rows[i - 1].last + 1);
	}
	ck_assert_uint_ge(rows[count - 1].last, 43);
}

TEST(neighbour_fits)
{
	struct answer known, inferred;

	num_rows = 0;
	known = damaged_ask(NULL, NULL);
	ck_assert_int_eq(known.status, MU_OK);
	ck_assert_uint_eq(known.inferred_from, 0);
	know_only(subject.glibc.layout);
	inferred = damaged_ask(NULL, NULL);
	ck_assert_msg(inferred.status == MU_OK, "%s", inferred.why.text);
	ck_assert_uint_eq(inferred.inferred_from, running - 1);
	ck_assert_uint_eq(inferred.count, known.count);
}

/* Are the two the same but for the releases that they are of? */
static bool
is_same_layout(struct mu_glibc_layout a, struct mu_glibc_layout b)
{
	a.first = b.first;
	a.last = b.last;
	/* Says where to look for a larger struct, not where things are. */
	a.tcache_padded_twice = b.tcache_padded_twice;
	return memcmp(&a, &b, sizeof(a)) == 0;
}

TEST(neighbour_does_not_fit)
{
	const struct mu_glibc_layout *rows;
	struct answer answer;
	size_t count, i;

	rows = known_layouts(&count);
	for (i = 0; i < count; i++) {
		if (is_same_layout(rows[i], *subject.glibc.layout))
			continue;
		know_only(&rows[i]);
		answer = damaged_ask(NULL, NULL);
		ck_assert_msg(answer.status == MU_ERR_UNKNOWN_GLIBC,
		    "read as 2.%u: %s", rows[i].first, answer.why.text);
		unknown(NULL, "not laid out as that of");
	}
}

/* Every member of the row, wrong by a word: none of it goes unnoticed. */
TEST(row_is_wrong)
{
	static const size_t members[] = {
#define MEMBER(name) offsetof(struct mu_glibc_layout, name)
		MEMBER(arena_top), MEMBER(arena_bins), MEMBER(arena_next),
		MEMBER(arena_system_mem), MEMBER(heap_header),
		MEMBER(par_n_mmaps), MEMBER(par_mmapped_mem),
		MEMBER(par_sbrk_base), MEMBER(par_tcache_count),
		MEMBER(tcache_size), MEMBER(tcache_bins)
	};
	struct answer answer;
	uint16_t value;
	int by, sign;
	size_t i;

	for (i = 0; i < sizeof(members) / sizeof(*members); i++) {
		for (sign = -1; sign <= 1; sign += 2) {
			by = members[i] == MEMBER(tcache_size) ? 64 : 8;
			if (members[i] == MEMBER(par_tcache_count) &&
			    !subject.glibc.layout->tcache_counts_free)
				continue;
			/* The maximum comes next: the same number. */
			if (sign > 0 &&
			    (members[i] == MEMBER(arena_system_mem) ||
				members[i] == MEMBER(par_n_mmaps) ||
				members[i] == MEMBER(par_mmapped_mem)))
				continue;
			know_only(subject.glibc.layout);
			memcpy(&value, (char *)&table[0] + members[i], 2);
			value = (uint16_t)(value + sign * by);
			memcpy((char *)&table[0] + members[i], &value, 2);
			answer = damaged_ask(NULL, NULL);
			ck_assert_msg(answer.status == MU_ERR_UNKNOWN_GLIBC,
			    "member at %zu is %u: %s %s", members[i], value,
			    mu_status_name(answer.status), answer.why.text);
		}
	}
}

static void
damage_count_by_one(void)
{
	size_t bin = (TWO + 8 - 32) / 16;

	if (subject.glibc.layout->tcache_count_size == 2)
		((uint16_t *)subject.tcache)[bin]--;
	else
		subject.tcache[bin]--;
}

static void
damage_sum_by_8(void)
{
	*arena_word(subject.glibc.layout->arena_system_mem) += 8;
}

static void
damage_count_of_mmapped(void)
{
	(*(int *)(subject.glibc.mp + subject.glibc.layout->par_n_mmaps))--;
}

static void
damage_mutex(void)
{
	*(int *)subject.glibc.main_arena = 77;
}

static void
damage_key(void)
{
	((uintptr_t *)subject.two[1])[1] ^= 1;
}

static void
damage_live_key(void)
{
	((uintptr_t *)subject.used)[1] = ((uintptr_t *)subject.two[1])[1];
}

/* What a known release may show, for a moment or for good. */
TEST(nothing_is_allowed_for)
{
	know_only(subject.glibc.layout);
	unknown(damage_count_by_one, "its ");
	unknown(damage_sum_by_8, "system_mem");
	unknown(damage_count_of_mmapped, "n_mmaps");
	unknown(damage_mutex, "does not begin with a mutex");
	if (!subject.glibc.layout->tcache_key)
		return;
	unknown(damage_key, "differ in their keys");
	unknown(damage_live_key, "key of a free block");
}

static void
twist_release(struct self_snapshot *self)
{
	self->snap.glibc_minor = 99;
}

/* As far from the newest row as is accepted. */
TEST(far_release)
{
	struct answer answer;

	num_rows = 0;
	answer = damaged_ask(NULL, twist_release);
	if (subject.glibc.layout == mu_glibc_layout_find(2, 43)) {
		ck_assert_int_eq(answer.status, MU_OK);
		ck_assert_uint_eq(answer.inferred_from, 43);
		return;
	}
	ck_assert_int_eq(answer.status, MU_ERR_UNKNOWN_GLIBC);
	ck_assert_ptr_nonnull(strstr(answer.why.text, "glibc 2.99"));
	ck_assert_ptr_nonnull(strstr(answer.why.text, "that of 2.43"));
}

static void
twist_foreign(struct self_snapshot *self)
{
	self->snap.mappings[self->snap.num_mappings - 1].name =
	    "/usr/lib/libjemalloc.so.2";
}

static void
damage_bins(void)
{
	memset(arena_word(subject.glibc.layout->arena_bins), 0, 2032);
}

/* As the linker made it. */
static void
damage_unused(void)
{
	uintptr_t arena = subject.glibc.main_arena;

	memset((void *)arena, 0, subject.glibc.layout->arena_size);
	*arena_word(subject.glibc.layout->arena_next) = arena;
	*arena_word(subject.glibc.layout->arena_attached) = 1;
}

TEST(foreign_allocators)
{
	struct answer answer;

	num_rows = 0;
	answer = damaged_ask(damage_bins, NULL);
	ck_assert_int_eq(answer.status, MU_ERR_FOREIGN_ALLOCATOR);
	ck_assert_ptr_nonnull(strstr(answer.why.text, "no main_arena"));
	/* No other module here defines malloc: nothing was ever allocated. */
	answer = damaged_ask(damage_unused, NULL);
	ck_assert_int_eq(answer.status, MU_OK);
	answer = damaged_ask(damage_unused, twist_foreign);
	ck_assert_int_eq(answer.status, MU_ERR_FOREIGN_ALLOCATOR);
	ck_assert_ptr_nonnull(strstr(answer.why.text, "libjemalloc.so.2"));
	answer = damaged_ask(NULL, twist_foreign);
	ck_assert_int_eq(answer.status, MU_PARTIAL);
	ck_assert_ptr_nonnull(strstr(answer.why.text, "libjemalloc.so.2"));
}

SUITE(.setup = setup_release);
