#include "lib/writers/explained_json.h"

#include "lib/writers/json_frame.h"
#include "lib/writers/json_values.h"

/* A part of WHOLE, from 0 to 1, in millionths. */
static json_t *
share(size_t part, size_t whole)
{
	double value = whole == 0 ? 0 : (double)part / (double)whole;

	return json_real((double)(long)(value * 1e6 + 0.5) / 1e6);
}

static json_t *
step_object(const struct mu_step *step)
{
	json_t *object = json_object();
	bool ok = true;

#define SET(key, known, value) \
	ok &= mu_json_set(object, key, (known) ? (value) : json_null())
	SET("kind", true, json_string(mu_step_kind_name(step->kind)));
	SET("name", true, mu_json_name(step->name));
	SET("module", true, mu_json_name(step->module));
	SET("address", step->address != 0, mu_json_address(step->address));
	SET("size", step->size != 0, mu_json_count(step->size));
	SET("offset", step->points, mu_json_count(step->offset));
	SET("into", step->points, mu_json_count(step->into));
	SET("thread", step->thread != 0, json_integer(step->thread));
	SET("thread_name", true, mu_json_name(step->thread_name));
	SET("function", true, mu_json_name(step->function));
	SET("file", true, mu_json_name(step->file));
	SET("line", step->line != 0, mu_json_count(step->line));
	SET("field", true, mu_json_name(step->field));
	SET("element", step->element != NULL, mu_json_name(step->element));
	SET("type", true, mu_json_name(step->type));
	SET("certain", step->type != NULL, json_boolean(step->certain));
	if (step->kind == MU_STEP_MORE || step->counted)
		SET("count", true, mu_json_count(step->count));
#undef SET
	return mu_json_done(object, ok);
}

static json_t *
steps_array(const struct mu_step *steps, size_t count)
{
	json_t *array = json_array();
	bool ok = array != NULL;
	size_t i;

	for (i = 0; ok && i < count; i++)
		ok = json_array_append_new(array, step_object(&steps[i])) == 0;
	return mu_json_done(array, ok);
}

/* The holder's own keys, and what it retains. */
static json_t *
retained_object(
    const struct mu_retained *retained, const struct mu_explained *explained)
{
	json_t *object = step_object(&retained->holder);
	bool ok = true;

	ok &= mu_json_set(
	    object, "retained_bytes", mu_json_count(retained->bytes));
	ok &= mu_json_set(
	    object, "retained_blocks", mu_json_count(retained->blocks));
	ok &= mu_json_set(
	    object, "share", share(retained->bytes, explained->live_bytes));
	ok &= mu_json_set(object, "about", json_boolean(retained->about));
	ok &= mu_json_set(
	    object, "point_bytes", mu_json_count(retained->point_bytes));
	ok &= mu_json_set(
	    object, "point_blocks", mu_json_count(retained->point_blocks));
	ok &= mu_json_set(
	    object, "path", steps_array(retained->path, retained->num_steps));
	return mu_json_done(object, ok);
}

static json_t *
retained_array(const struct mu_explained *explained)
{
	json_t *array = json_array();
	bool ok = array != NULL;
	size_t i;

	for (i = 0; ok && i < explained->num_retained; i++)
		ok = json_array_append_new(array,
			 retained_object(&explained->retained[i], explained)) ==
		    0;
	return mu_json_done(array, ok);
}

static json_t *
in_use_object(const struct mu_in_use *use, const struct mu_explained *explained)
{
	size_t bytes = use->size * use->count;
	json_t *object = json_object();
	bool ok = true;

	ok &= mu_json_set(object, "type", mu_json_name(use->type));
	ok &= mu_json_set(object, "certain",
	    use->type == NULL ? json_null() : json_boolean(use->certain));
	ok &= mu_json_set(object, "size", mu_json_count(use->size));
	ok &= mu_json_set(object, "count", mu_json_count(use->count));
	ok &= mu_json_set(object, "bytes", mu_json_count(bytes));
	ok &= mu_json_set(object, "share", share(bytes, explained->live_bytes));
	ok &= mu_json_set(object, "duplicates", mu_json_count(use->duplicates));
	return mu_json_done(object, ok);
}

static json_t *
in_use_array(const struct mu_explained *explained)
{
	json_t *array = json_array();
	bool ok = array != NULL;
	size_t i;

	for (i = 0; ok && i < explained->num_in_use; i++)
		ok = json_array_append_new(array,
			 in_use_object(&explained->in_use[i], explained)) == 0;
	return mu_json_done(array, ok);
}

static json_t *
duplicate_object(const struct mu_duplicate *duplicate, bool contents)
{
	json_t *object = json_object();
	bool ok = true;

	ok &=
	    mu_json_set(object, "address", mu_json_address(duplicate->address));
	ok &= mu_json_set(object, "size", mu_json_count(duplicate->size));
	ok &= mu_json_set(object, "length", mu_json_count(duplicate->length));
	ok &= mu_json_set(object, "count", mu_json_count(duplicate->count));
	ok &= mu_json_set(object, "bytes",
	    mu_json_count((duplicate->count - 1) * duplicate->size));
	if (contents)
		ok &=
		    mu_json_set(object, "text", mu_json_text(duplicate->text));
	return mu_json_done(object, ok);
}

