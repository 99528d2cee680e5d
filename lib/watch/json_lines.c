#include <jansson.h>

#include "lib/watch/lines.h"
#include "lib/writers/json_values.h"
#include "mu/sys.h"
#include "mu/utc.h"

static json_t *
count_if(bool known, uint64_t count)
{
	return known ? mu_json_count(count) : json_null();
}

static json_t *
seconds(uint64_t ns)
{
	return json_real((double)ns / (double)MU_NS_PER_SEC);
}

static bool
set_subject(json_t *object, const struct mu_watch_look *look)
{
	bool ok = true;

	ok &= mu_json_set(
	    object, "time", json_string(mu_utc_ms(look->real_ns).text));
	ok &= mu_json_set(object, "pid", json_integer(look->pid));
	ok &= mu_json_set(object, "program", mu_json_text(look->program));
	return ok;
}

json_t *
mu_watch_json_look(const struct mu_watch_look *look, uint64_t next_ns)
{
	bool checked = mu_watch_look_checked(look);
	json_t *object = json_object();
	bool ok = set_subject(object, look);

	ok &= mu_json_set(
	    object, "rss_bytes", count_if(look->rss > 0, look->rss));
	ok &= mu_json_set(
	    object, "pss_bytes", count_if(look->pss > 0, look->pss));
#define SET(name, value) \
	ok &= mu_json_set(object, name, count_if(checked, look->value))
	SET("heap_live_bytes", live);
	SET("heap_live_blocks", live_blocks);
	SET("heap_lost_bytes", lost);
	SET("heap_lost_blocks", lost_blocks);
	SET("heap_free_bytes", held_free);
	SET("new_lost_bytes", new_lost);
	SET("stale_bytes", stale);
#undef SET
	ok &= mu_json_set(object, "pause_ns", mu_json_count(look->pause_ns));
	ok &= mu_json_set(
	    object, "status", json_string(mu_status_word(look->status)));
	ok &= mu_json_set(object, "reason", mu_json_text(look->reason));
	ok &= mu_json_set(object, "restarted", json_boolean(look->restarted));
	ok &= mu_json_set(object, "next_seconds", seconds(next_ns));
	return mu_json_done(object, ok);
}

static json_t *
gains_array(const struct mu_watch_result *result)
{
	json_t *array = json_array(), *object;
	const struct mu_watch_gain *gain;
	bool ok = array != NULL, filled;
	size_t i;

	for (i = 0; ok && i < result->num_gains; i++) {
		gain = &result->gains[i];
		object = json_object();
		filled = mu_json_set(object, "verdict",
		    json_string(mu_watch_verdict_name(gain->verdict)));
		filled &= mu_json_set(
		    object, "bytes_per_hour", json_real(gain->per_hour));
		filled &= mu_json_set(
		    object, "gained_bytes", mu_json_count(gain->gained));
		ok = json_array_append_new(
			 array, mu_json_done(object, filled)) == 0;
	}
	return mu_json_done(array, ok);
}

static json_t *
growing_array(const struct mu_watch_result *result)
{
	json_t *array = json_array(), *object;
	const struct mu_watch_growing *growing;
	bool ok = array != NULL, filled;
	size_t i;

	for (i = 0; ok && i < result->num_growing; i++) {
		growing = &result->growing[i];
		object = json_object();
		filled =
		    mu_json_set(object, "name", mu_json_text(growing->name));
		filled &= mu_json_set(object, "kind",
		    json_string(mu_watch_kind_name(growing->kind)));
		filled &= mu_json_set(
		    object, "bytes_per_hour", json_real(growing->per_hour));
		filled &=
		    mu_json_set(object, "share", json_real(growing->share));
		filled &= mu_json_set(
		    object, "gained_bytes", mu_json_count(growing->gained));
		if (growing->kind == MU_WATCH_HELD)
			filled &= mu_json_set(object, "elements_per_hour",
			    json_real(growing->elements_per_hour));
		ok = json_array_append_new(
			 array, mu_json_done(object, filled)) == 0;
	}
	return mu_json_done(array, ok);
}

static json_t *
stale_array(const struct mu_series *series)
{
	const struct mu_watch_group *group = series->stale;
	json_t *array = json_array(), *object;
	bool ok = array != NULL, filled;
	size_t i;

	for (i = 0; ok && i < series->num_stale; i++, group++) {
		object = json_object();
		filled = mu_json_set(object, "name", mu_json_text(group->name));
		filled &= mu_json_set(
		    object, "bytes", mu_json_count(group->stale_bytes));
		filled &= mu_json_set(
		    object, "blocks", mu_json_count(group->stale_blocks));
		filled &= mu_json_set(
		    object, "seconds", mu_json_count(group->stale_seconds));
		ok = json_array_append_new(
			 array, mu_json_done(object, filled)) == 0;
	}
	return mu_json_done(array, ok);
}

json_t *
mu_watch_json_verdict(const struct mu_watch_result *result,
    const struct mu_series *series, const struct mu_rounds *rounds,
    const struct mu_watch_look *last)
{
	const struct mu_watch_gain gain = mu_watch_main_gain(result);
	json_t *object = json_object();
	bool ok = set_subject(object, last);

	ok &= mu_json_set(object, "verdict",
	    json_string(mu_watch_verdict_name(result->verdict)));
	ok &= mu_json_set(object, "bytes_per_hour", json_real(gain.per_hour));
	ok &= mu_json_set(object, "gained_bytes", mu_json_count(gain.gained));
	ok &= mu_json_set(object, "gains", gains_array(result));
	ok &= mu_json_set(object, "rising", json_boolean(result->rising));
	ok &= mu_json_set(object, "growing", growing_array(result));
	ok &= mu_json_set(object, "stale", stale_array(series));
	if (rounds != NULL) {
		ok &=
		    mu_json_set(object, "rounds", mu_json_count(rounds->count));
		ok &=
		    mu_json_set(object, "rounds_left", mu_rounds_json(rounds));
	}
	ok &= mu_json_set(object, "looks", mu_json_count(result->looks));
	ok &= mu_json_set(
	    object, "unchecked_looks", mu_json_count(result->unchecked));
	ok &= mu_json_set(
	    object, "partial_looks", mu_json_count(result->partial));
	ok &= mu_json_set(object, "span_seconds", seconds(result->span_ns));
	ok &= mu_json_set(object, "reason", mu_json_text(result->reason));
	return mu_json_done(object, ok);
}
