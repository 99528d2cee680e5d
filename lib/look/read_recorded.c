#include "lib/look/reading.h"

#define FRAMES 256u                   /* of a stack */
#define WIRE_MOST ((uint64_t)1 << 30) /* bytes of names */

static void
read_items(struct mu_look_reading *reading)
{
	struct mu_recorder *recorder = &reading->look->recorder;
	struct mu_recorded_item *items, *item;
	size_t max = 0;
	uintptr_t last = 0;
	uint64_t gap;

	items = mu_reading_make(reading, 0, sizeof(*items));
	while ((gap = mu_read_number(reading)) != 0) {
		if (!MU_READING_ROOM(reading, items, recorder->num_items, max))
			break;
		item = &items[recorder->num_items++];
		*item = (struct mu_recorded_item) { .begin =
							last + (uintptr_t)gap };
		item->at = item->begin + (uintptr_t)mu_read_number(reading);
		item->size = mu_read_number(reading);
		item->stack = (uint32_t)mu_read_most(reading, UINT32_MAX);
		mu_reading_require(reading,
		    item->begin > last && item->at >= item->begin &&
			item->at + item->size >= item->at);
		last = item->begin;
	}
	recorder->items = items;
}

static void
read_frames(struct mu_look_reading *reading, struct mu_recorded_stack *stack)
{
	size_t i, count = mu_read_most(reading, FRAMES);
	uintptr_t last = 0,
		  *frames = mu_reading_make(reading, count, sizeof(*frames));

	for (i = 0; i < count && frames != NULL; i++) {
		last += (uintptr_t)mu_get_signed(&reading->in);
		frames[i] = last;
	}
	stack->frames = frames;
	stack->num_frames = frames == NULL ? 0 : (uint32_t)count;
}

static void
read_unloaded(struct mu_look_reading *reading)
{
	struct mu_recorder *recorder = &reading->look->recorder;
	struct mu_unloaded *module;
	size_t max = 0;
	uint64_t left;

	for (left = mu_read_number(reading); left > 0; left--) {
		if (!MU_READING_ROOM(reading, recorder->unloaded,
			recorder->num_unloaded, max))
			return;
		module = &recorder->unloaded[recorder->num_unloaded++];
		module->range = mu_read_range(reading);
		module->offset = mu_read_number(reading);
		module->path = mu_read_string(reading);
		module->build_id = mu_read_string(reading);
		mu_reading_require(reading,
		    recorder->num_unloaded == 1 ||
			module[-1].range.end <= module->range.begin);
	}
}

static void
read_scripts(struct mu_look_reading *reading)
{
	struct mu_recorder *recorder = &reading->look->recorder;
	struct mu_saved_script *scripts = NULL, *script;
	size_t max = 0;
	uintptr_t last = 0;
	uint64_t gap;

	if (reading->version == MU_LOOK_NO_SCRIPTS)
		return;
	while ((gap = mu_read_number(reading)) != 0) {
		if (!MU_READING_ROOM(
			reading, scripts, recorder->num_scripts, max))
			return;
		script = &scripts[recorder->num_scripts++];
		script->frame = last + (uintptr_t)gap;
		script->script.file = mu_read_string(reading);
		script->script.function = mu_read_string(reading);
		script->script.line =
		    (unsigned)mu_read_most(reading, UINT32_MAX);
		mu_reading_require(reading, script->frame > last);
		last = script->frame;
	}
	recorder->scripts = scripts;
}

void
mu_look_read_stacks(struct mu_look_reading *reading)
{
	struct mu_recorder *recorder = &reading->look->recorder;
	struct mu_recorded_stack *stacks = NULL, *stack;
	size_t max = 0;
	uint64_t left;

	mu_read_section(reading, MU_LOOK_STACKS);
	if (!mu_read_flag(reading))
		return;
	recorder->header.sample_bytes = mu_read_number(reading);
	recorder->header.max_frames = (uint32_t)mu_read_most(reading, FRAMES);
	read_items(reading);
	for (left = mu_read_number(reading); left > 0; left--) {
		if (!MU_READING_ROOM(
			reading, stacks, recorder->num_stacks, max))
			return;
		stack = &stacks[recorder->num_stacks++];
		stack->id = (uint32_t)mu_read_most(reading, UINT32_MAX);
		mu_reading_require(reading,
		    recorder->num_stacks == 1 || stack[-1].id < stack->id);
		read_frames(reading, stack);
	}
	recorder->stacks = stacks;
	read_unloaded(reading);
	read_scripts(reading);
	reading->look->saved.recorder = recorder;
}

void
mu_look_read_names(struct mu_look_reading *reading)
{
	struct mu_kept_names *names = &reading->look->names;
	struct mu_kept_question *questions = NULL, *question;
	uint64_t last = 0, left, size, answers;
	size_t max = 0;
	char *bytes;

	mu_read_section(reading, MU_LOOK_NAMES);
	for (left = mu_read_number(reading); left > 0; left--) {
		if (!MU_READING_ROOM(
			reading, questions, names->num_questions, max))
			return;
		question = &questions[names->num_questions++];
		question->kind = (uint32_t)mu_read_most(reading, MU_KEPT_KINDS);
		last += (uint64_t)mu_get_signed(&reading->in);
		question->address = last;
		question->answer = (uint32_t)mu_read_most(reading, UINT32_MAX);
	}
	names->questions = questions;
	answers = mu_read_number(reading);
	size = mu_read_most(reading, WIRE_MOST);
	bytes = mu_reading_make(reading, size, 1);
	if (bytes == NULL)
		return;
	mu_get_bytes(&reading->in, bytes, size);
	if (!mu_reading_failed(reading))
		mu_reading_require(
		    reading, mu_kept_names_replay(names, bytes, size, answers));
}
