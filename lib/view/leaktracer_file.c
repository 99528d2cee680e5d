#include "lib/view/leaktracer_file.h"

#include <string.h>

#include "lib/view/stack_key.h"

#define STRINGS_LIMIT ((size_t)4 << 30) /* bytes */

/* The result of parsing a line, as in the parser of heap dumps. */
enum taken { GOOD, BAD, NO_MEMORY };

/* Take what precedes the next ",", and the "," itself, from LINE. */
static bool
take_field(struct mu_line *line, const char *key, struct mu_line *field)
{
	if (!mu_line_skip(line, key))
		return false;
	field->at = line->at;
	field->end = memchr(line->at, ',', (size_t)(line->end - line->at));
	if (field->end == NULL)
		return false;
	line->at = field->end + 1;
	return true;
}

static bool
is_time(struct mu_line field)
{
	for (; field.at < field.end; field.at++) {
		if ((*field.at < '0' || *field.at > '9') && *field.at != '.')
			return false;
	}
	return true;
}

/* A return address is after its call. */
static bool
take_frames(struct mu_record *record, struct mu_line field)
{
	struct mu_line word;
	uint64_t pc;

	while (mu_line_field(&field, &word)) {
		if (!mu_line_skip(&word, "0x") ||
		    !mu_line_number(word, 16, &pc))
			return false;
		if (pc == 0)
			break;
		if (record->num_frames < MU_RECORD_FRAMES)
			record->frames[record->num_frames++] =
			    (uintptr_t)pc - 1;
		else
			record->cut = true;
	}
	return true;
}

/* A key ends with the time. */
static bool
keep_leak(
    struct mu_leaktracer *file, struct mu_record *record, struct mu_line time)
{
	unsigned char key[MU_SORTER_KEY_MAX], *end;
	size_t length = (size_t)(time.end - time.at);

	if (!mu_addresses_number(
		&file->addresses, record->frames, record->num_frames))
		return false;
	end = mu_code_put(key, file->num_leaks);
	end = mu_stack_key_put(end, record->frames, record->num_frames, false);
	if (length > MU_RECORD_TIME)
		length = MU_RECORD_TIME;
	memcpy(end, time.at, length);
	end += length;
	if (!mu_sorter_add(
		&file->leaks, key, (size_t)(end - key), record->size, 1))
		return false;
	file->num_leaks++;
	file->num_cut += record->cut;
	return true;
}

/* The data are last, as they may contain anything; they are ignored. */
static enum taken
take_leak(struct mu_leaktracer *file, struct mu_line line)
{
	struct mu_line time, stack, size;
	struct mu_record record;

	record.cut = false;
	record.num_frames = 0;
	if (!take_field(&line, " time=", &time) || !is_time(time) ||
	    !take_field(&line, " stack=", &stack) ||
	    !take_field(&line, " size=", &size) ||
	    !mu_line_number(size, 10, &record.size) ||
	    !mu_line_skip(&line, " data=") || !take_frames(&record, stack))
		return BAD;
	return keep_leak(file, &record, time) ? GOOD : NO_MEMORY;
}

static enum taken
take_line(struct mu_leaktracer *file, struct mu_line line)
{
	bool good;

	if (mu_line_skip(&line, "leak,"))
		return take_leak(file, line);
	if (line.at == line.end)
		return GOOD;
	if (*line.at != '#')
		return BAD;
	if (mu_line_skip(&line, "# LeakTracer report")) {
		file->has_title = true;
		return GOOD;
	}
	if (!mu_line_keep(&line, &file->strings))
		return NO_MEMORY;
	good = mu_module_table_remark(&file->modules, line, true);
	if (file->modules.no_memory)
		return NO_MEMORY;
	return good ? GOOD : BAD;
}

/* An incomplete last line counts if it reaches the data. */
static bool
take_any(struct mu_leaktracer *file, struct mu_line line, bool whole)
{
	enum taken taken;

	file->num_lines++;
	file->cut = !whole;
	if (!whole && *line.at == '#')
		return true;
	taken = take_line(file, line);
	if (taken == BAD && whole && file->bad_lines++ == 0)
		file->first_bad = file->num_lines;
	return taken != NO_MEMORY;
}

size_t
mu_leaktracer_take(
    struct mu_leaktracer *file, char *text, size_t length, bool ended)
{
	struct mu_line rest = { text, text + length }, line;
	bool whole;

	while (!file->no_memory && mu_line_take(&rest, &line, &whole)) {
		if (!whole && !ended)
			return (size_t)(line.at - text);
		file->no_memory = !take_any(file, line, whole);
	}
	return length;
}

static enum mu_status
conclude(const struct mu_leaktracer *file, struct mu_why *why)
{
	if (!file->has_title && file->num_leaks == 0)
		return mu_why(why, MU_ERR_ARGUMENT,
		    "it is not a report of LeakTracer; it has no line"
		    " \"# LeakTracer report\"");
	if (file->cut)
		return mu_why(why, MU_PARTIAL,
		    "the file is cut off in line %zu: what follows is missing",
		    file->num_lines);
	if (file->bad_lines > 0)
		return mu_why_bad_lines(why, file->bad_lines, file->first_bad);
	if (file->modules.incomplete)
		return mu_why(
		    why, MU_PARTIAL, "the recorder could not write all of it");
	return MU_OK;
}

void
mu_leaktracer_begin(struct mu_leaktracer *file)
{
	*file = (struct mu_leaktracer) { 0 };
	mu_module_table_open(&file->modules);
	mu_arena_open(&file->strings, STRINGS_LIMIT);
}

enum mu_status
mu_leaktracer_end(struct mu_leaktracer *file, struct mu_why *why)
{
	mu_addresses_seal(&file->addresses);
	if (file->no_memory)
		return mu_why(
		    why, MU_ERR_NO_MEMORY, "no memory for the records");
	return conclude(file, why);
}

bool
mu_leaktracer_next(struct mu_leaktracer *file, struct mu_record *record)
{
	const unsigned char *at;
	struct mu_sorted item;
	uint64_t number;
	size_t length;

	if (!mu_sorter_next(&file->leaks, &item))
		return false;
	at = mu_code_take(item.key, &number);
	at = mu_stack_key_take(at, record->frames, &record->num_frames);
	record->number = number;
	record->size = record->bytes = item.values[0];
	record->count = 1;
	length = (size_t)(item.key + item.length - at);
	memcpy(record->time, at, length);
	record->time[length] = '\0';
	return true;
}

void
mu_leaktracer_release(struct mu_leaktracer *file)
{
	mu_sorter_release(&file->leaks);
	mu_addresses_release(&file->addresses);
	mu_module_table_close(&file->modules);
	mu_arena_close(&file->strings);
	*file = (struct mu_leaktracer) { 0 };
}
