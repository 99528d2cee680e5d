#include <stdio.h>
#include <time.h>

#include "lib/term/human.h"
#include "lib/watch/lines.h"
#include "lib/watch/spark.h"
#include "mu/sys.h"

#define COLUMN " %10s"
#define BARS 12 /* columns of a series */

void
mu_watch_text_head(const struct mu_out *out, bool bars)
{
	mu_put(out, "%-8s" COLUMN COLUMN COLUMN COLUMN COLUMN COLUMN " %8s",
	    "time", "RSS", "PSS", "in use", "held free", "lost", "new lost",
	    "stop");
	if (bars)
		mu_put(out, " %-12s %-12s %s", "in use", "held free", "lost");
	mu_put(out, "\n");
}

/* The latest looks of TOTAL. */
static void
put_bars(const struct mu_out *out, const struct mu_series *series,
    enum mu_heap_total total)
{
	size_t count = series->count < BARS ? series->count : BARS, i;

	for (i = count; i <= BARS; i++)
		mu_put(out, " ");
	mu_put(out, "%s",
	    mu_spark(series->totals[total] + series->count - count, count, BARS)
		.text);
}

static void
put_bytes(const struct mu_out *out, bool known, uint64_t bytes)
{
	mu_put(out, COLUMN, known ? mu_human_bytes(bytes).text : "-");
}

static void
put_new(const struct mu_out *out, const struct mu_watch_look *look)
{
	char text[40];

	snprintf(text, sizeof(text), "%s%s", look->new_lost > 0 ? "+" : "",
	    mu_human_bytes(look->new_lost).text);
	mu_put(out, COLUMN, mu_watch_look_checked(look) ? text : "-");
}

void
mu_watch_text_look(const struct mu_out *out, const struct mu_watch_look *look,
    const struct mu_series *bars)
{
	bool checked = mu_watch_look_checked(look);
	time_t seconds = (time_t)(look->real_ns / MU_NS_PER_SEC);
	char clock[16];
	struct tm tm;

	localtime_r(&seconds, &tm);
	strftime(clock, sizeof(clock), "%T", &tm);
	mu_put(out, "%s", clock);
	put_bytes(out, look->rss > 0, look->rss);
	put_bytes(out, look->pss > 0, look->pss);
	put_bytes(out, checked, look->live);
	put_bytes(out, checked, look->held_free);
	put_bytes(out, checked, look->lost);
	put_new(out, look);
	mu_put(out, " %8s", mu_human_time(look->pause_ns).text);
	if (bars != NULL) {
		put_bars(out, bars, MU_HEAP_LIVE);
		put_bars(out, bars, MU_HEAP_FREE);
		put_bars(out, bars, MU_HEAP_LOST);
	}
	if (look->restarted)
		mu_put(out, "  restarted: process %d", look->pid);
	if (!checked)
		mu_put(out, "  not checked: ");
	else if (look->status == MEMUNREACHABLE_PARTIAL)
		mu_put(out, "  partial: ");
	if (look->status != MEMUNREACHABLE_COMPLETE)
		mu_put_safe(out, look->reason);
	mu_put(out, "\n");
}

void
mu_watch_text_message(
    const struct mu_out *out, const struct mu_watch_look *look)
{
	mu_put_safe(out, look->program);
	mu_put(out, "[%d]: ", (int)look->pid);
	if (!mu_watch_look_checked(look)) {
		mu_put(out, "not checked: ");
		mu_put_safe(out, look->reason);
		return;
	}
	mu_put(out, "in use %s", mu_human_bytes(look->live).text);
	mu_put(out, ", held free %s", mu_human_bytes(look->held_free).text);
	mu_put(out, ", lost %s", mu_human_bytes(look->lost).text);
	if (look->new_lost > 0)
		mu_put(out, ", +%s", mu_human_bytes(look->new_lost).text);
	mu_put(out, ", stop %s", mu_human_time(look->pause_ns).text);
}

void
mu_watch_text_stale(const struct mu_out *out, const struct mu_series *series)
{
	const struct mu_watch_group *group = series->stale;
	size_t i;

	for (i = 0; i < series->num_stale; i++, group++) {
		mu_put(out, "not changed for %s: ",
		    mu_human_time(group->stale_seconds * MU_NS_PER_SEC).text);
		mu_put(out, "%s in %llu block%s: ",
		    mu_human_bytes(group->stale_bytes).text,
		    (unsigned long long)group->stale_blocks,
		    group->stale_blocks == 1 ? "" : "s");
		mu_put_safe(out, group->name);
		mu_put(out, "\n");
	}
}
