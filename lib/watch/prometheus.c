/*
 * https://prometheus.io/docs/instrumenting/exposition_formats: HELP and TYPE
 * before the samples of a metric; in the value of a label, backslash, quote and
 * newline are escaped, and it is UTF-8.
 */
#include <stdio.h>
#include <string.h>

#include "lib/term/safe_text.h"
#include "lib/watch/lines.h"
#include "mu/sys.h"

struct metric {
	const char *name, *help;
	bool known;
	double value;
};

static void
put_label(const struct mu_out *out, const char *text)
{
	char safe[MU_SAFE_SIZE(sizeof(((struct mu_watch_look *)0)->program))];
	const char *at;

	/* No control character, and so no newline, is left. */
	mu_safe_for_terminal(text, safe, sizeof(safe));
	for (at = safe; *at != '\0'; at++) {
		if (*at == '"' || *at == '\\')
			mu_put(out, "\\");
		out->put(out->ctx, at, 1);
	}
}

static void
put_metric(const struct mu_out *out, const struct mu_watch_look *look,
    const struct metric *metric)
{
	const char *slash = strrchr(look->program, '/');
	char value[40];

	if (!metric->known)
		return;
	/* As many digits as every double keeps; so do counts below 10^15. */
	snprintf(value, sizeof(value), "%.15g", metric->value);
	mu_put(
	    out, "# HELP memunreachable_%s %s\n", metric->name, metric->help);
	mu_put(out, "# TYPE memunreachable_%s gauge\n", metric->name);
	mu_put(out, "memunreachable_%s{pid=\"%d\",program=\"", metric->name,
	    look->pid);
	put_label(out, slash == NULL ? look->program : slash + 1);
	mu_put(out, "\"} %s\n", value);
}

void
mu_watch_prometheus(const struct mu_out *out, const struct mu_watch_look *look)
{
	bool checked = mu_watch_look_checked(look);
	const struct metric metrics[] = {
		{ "check_success", "Whether the latest look checked the heap.",
		    true, checked },
		{ "check_timestamp_seconds", "When the latest look began.",
		    true, (double)look->real_ns / (double)MU_NS_PER_SEC },
		{ "lost_bytes", "Bytes that nothing points to.", checked,
		    (double)look->lost },
		{ "lost_blocks", "Blocks that nothing points to.", checked,
		    (double)look->lost_blocks },
		{ "heap_live_bytes", "Bytes of blocks in use.", checked,
		    (double)look->live },
		{ "heap_live_blocks", "Blocks in use.", checked,
		    (double)look->live_blocks },
		{ "heap_free_bytes", "Bytes that malloc holds free.", checked,
		    (double)look->held_free },
		{ "pause_seconds", "The longest stop of the latest look.", true,
		    (double)look->pause_ns / (double)MU_NS_PER_SEC },
	};
	size_t i;

	for (i = 0; i < sizeof(metrics) / sizeof(*metrics); i++)
		put_metric(out, look, &metrics[i]);
}
