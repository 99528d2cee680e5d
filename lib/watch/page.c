#include "lib/watch/page.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "lib/term/human.h"
#include "lib/view/html_text.h"
#include "lib/watch/lines.h"
#include "lib/watch/page_script.h"
#include "mu/sys.h"
#include "mu/utc.h"

#define WIDTH 1000.0 /* units of the large picture */
#define HEIGHT 300.0
#define SMALL_WIDTH 200.0 /* of a group's */
#define SMALL_HEIGHT 30.0
#define GROUPS ((size_t)50)
#define STACKED ((size_t)5) /* live groups with areas */

static const char head[] =
    "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
    "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src"
    " 'none'; style-src 'unsafe-inline'; script-src '" MU_WATCH_SCRIPT_SHA256
    "'\">\n"
    "<meta name=\"viewport\" content=\"width=device-width\">\n";

static const char style[] =
    "<style>\n"
    ":root{color-scheme:light dark}\n"
    "body{font:15px/1.5 sans-serif;margin:0 auto;padding:1em;"
    "max-width:75em}\n"
    "h1{font-size:1.4em;overflow-wrap:anywhere}\n"
    "svg{display:block;width:100%;height:19em;background:#8881}\n"
    "svg.small{width:12em;height:2em}\n"
    ".lost{fill:#d33}.live{fill:#48c}.free{fill:#aaa}\n"
    ".g0{fill:#2a7}.g1{fill:#e90}.g2{fill:#a5c}.g3{fill:#6bd}.g4{fill:#b85}\n"
    ".mark{fill:currentColor;opacity:.25}\n"
    "polyline{fill:none;stroke:currentColor;stroke-width:2;"
    "vector-effect:non-scaling-stroke}\n"
    ".legend span{display:inline-block;margin-right:1.5em}\n"
    ".legend i{display:inline-block;width:1em;height:1em;"
    "margin-right:.4em;vertical-align:-.1em}\n"
    "i.g0{background:#2a7}i.g1{background:#e90}i.g2{background:#a5c}"
    "i.g3{background:#6bd}i.g4{background:#b85}\n"
    "i.lost{background:#d33}i.live{background:#48c}"
    "i.free{background:#aaa}\n"
    "i.rss{background:currentColor;height:.15em;vertical-align:.3em}\n"
    "table{border-collapse:collapse;width:100%}\n"
    "th{text-align:left}td,th{padding:.2em .4em;"
    "border-top:1px solid #8884;overflow-wrap:anywhere}\n"
    "td.n,th.n{text-align:right;white-space:nowrap}\n"
    "pre{white-space:pre-wrap;font-weight:bold}\n"
    ".axis{display:flex;justify-content:space-between}\n"
    "</style>\n";

/* A picture of LOOKS at TIMES, whose highest value is MOST. */
struct picture {
	FILE *out;
	const uint64_t *times;
	size_t looks;
	uint64_t most;
	double width, height;
};

static double
x_of(const struct picture *picture, size_t look)
{
	uint64_t begin = picture->times[0];
	uint64_t span = picture->times[picture->looks - 1] - begin;

	return span == 0 ? 0
			 : picture->width *
		(double)(picture->times[look] - begin) / (double)span;
}

static double
y_of(const struct picture *picture, uint64_t value)
{
	if (picture->most == 0 || value > picture->most)
		return value == 0 ? picture->height : 0;
	return picture->height * (1 - (double)value / (double)picture->most);
}

static void
put_point(const struct picture *picture, size_t look, uint64_t value)
{
	fprintf(picture->out, "%.1f,%.1f ", x_of(picture, look),
	    y_of(picture, value));
}

/* Between two curves. */
static void
put_area(const struct picture *picture, const char *class, const char *title,
    const uint64_t *below, const uint64_t *above)
{
	size_t i;

	fprintf(picture->out, "<polygon class=\"%s\" points=\"", class);
	for (i = 0; i < picture->looks; i++)
		put_point(picture, i, above[i]);
	for (i = picture->looks; i-- > 0;)
		put_point(picture, i, below[i]);
	fputs("\"><title>", picture->out);
	mu_html_text(picture->out, title);
	fputs("</title></polygon>\n", picture->out);
}

static void
put_curve(const struct picture *picture, const uint64_t *values)
{
	size_t i;

	fputs("<polyline points=\"", picture->out);
	for (i = 0; i < picture->looks; i++)
		put_point(picture, i, values[i]);
	fputs("\"/>\n", picture->out);
}

static void
put_svg(const struct picture *picture, const char *class)
{
	fprintf(picture->out,
	    "<svg%s viewBox=\"0 0 %.0f %.0f\" preserveAspectRatio=\"none\""
	    " role=\"img\">\n",
	    class, picture->width, picture->height);
}

/* The live groups that have most at the latest look, the largest first. */
struct stacked {
	const struct mu_series_line *lines[STACKED];
	size_t count;
};

