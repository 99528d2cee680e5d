/* heapwalk/heaps/usage.h gives the verdict. */
#include "lib/writers/verdict_text.h"

#include "lib/term/human.h"

#define SHOWN_ARENAS 4 /* the others are summed up: there can be hundreds */

static void
put_all(const struct mu_out *out, const struct mu_heap_usage *usage,
    const struct mu_style *style)
{
	mu_put(out,
	    "Heap: %s reachable, %s%s unreachable%s, %s free but held by"
	    " malloc",
	    mu_human_bytes(usage->live_reachable).text, style->bold,
	    mu_human_bytes(usage->live_unreachable).text, style->off,
	    mu_human_bytes(usage->free_held).text);
	mu_put(out, "\n");
}

static void
put_mmapped(const struct mu_out *out, const struct mu_heap_usage *usage,
    const struct mu_style *style)
{
	if (usage->mmapped > 0)
		mu_put(out,
		    "%s  mmapped: %s, %s of it in use, in blocks that have a"
		    " mapping of their own%s\n",
		    style->dim, mu_human_bytes(usage->mmapped).text,
		    mu_human_bytes(usage->mmapped_live).text, style->off);
}

static void
put_arena(const struct mu_out *out, const struct mu_arena_usage *arena,
    const struct mu_style *style)
{
	mu_put(out,
	    "%s: %s in use; free: %s in bins, %s in tcaches, %s top%s\n",
	    mu_human_bytes(arena->span).text, mu_human_bytes(arena->live).text,
	    mu_human_bytes(arena->bins).text,
	    mu_human_bytes(arena->tcache).text, mu_human_bytes(arena->top).text,
	    style->off);
}

static size_t
free_of(const struct mu_arena_usage *arena)
{
	return arena->bins + arena->tcache + arena->top;
}

/*
 * The arena with most free memory after BEFORE, which was shown last; or NULL.
 */
static const struct mu_arena_usage *
next_arena(
    const struct mu_heap_usage *usage, const struct mu_arena_usage *before)
{
	const struct mu_arena_usage *arena, *best = NULL;
	size_t i;

	for (i = 0; i < usage->num_arenas; i++) {
		arena = &usage->arenas[i];
		if (before != NULL &&
		    (free_of(arena) > free_of(before) ||
			(free_of(arena) == free_of(before) && arena <= before)))
			continue;
		if (best == NULL || free_of(arena) > free_of(best))
			best = arena;
	}
	return best;
}

static void
put_arenas(const struct mu_out *out, const struct mu_heap_usage *usage,
    const struct mu_style *style)
{
	const struct mu_arena_usage *arena = NULL;
	struct mu_arena_usage others = { 0 };
	size_t shown = 0, count = usage->num_arenas;

	while ((arena = next_arena(usage, arena)) != NULL) {
		if (shown < SHOWN_ARENAS || count == SHOWN_ARENAS + 1) {
			mu_put(out, "%s  arena %lx%s of ", style->dim,
			    (unsigned long)arena->address,
			    arena == usage->arenas ? " (main)" : "");
			put_arena(out, arena, style);
			shown++;
			continue;
		}
		others.span += arena->span;
		others.live += arena->live;
		others.bins += arena->bins;
		others.tcache += arena->tcache;
		others.top += arena->top;
	}
	if (shown == count)
		return;
	mu_put(out, "%s  %zu other arenas of ", style->dim, count - shown);
	put_arena(out, &others, style);
}

static void
put_lost(const struct mu_out *out, const struct mu_heap_usage *usage)
{
	size_t lost = usage->live_unreachable;

	if (lost > 0)
		mu_put(out, "Verdict: lost: %s, %s of the live bytes.\n",
		    mu_human_bytes(lost).text,
		    mu_human_percent(lost, lost + usage->live_reachable).text);
}

/* Most of what is scattered is free in glibc's arenas. */
static bool
can_trim(const struct mu_heap_usage *usage)
{
	size_t bytes = 0, i;

	for (i = 0; i < usage->num_arenas; i++)
		bytes += usage->arenas[i].bins;
	return bytes >= mu_usage_scattered(usage) / 2 && bytes > 0;
}

static void
put_rest(const struct mu_out *out, const struct mu_heap_usage *usage)
{
	size_t held = mu_usage_held(usage);

	switch (mu_usage_verdict_without_leaks(usage)) {
	case MU_VERDICT_IN_USE:
		mu_put(out,
		    "Verdict: in use: %s of the heap is reachable. Only a later"
		    " look can tell\nwhether it grows.\n",
		    mu_human_percent(usage->live_reachable, held).text);
		break;
	case MU_VERDICT_FRAGMENTATION:
		mu_put(out,
		    "Verdict: held free: %s of the heap is free, between"
		    " blocks that are in use.\n%s",
		    mu_human_percent(mu_usage_scattered(usage), held).text,
		    can_trim(usage)
			? "malloc_trim(3) gives back whole pages of it.\n"
			: "");
		break;
	case MU_VERDICT_SLACK:
		mu_put(out,
		    "Verdict: held free: %s of the heap is free at the ends of"
		    " arenas, kept for\nlater. malloc_trim(3) gives it"
		    " back.\n",
		    mu_human_percent(mu_usage_top(usage), held).text);
		break;
	default:
		break;
	}
}

void
mu_verdict_text(const struct mu_out *out, const struct mu_heap_usage *usage,
    const struct mu_style *style)
{
	if (mu_usage_held(usage) == 0)
		return;
	put_all(out, usage, style);
	put_arenas(out, usage, style);
	put_mmapped(out, usage, style);
	put_lost(out, usage);
	put_rest(out, usage);
}