static json_t *
duplicates_object(const struct mu_explained *explained, bool contents)
{
	json_t *object = json_object(), *texts = json_array();
	bool ok = texts != NULL;
	size_t i;

	for (i = 0; ok && i < explained->num_duplicates; i++)
		ok = json_array_append_new(texts,
			 duplicate_object(
			     &explained->duplicates[i], contents)) == 0;
	ok &= mu_json_set(
	    object, "blocks", mu_json_count(explained->duplicate_blocks));
	ok &= mu_json_set(
	    object, "bytes", mu_json_count(explained->duplicate_bytes));
	ok &= mu_json_set(object, "texts", texts);
	return mu_json_done(object, ok);
}

static json_t *
slack_object(const struct mu_explained *explained)
{
	json_t *object;
	bool ok = true;

	if (explained->recorded_blocks == 0)
		return json_null();
	object = json_object();
	ok &= mu_json_set(
	    object, "blocks", mu_json_count(explained->recorded_blocks));
	ok &= mu_json_set(
	    object, "usable_bytes", mu_json_count(explained->recorded_bytes));
	ok &= mu_json_set(
	    object, "asked_bytes", mu_json_count(explained->asked_bytes));
	return mu_json_done(object, ok);
}

static json_t *
stack_object(const struct mu_in_use_stack *stack, size_t live_bytes)
{
	json_t *object = json_object(), *frames = json_array();
	bool ok = frames != NULL;
	size_t i;

	for (i = 0; ok && i < stack->num_frames; i++)
		ok = json_array_append_new(frames,
			 mu_json_frame(stack->pcs[i], &stack->frames[i])) == 0;
	ok &= mu_json_set(object, "count", mu_json_count(stack->count));
	ok &= mu_json_set(object, "bytes", mu_json_count(stack->bytes));
	ok &= mu_json_set(object, "asked_bytes", mu_json_count(stack->asked));
	ok &= mu_json_set(object, "share", share(stack->bytes, live_bytes));
	ok &= mu_json_set(object, "frames", frames);
	return mu_json_done(object, ok);
}

static json_t *
stacks_array(const struct mu_explained *explained)
{
	json_t *array = json_array();
	bool ok = array != NULL;
	size_t i;

	for (i = 0; ok && i < explained->num_stacks; i++)
		ok = json_array_append_new(array,
			 stack_object(&explained->stacks[i],
			     explained->live_bytes)) == 0;
	return mu_json_done(array, ok);
}

static bool
set_why(json_t *object, const struct mu_why_held *why, bool all)
{
	bool ok = true;

	ok &= mu_json_set(object, "why_found", json_boolean(why->found));
	ok &=
	    mu_json_set(object, "why_reachable", json_boolean(why->reachable));
	ok &= mu_json_set(object, "why_about", json_boolean(why->about));
	ok &=
	    mu_json_set(object, "why", steps_array(why->path, why->num_steps));
	if (all)
		ok &= mu_json_set(object, "referrers",
		    steps_array(why->referrers, why->num_referrers));
	if (why->counter != NULL) {
		ok &=
		    mu_json_set(object, "use_count", mu_json_count(why->uses));
		ok &= mu_json_set(
		    object, "references_found", mu_json_count(why->references));
	}
	return ok;
}

static json_t *
why_type_object(const struct mu_explained *explained)
{
	const struct mu_why_type *why = &explained->why_type;
	json_t *object = json_object(), *nearest = json_array(), *held;
	bool ok = nearest != NULL;
	size_t i;

	for (i = 0; ok && i < why->count; i++) {
		held = json_object();
		ok = json_array_append_new(nearest,
			 mu_json_done(held,
			     set_why(held, &why->nearest[i],
				 explained->wanted.all))) == 0;
	}
	ok &= mu_json_set(
	    object, "wanted", mu_json_text(explained->wanted.why_type));
	ok &= mu_json_set(object, "blocks", mu_json_count(why->blocks));
	ok &= mu_json_set(object, "bytes", mu_json_count(why->bytes));
	ok &= mu_json_set(object, "nearest", nearest);
	return mu_json_done(object, ok);
}

bool
mu_explained_json(
    json_t *report, const struct mu_explained *explained, bool contents)
{
	const struct mu_explain *wanted = &explained->wanted;
	bool ok = mu_json_set(
	    report, "explained_note", mu_json_text(explained->note));

	if (wanted->retained > 0)
		ok &=
		    mu_json_set(report, "retained", retained_array(explained));
	if (wanted->why && explained->why.known)
		ok &= set_why(report, &explained->why, wanted->all);
	if (wanted->why_type != NULL && explained->why_type.known)
		ok &=
		    mu_json_set(report, "why_type", why_type_object(explained));
	if (wanted->in_use) {
		ok &= mu_json_set(report, "in_use", in_use_array(explained));
		ok &= mu_json_set(report, "duplicate_text",
		    duplicates_object(explained, contents));
		ok &= mu_json_set(report, "slack", slack_object(explained));
		ok &= mu_json_set(
		    report, "in_use_stacks", stacks_array(explained));
	}
	return ok;
}
