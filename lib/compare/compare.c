#include "lib/compare/compare.h"

#include <inttypes.h>
#include <stdlib.h>

#include "lib/term/human.h"
#include "lib/term/out.h"
#include "lib/term/safe_text.h"

/* A group before and after. */
struct change {
	const char *key;
	enum mu_past_kind kind;
	uint64_t bytes[2], blocks[2];
};

struct comparing {
	struct mu_past pasts[2];
	struct change *changes; /* those that differ */
	size_t count;
	size_t limit;
	const struct mu_style *style;
	FILE *out;
};

static uint64_t
distance(uint64_t a, uint64_t b)
{
	return a > b ? a - b : b - a;
}

/* By kind; then by how much they changed. */
static int
compare(const void *a, const void *b)
{
	const struct change *x = a, *y = b;
	uint64_t p = distance(x->bytes[0], x->bytes[1]);
	uint64_t q = distance(y->bytes[0], y->bytes[1]);

	if (x->kind != y->kind)
		return x->kind < y->kind ? -1 : 1;
	return p != q ? (p > q ? -1 : 1) : 0;
}

/* ONE is BEFORE, AFTER, or like both. Live ones need both sides to have some.
 */
static void
add(struct comparing *comparing, const struct mu_past_group *one,
    const struct mu_past_group *before, const struct mu_past_group *after)
{
	struct change change = { .key = one->key, .kind = one->kind };

	if (before != NULL) {
		change.bytes[0] = before->bytes;
		change.blocks[0] = before->blocks;
	}
	if (after != NULL) {
		change.bytes[1] = after->bytes;
		change.blocks[1] = after->blocks;
	}
	if ((change.kind == MU_PAST_LOST ||
		(comparing->pasts[0].has[change.kind] &&
		    comparing->pasts[1].has[change.kind])) &&
	    (change.bytes[0] != change.bytes[1] ||
		change.blocks[0] != change.blocks[1]))
		comparing->changes[comparing->count++] = change;
}

/* Both are sorted. */
static bool
find_changes(struct comparing *comparing)
{
	static const struct mu_past_group none;
	const struct mu_past *pasts = comparing->pasts;
	const struct mu_past_group *a =
	    pasts[0].groups == NULL ? &none : pasts[0].groups;
	const struct mu_past_group *b =
	    pasts[1].groups == NULL ? &none : pasts[1].groups;
	const struct mu_past_group *a_end = a + pasts[0].count,
				   *b_end = b + pasts[1].count;
	int order;

	comparing->changes = calloc(
	    pasts[0].count + pasts[1].count + 1, sizeof(*comparing->changes));
	if (comparing->changes == NULL)
		return false;
	while (a < a_end && b < b_end) {
		order = mu_past_compare(a, b);
		add(comparing, order <= 0 ? a : b, order <= 0 ? a : NULL,
		    order >= 0 ? b : NULL);
		a += order <= 0;
		b += order >= 0;
	}
	for (; a < a_end; a++)
		add(comparing, a, a, NULL);
	for (; b < b_end; b++)
		add(comparing, b, NULL, b);
	if (comparing->count > 0)
		qsort(comparing->changes, comparing->count,
		    sizeof(*comparing->changes), compare);
	return true;
}

/* "+1.2 KiB (+3 blocks)" */
static void
put_difference(
    FILE *out, const uint64_t *bytes, const uint64_t *blocks, const char *of)
{
	fprintf(out, "%c%s (%c%" PRIu64 " %s%s)",
	    bytes[1] < bytes[0] ? '-' : '+',
	    mu_human_bytes(distance(bytes[0], bytes[1])).text,
	    blocks[1] < blocks[0] ? '-' : '+', distance(blocks[0], blocks[1]),
	    of, distance(blocks[0], blocks[1]) == 1 ? "" : "s");
}

static void
put_change(const struct comparing *comparing, const struct change *change)
{
	bool grew = change->bytes[1] != change->bytes[0]
	    ? change->bytes[1] > change->bytes[0]
	    : change->blocks[1] > change->blocks[0];
	const char *word = change->blocks[0] == 0 ? "came"
	    : change->blocks[1] == 0              ? "went"
	    : grew                                ? "grew"
						  : "shrank";

	fprintf(comparing->out, "  %-6s  ", word);
	put_difference(comparing->out, change->bytes, change->blocks,
	    change->kind == MU_PAST_HELD ? "element" : "block");
	fprintf(
	    comparing->out, " to %s: ", mu_human_bytes(change->bytes[1]).text);
	mu_print_safe(comparing->out, change->key);
	fputc('\n', comparing->out);
}

