/*
 * From some tree an edge is followed repeatedly until that ends in a circle:
 * all trees on it are in one component. What they lead to is found in sweeps
 * over all trees by number. Of that, what leads back to them is found in
 * further sweeps, unless no other tree leads into it. Both sets are bits, 1/8
 * byte per tree, which stay in the cache, and edges are read in the order of
 * memory.
 */
#include "heapwalk/fold/giant_scc.h"

#include <string.h>

#include "mu/bits.h"

#define MIN_TREES 65536 /* fewer trees stay in the cache anyway */
#define MAX_LOOKS 16    /* at each edge */
#define WORD_LOOKS 4    /* cost of looking at a word of bits, in edges */
#define STARTS 16
#define MAX_STEPS (1u << 14) /* length of a walk in search of a circle */
#define MAX_BACK 1024        /* dead ends of a walk */
#define MAX_TARGETS 64       /* of a tree that a walk looks at */
#define TRIES_SHARE 8        /* one in so many trees is examined by itself */

struct finding {
	const struct mu_trees *trees;
	struct mu_giant_scc *giant;
	uint64_t *followed; /* trees whose edges were followed */
	uint32_t *path;     /* of a walk: MAX_STEPS */
	size_t num_words;
	size_t looks, max_looks; /* at edges */
	size_t tries;            /* trees that were examined one by one */
	struct mu_deadline *deadline;
};

/*
 * Move *TREE to its first target that has edges itself and is no dead end
 * (marked as followed).
 */
static bool
go_on(const struct finding *finding, uint32_t *tree)
{
	struct mu_tree_edges edges;
	uint32_t next, looks = 0;

	mu_tree_edges_open(&edges, finding->trees, *tree, finding->deadline);
	while (looks++ < MAX_TARGETS && mu_tree_edges_next(&edges, &next)) {
		if (next == *tree || mu_bit(finding->followed, next) ||
		    mu_tree_first(finding->trees, next) == MU_NO_NODE)
			continue;
		*tree = next;
		return true;
	}
	return false;
}

/*
 * Walk from *TREE, back from dead ends, until a tree is met again: *TREE, whose
 * bit in BELOW is set as are those of all on the way there. Returns the length
 * of that way; 0 if the walk ends, or is so long that it looks like a chain.
 */
static uint32_t
walk(struct finding *finding, uint32_t *tree)
{
	uint64_t *below = finding->giant->below;
	uint32_t steps = 0, back = 0;

	do {
		if (steps == MAX_STEPS) {
			finding->looks = finding->max_looks + 1;
			return 0;
		}
		mu_bit_set(below, *tree);
		finding->path[steps++] = *tree;
		while (!go_on(finding, tree)) {
			mu_bit_set(finding->followed, *tree);
			mu_bit_clear(below, *tree);
			if (--steps == 0 || ++back == MAX_BACK)
				return 0;
			*tree = finding->path[steps - 1];
		}
	} while (!mu_bit(below, *tree));
	return steps;
}

/*
 * Find the circle in which a walk from TREE ends, make its trees members, and
 * return their number; 0 without one.
 */
static uint32_t
find_circle(struct finding *finding, uint32_t tree)
{
	uint64_t *below = finding->giant->below;
	uint32_t steps = walk(finding, &tree), count = 0, i;

	if (steps == 0)
		return 0;
	/* What precedes TREE on the path is not part of the circle. */
	for (i = steps; count == 0 || finding->path[i] != tree; count++)
		mu_bit_set(finding->giant->members, finding->path[--i]);
	for (; i > 0; i--)
		mu_bit_clear(below, finding->path[i - 1]);
	return count;
}

/* Follow all edges of TREE. */
static inline void
follow(struct finding *finding, uint32_t tree)
{
	uint64_t *below = finding->giant->below;
	struct mu_tree_edges edges;
	const uint32_t *at;
	uint32_t target;

	if (mu_tree_edges_stored(finding->trees, tree, &at, &target)) {
		for (; at != NULL; at = *at & MU_TARGET_LAST ? NULL : at + 1)
			mu_bit_set(below, *at & ~MU_TARGET_LAST);
		return;
	}
	mu_tree_edges_open(&edges, finding->trees, tree, finding->deadline);
	while (mu_tree_edges_next(&edges, &target))
		mu_bit_set(below, target);
}

/*
 * Follow the trees in word I of the bits that were not followed. Returns how
 * many.
 */