static void
stack_line(
    struct stacked *stacked, const struct mu_series_line *line, size_t at)
{
	size_t i = stacked->count;

	if (line->kind != MU_WATCH_LIVE || line->values[at] == 0)
		return;
	if (i < STACKED)
		stacked->count++;
	else if (line->values[at] <= stacked->lines[--i]->values[at])
		return;
	for (; i > 0 && stacked->lines[i - 1]->values[at] < line->values[at];
	     i--)
		stacked->lines[i] = stacked->lines[i - 1];
	stacked->lines[i] = line;
}

static struct stacked
stack_groups(const struct mu_series *series)
{
	struct stacked stacked = { .count = 0 };
	size_t i;

	for (i = 0; i < series->num_lines; i++)
		stack_line(&stacked, &series->lines[i], series->count - 1);
	return stacked;
}

/* The areas of live groups, and of all else that lives, from LOW to HIGH. */
static void
put_live(const struct picture *picture, const struct stacked *stacked,
    uint64_t *low, const uint64_t *high)
{
	uint64_t top[MU_SERIES_LOOKS];
	char class[24];
	size_t i, look;

	for (i = 0; i < stacked->count; i++) {
		for (look = 0; look < picture->looks; look++) {
			top[look] = low[look] + stacked->lines[i]->values[look];
			/* Not every look knows the groups. */
			if (top[look] > high[look])
				top[look] = high[look];
		}
		snprintf(class, sizeof(class), "g%zu", i);
		put_area(picture, class, stacked->lines[i]->name, low, top);
		memcpy(low, top, sizeof(top));
	}
	put_area(picture, "live", "in use", low, high);
}

/* Lost, live and free memory upon each other, and what is resident. */
static void
put_totals(
    FILE *out, const struct mu_series *series, const struct stacked *stacked)
{
	uint64_t lost[MU_SERIES_LOOKS] = { 0 }, low[MU_SERIES_LOOKS] = { 0 },
		 live[MU_SERIES_LOOKS] = { 0 }, all[MU_SERIES_LOOKS] = { 0 },
		 resident[MU_SERIES_LOOKS] = { 0 };
	struct picture picture = { .out = out,
		.times = series->times_ns,
		.looks = series->count,
		.width = WIDTH,
		.height = HEIGHT };
	size_t i;

	for (i = 0; i < series->count; i++) {
		lost[i] = series->totals[MU_HEAP_LOST][i];
		live[i] = lost[i] + series->totals[MU_HEAP_LIVE][i];
		all[i] = live[i] + series->totals[MU_HEAP_FREE][i];
		resident[i] = all[i] + series->totals[MU_SERIES_OUTSIDE][i];
		if (resident[i] > picture.most)
			picture.most = resident[i];
	}
	fprintf(out, "<p class=\"axis\"><span>%s</span></p>\n",
	    mu_human_bytes(picture.most).text);
	put_svg(&picture, "");
	put_area(&picture, "lost", "lost", low, lost);
	memcpy(low, lost, sizeof(low));
	put_live(&picture, stacked, low, live);
	put_area(&picture, "free", "held free", live, all);
	put_curve(&picture, resident);
	fputs("</svg>\n", out);
}

static void
put_legend(
    FILE *out, const struct mu_series *series, const struct stacked *stacked)
{
	size_t last = series->count - 1, i;

	fprintf(out,
	    "<p class=\"legend\"><span><i class=\"lost\"></i>lost %s</span>",
	    mu_human_bytes(series->totals[MU_HEAP_LOST][last]).text);
	fprintf(out, "<span><i class=\"live\"></i>in use %s</span>",
	    mu_human_bytes(series->totals[MU_HEAP_LIVE][last]).text);
	for (i = 0; i < stacked->count; i++) {
		fprintf(out, "<span><i class=\"g%zu\"></i>", i);
		mu_html_text(out, stacked->lines[i]->name);
		fprintf(out, " %s</span>",
		    mu_human_bytes(stacked->lines[i]->values[last]).text);
	}
	fprintf(out, "<span><i class=\"free\"></i>held free %s</span>",
	    mu_human_bytes(series->totals[MU_HEAP_FREE][last]).text);
	fputs("<span><i class=\"rss\"></i>with the memory that is not"
	      " malloc's</span></p>\n",
	    out);
}

static void
put_axis(FILE *out, const struct mu_watch_page *page)
{
	const struct mu_series *series = page->series;
	size_t last = series->count - 1;
	uint64_t span = series->times_ns[last] - series->times_ns[0];
	/* The latest look may have failed. */
	uint64_t end = page->last->real_ns -
	    (page->last->mono_ns - series->times_ns[last]);

	fprintf(out,
	    "<p class=\"axis times\" data-begin=\"%" PRIu64
	    "\" data-end=\"%" PRIu64
	    "\"><span>%s</span><span>%zu looks in %s; select a part to see"
	    " more of it</span><span>%s</span></p>\n",
	    (uint64_t)((end > span ? end - span : 0) / MU_NS_PER_MS),
	    (uint64_t)(end / MU_NS_PER_MS),
	    mu_utc_ms(end > span ? end - span : 0).text, series->kept.taken,
	    mu_human_time(span).text, mu_utc_ms(end).text);
}

