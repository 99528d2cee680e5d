#include "lib/since/since.h"

#include <jansson.h>
#include <stdlib.h>

#include "lib/look/read.h"
#include "lib/since/json_file.h"
#include "lib/term/safe_text.h"
#include "mu/array.h"
#include "mu/range.h"
#include "mu/sort.h"

static bool
add(struct mu_since *since, struct mu_range range, uint64_t mark,
    enum mu_known_by by, uint32_t stack)
{
	if (!mu_array_room(
		since->known, since->count, since->max, 256, SIZE_MAX))
		return false;
	since->known[since->count++] =
	    (struct mu_known) { range, mark, by, stack };
	return true;
}

static enum mu_status
take_lost(struct mu_since *since, const struct mu_look_file *look,
    const char *file, struct mu_why *why)
{
	size_t i;

	for (i = 0; i < look->num_lost; i++)
		if (!add(since, look->lost[i], look->marks[i], MU_KNOWN_MARK,
			mu_known_stack(look->saved.recorder, look->lost[i])))
			return mu_why(why, MU_ERR_NO_MEMORY,
			    "no memory for the blocks of %s",
			    mu_safe_argument(file).text);
	since->pid = look->outcome.pid;
	return MU_OK;
}

static enum mu_status
take_look(
    struct mu_since *since, const char *file, size_t limit, struct mu_why *why)
{
	struct mu_look_file *look = calloc(1, sizeof(*look));
	enum mu_status status;

	if (look == NULL)
		return mu_why(
		    why, MU_ERR_NO_MEMORY, "no memory for a saved look");
	status = mu_look_file_open(look, file, limit, why);
	if (status == MU_OK)
		status = take_lost(since, look, file, why);
	mu_look_file_close(look);
	free(look);
	return status;
}

/* An entry has an address in hexadecimal, and a size. */
static bool
take_entry(struct mu_since *since, const json_t *entry)
{
	const char *text = json_string_value(json_object_get(entry, "address"));
	json_int_t size = json_integer_value(json_object_get(entry, "size"));
	struct mu_range range;
	char *end;

	if (text == NULL || size <= 0)
		return false;
	range.begin = (uintptr_t)strtoull(text, &end, 16);
	range.end = range.begin + (uintptr_t)size;
	return *end == '\0' && range.end > range.begin &&
	    add(since, range, 0, MU_KNOWN_RANGE, 0);
}

static enum mu_status
take_report(struct mu_since *since, const char *file, struct mu_why *why)
{
	json_t *report = mu_json_file_read(file, why);
	json_t *leaks = json_object_get(report, "leaks");
	size_t i;
	bool ok = json_is_array(leaks);

	if (report == NULL)
		return MU_ERR_ARGUMENT;
	for (i = 0; ok && i < json_array_size(leaks); i++)
		ok = take_entry(since, json_array_get(leaks, i));
	since->pid = (pid_t)json_integer_value(json_object_get(report, "pid"));
	since->missing = (size_t)json_integer_value(
	    json_object_get(report, "unreported_leaks"));
	since->owners = true;
	json_decref(report);
	if (!ok)
		return mu_why(why, MU_ERR_ARGUMENT,
		    "%s is neither a saved look nor a report in JSON",
		    mu_safe_argument(file).text);
	if (since->count > 0)
		mu_sort(since->known, since->count, sizeof(*since->known),
		    mu_range_compare);
	return MU_OK;
}

enum mu_status
mu_since_open(
    struct mu_since *since, const char *file, size_t limit, struct mu_why *why)
{
	*since = (struct mu_since) { .count = 0 };
	return mu_look_file_is(file) ? take_look(since, file, limit, why)
				     : take_report(since, file, why);
}

enum mu_status
mu_since_judge(const struct mu_since *since, pid_t pid, enum mu_status status,
    struct mu_why *why)
{
	if (since->pid != pid)
		return mu_why(why, MU_ERR_ARGUMENT,
		    "the earlier look is at process %d, and this one at"
		    " process %d" MU_CURE
		    "--baseline compares processes, by what they lost",
		    (int)since->pid, (int)pid);
	if (status == MU_OK && since->missing > 0)
		return mu_why(why, MU_PARTIAL,
		    "the earlier report does not list %zu of its lost blocks,"
		    " which look new" MU_CURE
		    "make it with a higher --limit, or save a look",
		    since->missing);
	return status;
}

void
mu_since_close(struct mu_since *since)
{
	free(since->known);
	*since = (struct mu_since) { .count = 0 };
}