static uint32_t
follow_word(struct finding *finding, size_t i)
{
	uint64_t fresh;
	uint32_t count = 0;

	while (
	    (fresh = finding->giant->below[i] & ~finding->followed[i]) != 0) {
		finding->followed[i] |= fresh;
		count += mu_popcount(fresh);
		for (; fresh != 0; fresh &= fresh - 1)
			follow(finding,
			    (uint32_t)(i * 64) +
				(uint32_t)__builtin_ctzll(fresh));
	}
	return count;
}

/*
 * Bit 0: TREE has an edge to a member; in *OPEN, to a tree that may lead to
 * one. No branch on each edge, which is far slower.
 */
static inline uint64_t
leads_to(struct finding *finding, uint32_t tree, uint64_t *open)
{
	const uint64_t *members = finding->giant->members;
	const uint64_t *followed = finding->followed;
	struct mu_tree_edges edges;
	const uint32_t *at;
	uint32_t target, one;
	uint64_t any = 0, some = 0;

	finding->looks++;
	if (mu_tree_edges_stored(finding->trees, tree, &at, &one)) {
		for (; at != NULL; finding->looks++) {
			target = *at & ~MU_TARGET_LAST;
			any |= members[target / 64] >> (target % 64);
			some |= followed[target / 64] >> (target % 64);
			at = *at & MU_TARGET_LAST ? NULL : at + 1;
		}
		*open = some & 1;
		return any & 1;
	}
	mu_tree_edges_open(&edges, finding->trees, tree, finding->deadline);
	for (; mu_tree_edges_next(&edges, &target); finding->looks++) {
		any |= members[target / 64] >> (target % 64);
		some |= followed[target / 64] >> (target % 64);
	}
	*open = some & 1;
	return any & 1;
}

/*
 * Add the trees in word I of the bits that lead to a member. Those that lead
 * only to what does not are no longer marked as followed, and not looked at
 * again.
 */
static uint32_t
add_word(struct finding *finding, size_t i)
{
	uint64_t *members = &finding->giant->members[i], found, open;
	uint64_t bits = finding->followed[i] & ~*members;
	uint32_t count = 0;
	unsigned bit;

	for (; bits != 0; bits &= bits - 1) {
		bit = (unsigned)__builtin_ctzll(bits);
		found = leads_to(finding, (uint32_t)(i * 64) + bit, &open);
		*members |= found << bit;
		finding->followed[i] &= ~((open ^ 1) << bit);
		count += (uint32_t)found;
	}
	return count;
}

/*
 * A forward sweep is twice as fast as a backward one. A backward sweep takes
 * its turn when a forward one does not double what is found, since edges may
 * lead that way. Returns true if nothing more is found and COUNT and what was
 * found are a share of all.
 */
static bool
sweep(struct finding *finding,
    uint32_t (*visit)(struct finding *finding, size_t i), uint32_t count)
{
	size_t words = finding->num_words, i;
	uint32_t found = 1, before;
	bool down = false;

	while (found > 0) {
		before = found;
		for (i = 0, found = 0; i < words; i++)
			found += visit(finding, down ? words - 1 - i : i);
		count += found;
		down ^= found / 2 < before;
		finding->looks += WORD_LOOKS * words;
		mu_deadline_passed(finding->deadline, WORD_LOOKS * words);
		if (finding->looks > finding->max_looks ||
		    finding->deadline->passed)
			return false;
	}
	return count >= finding->trees->num_trees / MU_GIANT_SHARE;
}

static bool
is_tired(const struct finding *finding)
{
	return finding->tries > finding->trees->num_trees / TRIES_SHARE ||
	    finding->deadline->passed;
}

/*
 * True if TREE, which members lead to, leads to a member. Otherwise its mark as
 * followed is removed. Also false if the search takes too long: see is_tired().
 */
