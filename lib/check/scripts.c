#include "lib/check/scripts.h"

#include <stdlib.h>
#include <string.h>

#include "mu/array.h"
#include "mu/bisect.h"

#define MOST 16384 /* a report of a program has hundreds */

static size_t
place_of(const struct mu_scripts *scripts, uintptr_t frame)
{
	size_t low = 0;

	mu_bisect(low, scripts->count, i, scripts->all[i].frame < frame);
	return low;
}

static bool
insert(struct mu_scripts *scripts, size_t at, struct mu_script_name name)
{
	struct mu_script_name *place;

	if (name.script.file == NULL || name.script.function == NULL ||
	    !mu_array_room(
		scripts->all, scripts->count, scripts->max, 64, SIZE_MAX)) {
		free((char *)name.script.file);
		free((char *)name.script.function);
		return false;
	}
	place = &scripts->all[at];
	memmove(place + 1, place, (scripts->count++ - at) * sizeof(*place));
	*place = name;
	return true;
}

bool
mu_scripts_note(struct mu_scripts *scripts, const struct mu_recorder *recorder,
    uintptr_t frame)
{
	struct mu_script_name name = { .frame = frame };
	size_t at;

	if (!mu_frame_is_script(frame))
		return true;
	at = place_of(scripts, frame);
	if ((at < scripts->count && scripts->all[at].frame == frame) ||
	    scripts->count == MOST)
		return true;
	if (!mu_recorder_script(recorder, frame, &name.script))
		return true;
	name.script.file = strdup(name.script.file);
	name.script.function = strdup(name.script.function);
	return insert(scripts, at, name);
}

const struct mu_script *
mu_scripts_find(const struct mu_scripts *scripts, uintptr_t frame)
{
	size_t at = place_of(scripts, frame);

	if (at == scripts->count || scripts->all[at].frame != frame)
		return NULL;
	return &scripts->all[at].script;
}

void
mu_scripts_close(struct mu_scripts *scripts)
{
	size_t i;

	for (i = 0; i < scripts->count; i++) {
		free((char *)scripts->all[i].script.file);
		free((char *)scripts->all[i].script.function);
	}
	free(scripts->all);
	*scripts = (struct mu_scripts) { .count = 0 };
}