static uint64_t
last_of(const struct mu_series *series, const struct mu_series_line *line)
{
	return line->values[series->count - 1];
}

static int64_t
gained(const struct mu_series *series, const struct mu_series_line *line)
{
	return (int64_t)(last_of(series, line) - line->values[0]);
}

struct sorted {
	const struct mu_series_line *line;
	int64_t gained;
};

static int
compare(const void *a, const void *b)
{
	const struct sorted *x = a, *y = b;

	return (x->gained < y->gained) - (x->gained > y->gained);
}

static void
put_group(FILE *out, const struct mu_series *series, const struct sorted *one)
{
	struct picture picture = { .out = out,
		.times = series->times_ns,
		.looks = series->count,
		.width = SMALL_WIDTH,
		.height = SMALL_HEIGHT };
	const struct mu_series_line *line = one->line;
	uint64_t change =
	    one->gained < 0 ? -(uint64_t)one->gained : (uint64_t)one->gained;
	size_t i;

	for (i = 0; i < series->count; i++)
		if (line->values[i] > picture.most)
			picture.most = line->values[i];
	fprintf(out, "<tr><td>%s</td><td>", mu_watch_kind_name(line->kind));
	mu_html_text(out, line->name);
	fprintf(out, "</td><td class=\"n\">%s</td>",
	    mu_human_bytes(last_of(series, line)).text);
	fprintf(out, "<td class=\"n\">%c%s</td><td>\n",
	    one->gained < 0 ? '-' : '+', mu_human_bytes(change).text);
	put_svg(&picture, " class=\"small\"");
	put_curve(&picture, line->values);
	fputs("</svg></td></tr>\n", out);
}

/* What grew most comes first. */
static void
put_groups(FILE *out, const struct mu_series *series)
{
	struct sorted *all = calloc(series->num_lines + 1, sizeof(*all));
	size_t i;

	if (all == NULL || series->num_lines == 0) {
		free(all);
		return;
	}
	for (i = 0; i < series->num_lines; i++)
		all[i] = (struct sorted) { &series->lines[i],
			gained(series, &series->lines[i]) };
	qsort(all, series->num_lines, sizeof(*all), compare);
	fputs("<h2>Groups</h2>\n<table><tr><th></th><th>what</th>"
	      "<th class=\"n\">now</th><th class=\"n\">change</th><th></th>"
	      "</tr>\n",
	    out);
	for (i = 0; i < series->num_lines && i < GROUPS; i++)
		put_group(out, series, &all[i]);
	fputs("</table>\n", out);
	free(all);
}

static void
put_verdict(FILE *out, const struct mu_watch_page *page)
{
	char text[4096] = "";
	struct mu_text room = { text, sizeof(text), 0 };
	struct mu_out to = mu_out_text(&room);
	char *line, *rest = text;

	mu_watch_verdict_text(&to, page->result);
	mu_watch_text_stale(&to, page->series);
	fprintf(out, "<pre>%s", page->next_ns > 0 ? "So far: " : "");
	while ((line = strsep(&rest, "\n")) != NULL) {
		mu_html_text(out, line);
		fputc('\n', out);
	}
	fputs("</pre>\n", out);
	if (page->restarts > 0)
		fprintf(out,
		    "<p>Restarted %zu time%s; the curves are of the latest"
		    " process.</p>\n",
		    page->restarts, page->restarts == 1 ? "" : "s");
}

static void
put_pictures(FILE *out, const struct mu_watch_page *page)
{
	const struct stacked stacked = stack_groups(page->series);

	put_totals(out, page->series, &stacked);
	put_axis(out, page);
	put_legend(out, page->series, &stacked);
	put_groups(out, page->series);
	fprintf(out, "<script>%s</script>\n", mu_watch_script);
}

void
mu_watch_page(FILE *out, const struct mu_watch_page *page)
{
	fputs(head, out);
	if (page->next_ns > 0)
		fprintf(out,
		    "<meta http-equiv=\"refresh\" content=\"%" PRIu64 "\">\n",
		    (uint64_t)(page->next_ns / MU_NS_PER_SEC + 1));
	fputs("<title>", out);
	mu_html_text(out, page->last->program);
	fprintf(out, "</title>\n%s</head>\n<body>\n<h1>", style);
	mu_html_text(out, page->last->program);
	fprintf(out, ", process %d</h1>\n", (int)page->last->pid);
	put_verdict(out, page);
	if (page->series->count > 0) {
		put_pictures(out, page);
	}
	fputs("</body>\n</html>\n", out);
}
