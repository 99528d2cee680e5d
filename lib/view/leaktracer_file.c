#include "lib/view/leaktracer_file.h"

#include <stdlib.h>
#include <string.h>

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
static enum taken
take_frames(struct mu_records *records, struct mu_line field)
{
	struct mu_line word;
	uint64_t pc;

	while (mu_line_field(&field, &word)) {
		if (!mu_line_skip(&word, "0x") ||
		    !mu_line_number(word, 16, &pc)) {
			mu_records_drop(records);
			return BAD;
		}
		if (pc == 0)
			break;
		if (!mu_records_frame(records, (uintptr_t)pc - 1))
			return NO_MEMORY;
	}
	return GOOD;
}

/* The data are last, as they may contain anything; they are ignored. */
static enum taken
take_leak(struct mu_leaktracer *file, struct mu_line line)
{
	struct mu_line time, stack, size;
	struct mu_record *record;
	uint64_t bytes;

	if (!take_field(&line, " time=", &time) || !is_time(time) ||
	    !take_field(&line, " stack=", &stack) ||
	    !take_field(&line, " size=", &size) ||
	    !mu_line_number(size, 10, &bytes) || !mu_line_skip(&line, " data="))
		return BAD;
	record = mu_records_add(&file->records);
	if (record == NULL)
		return NO_MEMORY;
	record->size = bytes;
	record->time = mu_line_string(time);
	return take_frames(&file->records, stack);
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
	good = mu_module_table_remark(&file->modules, line, true);
	if (file->modules.no_memory)
		return NO_MEMORY;
	return good ? GOOD : BAD;
}

/* An incomplete last line counts if it reaches the data. */
static bool
take_lines(struct mu_leaktracer *file, char *text, size_t length)
{
	struct mu_line rest = { text, text + length }, line;
	enum taken taken;
	bool whole;

	while (mu_line_take(&rest, &line, &whole)) {
		file->num_lines++;
		file->cut = !whole;
		if (!whole && *line.at == '#')
			break;
		taken = take_line(file, line);
		if (taken == NO_MEMORY)
			return false;
		if (taken == BAD && whole && file->bad_lines++ == 0)
			file->first_bad = file->num_lines;
	}
	return true;
}

static enum mu_status
conclude(const struct mu_leaktracer *file, struct mu_why *why)
{
	if (!file->has_title && file->records.count == 0)
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

enum mu_status
mu_leaktracer_parse(
    struct mu_leaktracer *file, char *text, size_t length, struct mu_why *why)
{
	*file = (struct mu_leaktracer) { 0 };
	mu_module_table_open(&file->modules);
	if (!take_lines(file, text, length))
		return mu_why(
		    why, MU_ERR_NO_MEMORY, "no memory for the records");
	mu_records_seal(&file->records);
	return conclude(file, why);
}

void
mu_leaktracer_release(struct mu_leaktracer *file)
{
	mu_records_release(&file->records);
	mu_module_table_close(&file->modules);
	*file = (struct mu_leaktracer) { 0 };
}
