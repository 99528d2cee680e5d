/*
 * Words that look like old links: see heapwalk/mark_links.h.
 *
 * They are judged in rounds: all that were put off, then all that what they
 * led to has put off. Which they are does not depend on who found them, so
 * that the number of blocks they mark does not either.
 *
 * Runs in: sweeper (any). Uses no malloc, no errno, no libc lock.
 */
#include "heapwalk/mark_links.h"

#include "heapwalk/references.h"

/* So many blocks to begin with that other workers are woken. */
#define MANY 1024

static size_t
judge(struct mu_marking *marking)
{
	struct mu_scan *scan = &marking->scans[0];
	size_t i, kept = marking->judged, count = 0;
	struct mu_scan_word *links = marking->links;
	struct mu_block block;

	scan->alone = true;
	for (i = kept; i < marking->num_links; i++) {
		if (!mu_reference_find(marking->blocks, links[i].address,
			links[i].value, &block)) {
			links[kept++] = links[i];
		} else {
			count += mu_scan_reach(scan, &block);
		}
	}
	marking->num_links = marking->judged = kept;
	return count;
}

/* How many blocks have no reference but those that are old links. */
static size_t
count_unlinked(struct mu_marking *marking)
{
	const struct mu_blocks *blocks = marking->blocks;
	struct mu_scan_word *links = marking->links;
	struct mu_block block;
	size_t i, left = 0, count = 0;

	for (i = 0; i < marking->num_links; i++) {
		if (mu_blocks_find(blocks, links[i].value, &block) &&
		    !mu_block_marked(&block))
			links[left++] = links[i];
	}
	marking->num_links = left;
	for (i = 0; i < left; i++) {
		mu_blocks_find(blocks, links[i].value, &block);
		count += mu_block_mark(&block);
	}
	for (i = 0; i < left; i++) {
		mu_blocks_find(blocks, links[i].value, &block);
		mu_block_unmark(&block);
	}
	return count;
}

size_t
mu_mark_put_off(struct mu_marking *marking)
{
	size_t fresh, count = 0;

	while (!marking->passed && (fresh = judge(marking)) > 0) {
		count += fresh;
		mu_marking_run(marking, fresh < MANY ? 1 : marking->num_scans,
		    0, NULL, NULL);
	}
	return count;
}

/*
 * Now and then a program's own reference to a block's last word looks like an
 * old link: 1 in 500, 1 in 50 at worst. Of what malloc left behind, half or
 * more does. So as soon as few of those that there are do, they are the
 * program's, and all of them count.
 */
void
mu_mark_links(struct mu_marking *marking)
{
	size_t references = mu_mark_put_off(marking);

	if (count_unlinked(marking) > references / 2)
		return;
	marking->blocks->last_words = true;
	marking->judged = 0;
	mu_mark_put_off(marking);
}
