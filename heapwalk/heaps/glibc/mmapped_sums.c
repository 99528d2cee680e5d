/*
 * A false header can lie at the start of any page: in a buffer, or in a chunk
 * of another copy of malloc (a second libc). Usually few candidates are false,
 * so we search for all sets of candidates that account for the excess in number
 * and in bytes. A candidate in none of these sets is a chunk; one in all of
 * them is not.
 */
#include "heapwalk/heaps/glibc/mmapped_sums.h"

#define EXCESS_MAX 3
#define TRIES_MAX ((size_t)1 << 24)
#define WAYS_MAX 1024

struct pick {
	struct mu_glibc_candidate *candidates;
	size_t count, excess, bytes; /* BYTES: what the set must sum up to */
	size_t *outs;                /* number of sets that each one is in */
	size_t ways;
};

static size_t
size_of(const struct pick *pick, size_t i)
{
	return mu_range_size(pick->candidates[i].whole);
}

static bool
is_out(const size_t *out, size_t excess, size_t i)
{
	size_t k;

	for (k = 0; k < excess; k++) {
		if (out[k] == i)
			return true;
	}
	return false;
}

/* True if the remaining candidates do not overlap. */
static bool
leaves_apart(const struct pick *pick, const size_t *out)
{
	uintptr_t end = 0;
	size_t i;

	for (i = 0; i < pick->count; i++) {
		if (is_out(out, pick->excess, i))
			continue;
		if (pick->candidates[i].whole.begin < end)
			return false;
		end = pick->candidates[i].whole.end;
	}
	return true;
}

/*
 * Advance OUT to the next set, numbers ascending. Returns false after the last.
 */
static bool
next_set(const struct pick *pick, size_t *out)
{
	size_t k = pick->excess, i;

	while (k > 0 && out[k - 1] == pick->count - pick->excess + k - 1)
		k--;
	if (k == 0)
		return false;
	out[k - 1]++;
	for (i = k; i < pick->excess; i++)
		out[i] = out[i - 1] + 1;
	return true;
}

static bool
go_through(struct pick *pick)
{
	size_t out[EXCESS_MAX] = { 0 }, tries = 0, bytes, k;

	for (k = 0; k < pick->excess; k++)
		out[k] = k;
	do {
		if (tries++ == TRIES_MAX)
			return false;
		bytes = 0;
		for (k = 0; k < pick->excess; k++)
			bytes += size_of(pick, out[k]);
		if (bytes != pick->bytes || !leaves_apart(pick, out))
			continue;
		if (pick->ways++ == WAYS_MAX)
			return false;
		for (k = 0; k < pick->excess; k++)
			pick->outs[out[k]]++;
	} while (next_set(pick, out));
	return pick->ways > 0;
}

bool
mu_glibc_mmapped_solve(struct mu_glibc_candidate *candidates, size_t count,
    size_t num, size_t bytes, struct mu_arena *memory)
{
	struct pick pick = { .candidates = candidates, .count = count };
	size_t i, sum = 0;

	/* There are no chunks, whatever the candidates look like. */
	for (i = 0; num == 0 && bytes == 0 && i < count; i++)
		candidates[i].out = true;
	if (num == 0 && bytes == 0)
		return true;
	for (i = 0; i < count; i++)
		sum += size_of(&pick, i);
	if (count <= num || count - num > EXCESS_MAX || sum < bytes)
		return false;
	pick.excess = count - num;
	pick.bytes = sum - bytes;
	pick.outs = mu_arena_alloc(memory, count, sizeof(*pick.outs));
	if (pick.outs == NULL || !go_through(&pick))
		return false;
	for (i = 0; i < count; i++) {
		candidates[i].out = pick.outs[i] == pick.ways;
		candidates[i].unsure =
		    pick.outs[i] > 0 && pick.outs[i] < pick.ways;
	}
	return true;
}