static void
put_changes(const struct comparing *comparing, enum mu_past_kind kind,
    const char *title)
{
	size_t i, shown = 0, more = 0;

	for (i = 0; i < comparing->count; i++) {
		if (comparing->changes[i].kind != kind)
			continue;
		if (shown == comparing->limit) {
			more++;
			continue;
		}
		if (shown++ == 0)
			fprintf(comparing->out, "\n%s%s%s\n",
			    comparing->style->bold, title,
			    comparing->style->off);
		put_change(comparing, &comparing->changes[i]);
	}
	if (more > 0)
		fprintf(comparing->out, "  ... and %zu more group%s\n", more,
		    more == 1 ? "" : "s");
}

static void
put_total(const struct comparing *comparing, const char *word,
    const struct mu_past *past)
{
	fprintf(comparing->out, "%s lost %s in %" PRIu64 " blocks, ", word,
	    mu_human_bytes(past->lost_bytes).text, past->lost_blocks);
	fprintf(comparing->out, "live %s in %" PRIu64 " blocks: ",
	    mu_human_bytes(past->live_bytes).text, past->live_blocks);
	mu_print_safe(comparing->out, past->path);
	fputc('\n', comparing->out);
}

static void
put_all(const struct comparing *comparing)
{
	const struct mu_past *a = &comparing->pasts[0], *b = a + 1;

	put_total(comparing, "Before:", a);
	put_total(comparing, "Now:   ", b);
	fputs("Change: lost ", comparing->out);
	put_difference(comparing->out,
	    (uint64_t[]) { a->lost_bytes, b->lost_bytes },
	    (uint64_t[]) { a->lost_blocks, b->lost_blocks }, "block");
	fputs(", live ", comparing->out);
	put_difference(comparing->out,
	    (uint64_t[]) { a->live_bytes, b->live_bytes },
	    (uint64_t[]) { a->live_blocks, b->live_blocks }, "block");
	fputc('\n', comparing->out);
	put_changes(comparing, MU_PAST_LOST, "Lost:");
	put_changes(comparing, MU_PAST_LIVE, "Live:");
	put_changes(comparing, MU_PAST_HELD, "Held by:");
}

/* What was not compared. */
static enum mu_status
judge(const struct comparing *comparing, struct mu_why *why)
{
	const struct mu_past *a = &comparing->pasts[0], *b = a + 1;
	const struct mu_past *cut = a->missing > 0 ? a : b;

	if (cut->missing > 0)
		return mu_why(why, MU_PARTIAL,
		    "%s does not list %zu groups" MU_CURE
		    "make it with a higher --limit, or save a look",
		    mu_safe_argument(cut->path).text, cut->missing);
	if (!a->has[MU_PAST_LIVE] || !b->has[MU_PAST_LIVE])
		return mu_why(why, MU_PARTIAL,
		    "%s does not say what lives" MU_CURE
		    "make it with --in-use, or save a look",
		    mu_safe_argument((a->has[MU_PAST_LIVE] ? b : a)->path)
			.text);
	return MU_OK;
}

enum mu_status
mu_compare(const char *const *paths, size_t limit, const struct mu_check *check,
    const struct mu_style *style, FILE *out, struct mu_why *why)
{
	struct comparing comparing = {
		.limit = limit, .style = style, .out = out
	};
	enum mu_status status = MU_OK;
	size_t i;

	for (i = 0; i < 2 && status == MU_OK; i++)
		status =
		    mu_past_open(&comparing.pasts[i], paths[i], check, why);
	if (status == MU_OK && !find_changes(&comparing))
		status =
		    mu_why(why, MU_ERR_NO_MEMORY, "no memory to compare them");
	if (status == MU_OK) {
		put_all(&comparing);
		status = judge(&comparing, why);
	}
	free(comparing.changes);
	mu_past_close(&comparing.pasts[0]);
	mu_past_close(&comparing.pasts[1]);
	return status;
}
