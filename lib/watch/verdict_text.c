#include "lib/growth/growth.h"
#include "lib/term/human.h"
#include "lib/watch/verdict.h"

#define MOST 1e18 /* figures of the subject may be anything */

/* "+2.1 MiB/h" */
static void
put_rate(const struct mu_out *out, double per_hour)
{
	uint64_t bytes = per_hour < MOST ? (uint64_t)per_hour : (uint64_t)MOST;

	mu_put(out, "+%s/h", mu_human_bytes(bytes).text);
}

static unsigned
percent(double share)
{
	return (unsigned)(share * 100 + 0.5);
}

/* The first group of KIND that grows; or NULL. */
static const struct mu_watch_growing *
main_group(const struct mu_watch_result *result, enum mu_watch_kind kind)
{
	size_t i;

	for (i = 0; i < result->num_growing; i++)
		if (result->growing[i].kind == kind)
			return &result->growing[i];
	return NULL;
}

/* "+1300 elements/h" */
static void
put_elements(const struct mu_out *out, double per_hour)
{
	mu_put(out, "+%llu elements/h",
	    (unsigned long long)(per_hour < MOST ? per_hour + 0.5 : MOST));
}

/* ", 97 % in g_cache.sessions, +1300 elements/h" */
static void
put_holder(const struct mu_out *out, const struct mu_watch_result *result)
{
	const struct mu_watch_growing *group =
	    main_group(result, MU_WATCH_HELD);

	if (group == NULL)
		return;
	mu_put(out, ", %u %% %sin ", percent(group->share),
	    result->of_all ? "of all that came " : "");
	mu_put_safe(out, group->name);
	mu_put(out, ", ");
	put_elements(out, group->elements_per_hour);
}

/* "+2.1 MiB/h lost, 94 % of it Session (handle at served.c:16)" */
static void
put_growth(const struct mu_out *out, const struct mu_watch_result *result,
    const struct mu_watch_gain *gain, enum mu_watch_kind kind)
{
	const struct mu_watch_growing *group = main_group(result, kind);

	put_rate(out, gain->per_hour);
	if (result->outside) {
		mu_put(out, " resident memory that is not malloc's");
		put_holder(out, result);
		return;
	}
	mu_put(out, kind == MU_WATCH_LOST ? " lost" : " in use");
	if (group != NULL) {
		mu_put(out, ", %u %% of it ", percent(group->share));
		mu_put_safe(out, group->name);
	}
	if (group == NULL && kind == MU_WATCH_LIVE && result->typed > 0 &&
	    result->typed < MU_GROWTH_LOOKS)
		mu_put(out,
		    ", of types that are known of %zu look%s only: more"
		    " looks, or a longer --every, find them",
		    result->typed, result->typed == 1 ? "" : "s");
	if (kind != MU_WATCH_LOST)
		put_holder(out, result);
}

static void
put_gain(const struct mu_out *out, const struct mu_watch_result *result,
    const struct mu_watch_gain *gain)
{
	mu_put(out, "%s: ", mu_watch_verdict_name(gain->verdict));
	if (gain->verdict == MEMUNREACHABLE_VERDICT_FRAGMENTATION)
		mu_put(out, "live bytes steady, held free +%s",
		    mu_human_bytes(gain->gained).text);
	else
		put_growth(out, result, gain,
		    gain->verdict == MEMUNREACHABLE_VERDICT_LEAK
			? MU_WATCH_LOST
			: MU_WATCH_LIVE);
}

static void
put_steady(const struct mu_out *out, const struct mu_watch_result *result)
{
	mu_put(out, "%s in use, %s held free",
	    mu_human_bytes(result->live).text,
	    mu_human_bytes(result->held_free).text);
	if (result->lost > result->first_lost)
		mu_put(out, ", %s lost, +%s since the first look",
		    mu_human_bytes(result->lost).text,
		    mu_human_bytes(result->lost - result->first_lost).text);
	else if (result->lost > 0)
		mu_put(out, ", %s lost, none of it new",
		    mu_human_bytes(result->lost).text);
	else
		mu_put(out, ", nothing lost");
	if (result->rising)
		mu_put(out,
		    "; what is in use rises, and more looks tell"
		    " whether it grows");
}

static void
put_looks(const struct mu_out *out, const struct mu_watch_result *result)
{
	mu_put(out, "  %zu look%s in %s", result->looks,
	    result->looks == 1 ? "" : "s", mu_human_time(result->span_ns).text);
	if (result->unchecked > 0)
		mu_put(out, ", %zu more did not check the heap",
		    result->unchecked);
	if (result->partial > 0)
		mu_put(out, ", %zu of them partial", result->partial);
	mu_put(out, "\n");
}

static void
put_growing(const struct mu_out *out, const struct mu_watch_result *result)
{
	const struct mu_watch_growing *growing = result->growing;
	size_t i;

	if (result->num_growing < 2)
		return;
	for (i = 0; i < result->num_growing; i++) {
		mu_put(out, "  %s  ", mu_watch_kind_name(growing[i].kind));
		put_rate(out, growing[i].per_hour);
		mu_put(out, "  %u %%  ", percent(growing[i].share));
		mu_put_safe(out, growing[i].name);
		if (growing[i].kind == MU_WATCH_HELD) {
			mu_put(out, ", ");
			put_elements(out, growing[i].elements_per_hour);
		}
		mu_put(out, "\n");
	}
}

void
mu_watch_verdict_text(
    const struct mu_out *out, const struct mu_watch_result *result)
{
	size_t i;

	switch (result->verdict) {
	case MEMUNREACHABLE_VERDICT_UNCHECKED:
		mu_put(out, "not checked: ");
		mu_put_safe(out,
		    result->reason[0] != '\0' ? result->reason : "no look");
		break;
	case MEMUNREACHABLE_VERDICT_TOO_FEW:
		mu_put(out,
		    "too few looks: %zu checked the heap, and a verdict"
		    " needs %u",
		    result->looks, MU_GROWTH_LOOKS);
		break;
	case MEMUNREACHABLE_VERDICT_STEADY:
		mu_put(out, "steady: ");
		put_steady(out, result);
		break;
	default:
		for (i = 0; i < result->num_gains; i++) {
			mu_put(out, "%s", i > 0 ? "; " : "");
			put_gain(out, result, &result->gains[i]);
		}
		break;
	}
	mu_put(out, "\n");
	if (result->verdict != MEMUNREACHABLE_VERDICT_UNCHECKED)
		put_looks(out, result);
	put_growing(out, result);
}