static bool
leads_back(struct finding *finding, uint32_t tree)
{
	uint64_t *fresh = finding->followed, *members = finding->giant->members;
	uint32_t *queue = finding->path, head = 0, tail = 0;
	struct mu_tree_edges edges;
	bool found = mu_bit(members, tree), full = false;

	if (found || !mu_bit(fresh, tree))
		return found;
	for (queue[tail++] = tree; head < tail && !found && !full;) {
		mu_bit_clear(fresh, queue[head]);
		mu_tree_edges_open(
		    &edges, finding->trees, queue[head++], finding->deadline);
		while (!found && !full && mu_tree_edges_next(&edges, &tree)) {
			found = mu_bit(members, tree);
			full = tail == MAX_STEPS;
			if (found || full || !mu_bit(fresh, tree))
				continue;
			mu_bit_clear(fresh, tree);
			queue[tail++] = tree;
		}
	}
	finding->tries += full ? finding->trees->num_trees : tail;
	if (found)
		mu_bit_set(members, queue[0]);
	for (head = 0; (found || full) && head < tail; head++)
		mu_bit_set(fresh, queue[head]);
	return found;
}

/*
 * True if each edge from another tree into what members lead to ends at a
 * member. *ENTERED: there is such an edge.
 */
static bool
is_entered_well(struct finding *finding, bool *entered)
{
	const uint64_t *below = finding->giant->below;
	struct mu_tree_edges edges;
	uint32_t tree, target;

	for (tree = 0; tree < finding->trees->num_trees; tree++) {
		if (~below[tree / 64] == 0) {
			tree |= 63;
			continue;
		}
		if (mu_bit(below, tree))
			continue;
		mu_tree_edges_open(
		    &edges, finding->trees, tree, finding->deadline);
		while (mu_tree_edges_next(&edges, &target)) {
			if (!mu_bit(below, target))
				continue;
			*entered = true;
			if (!leads_back(finding, target) || is_tired(finding))
				return false;
		}
	}
	return true;
}

/*
 * Take all that members lead to as the component, if that makes no difference.
 */
static bool
take_all(struct finding *finding)
{
	struct mu_giant_scc *giant = finding->giant;
	uint32_t tree = 0;
	bool entered = false;

	if (finding->trees->of != NULL || !is_entered_well(finding, &entered))
		return false;
	while (!entered &&
	    !(mu_bit(giant->below, tree) && leads_back(finding, tree)))
		if (++tree == finding->trees->num_trees || is_tired(finding))
			return false;
	if (!entered)
		giant->lowest = tree;
	memcpy(giant->members, giant->below,
	    finding->num_words * sizeof(*giant->members));
	return true;
}

static bool
find_from(struct finding *finding, uint32_t tree)
{
	size_t bytes = finding->num_words * sizeof(uint64_t);
	uint32_t count;

	memset(finding->giant->below, 0, bytes);
	memset(finding->giant->members, 0, bytes);
	memset(finding->followed, 0, bytes);
	count = find_circle(finding, tree);
	memset(finding->followed, 0, bytes); /* of dead ends */
	if (count == 0 || !sweep(finding, follow_word, 0))
		return false;
	if (take_all(finding))
		return true;
	memcpy(finding->followed, finding->giant->below, bytes);
	return sweep(finding, add_word, count);
}

static bool
alloc_bits(struct finding *finding, struct mu_arena *arena)
{
	size_t refused = arena->refused, words = finding->num_words;
	const struct mu_lost *lost = finding->trees->lost;
	struct mu_giant_scc *giant = finding->giant;

	giant->below = mu_lost_borrow(lost, words, sizeof(*giant->below));
	giant->members = mu_arena_alloc(arena, words, sizeof(*giant->members));
	finding->followed =
	    mu_lost_borrow(lost, words, sizeof(*finding->followed));
	finding->path = mu_lost_borrow(lost, MAX_STEPS, sizeof(*finding->path));
	arena->refused = refused;
	return giant->below != NULL && giant->members != NULL &&
	    finding->followed != NULL && finding->path != NULL;
}

bool
mu_giant_scc_find(struct mu_giant_scc *giant, const struct mu_trees *trees,
    struct mu_arena *arena, struct mu_deadline *deadline)
{
	const struct mu_graph *graph = trees->lost->graph;
	struct finding finding = { .trees = trees,
		.giant = giant,
		.num_words = (size_t)trees->num_trees / 64 + 1,
		.max_looks =
		    MAX_LOOKS * ((size_t)trees->num_trees + graph->taken),
		.deadline = deadline };
	uint32_t start;

	giant->lowest = MU_NO_NODE;
	if (graph->cells == NULL || trees->num_trees < MIN_TREES ||
	    !alloc_bits(&finding, arena))
		return false;
	for (start = 0; start < STARTS && finding.looks <= finding.max_looks;
	     start++)
		if (find_from(&finding, trees->num_trees / STARTS * start))
			return true;
	return false;
}
