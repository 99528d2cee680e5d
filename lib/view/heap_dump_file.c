/*
 * Heap dumps are read: see heap_dump_file.h.
 *
 * Runs in: the command. Pure.
 */
#include "lib/view/heap_dump_file.h"

#include <stdlib.h>
#include <string.h>

#include "lib/view/grow.h"

#define TITLE "Android Native Heap Dump v"

enum section { TITLE_SOUGHT, HEADER, RECORDS, MAPS, AFTER };

/* How a line was taken. */
enum taken { GOOD, BAD, NO_MEMORY };

struct parse {
	struct mu_heap_dump *dump;
	enum section section;
};

/* "1.2"; what is newer than we are is read as the newest that we know. */
static bool
take_title(struct parse *parse, struct mu_line line)
{
	uint64_t minor;

	if (!mu_line_skip(&line, TITLE) || !mu_line_skip(&line, "1.") ||
	    !mu_line_number(line, 10, &minor) || minor > 99)
		return false;
	parse->dump->version = (unsigned)minor;
	parse->section = HEADER;
	return true;
}

/* 'generic/name:version' */
static void
take_fingerprint(struct mu_heap_dump *dump, struct mu_line line)
{
	if (mu_line_has_nul(line))
		return;
	if (line.at < line.end && *line.at == '\'')
		line.at++;
	if (line.at < line.end && line.end[-1] == '\'')
		line.end--;
	dump->fingerprint = mu_line_string(line);
}

/* Lines that later versions may add here mean nothing to us. */
static enum taken
take_header(struct mu_heap_dump *dump, struct mu_line line)
{
	struct mu_line word;
	uint64_t *value;

	if (mu_line_skip(&line, "Build fingerprint: ")) {
		take_fingerprint(dump, line);
		return GOOD;
	}
	if (mu_line_skip(&line, "Total memory:")) {
		value = &dump->told_bytes;
	} else if (mu_line_skip(&line, "Allocation records:")) {
		value = &dump->told_records;
	} else {
		return GOOD;
	}
	if (!mu_line_word(&line, &word) || !mu_line_number(word, 10, value))
		return BAD;
	dump->tells_records |= value == &dump->told_records;
	return GOOD;
}

/* KEY and the number behind it. */
static bool
take_field(struct mu_line *line, const char *key, uint64_t *value)
{
	struct mu_line word;

	return mu_line_word(line, &word) && mu_line_is(word, key) &&
	    mu_line_word(line, &word) && mu_line_number(word, 10, value);
}

/* Android writes frames up to the first that is 0. */
static enum taken
take_frames(struct mu_records *records, struct mu_line line)
{
	struct mu_line word;
	uint64_t pc;

	while (mu_line_word(&line, &word)) {
		if (!mu_line_number(word, 16, &pc)) {
			mu_records_drop(records);
			return BAD;
		}
		if (pc == 0)
			break;
		if (!mu_records_frame(records, (uintptr_t)pc))
			return NO_MEMORY;
	}
	return GOOD;
}

static enum taken
take_record(struct mu_heap_dump *dump, struct mu_line line)
{
	uint64_t own, size, count;
	struct mu_record *record;
	struct mu_line word;

	if (!take_field(&line, "z", &own) || !take_field(&line, "sz", &size) ||
	    !take_field(&line, "num", &count) || !mu_line_word(&line, &word) ||
	    !mu_line_is(word, "bt"))
		return BAD;
	record = mu_records_add(&dump->records);
	if (record == NULL)
		return NO_MEMORY;
	record->size = size;
	/* v1.0 wrote the number of frames there. */
	record->count = dump->version == 0 ? 1 : count;
	record->own = own == 1;
	return take_frames(&dump->records, line);
}

static enum taken
take_info(struct mu_heap_dump *dump, struct mu_line line)
{
	const struct mu_records *records = &dump->records;
	const struct mu_record *record;
	struct mu_frame_info info;
	size_t i, first;

	if (records->count == 0)
		return BAD;
	record = &records->list[records->count - 1];
	first = records->num_frames - record->num_frames;
	for (i = 0; mu_frame_info_take(&line, &info); i++) {
		if (i >= record->num_frames)
			continue;
		info.pc = records->frames[first + i];
		if (!mu_grow(&dump->infos, dump->num_infos, &dump->max_infos))
			return NO_MEMORY;
		dump->infos[dump->num_infos++] = info;
	}
	return mu_line_word(&line, &(struct mu_line) { 0 }) ? BAD : GOOD;
}

static enum taken
take_map(struct mu_heap_dump *dump, struct mu_line line)
{
	bool good;

	if (*line.at == '#') {
		good = mu_module_table_remark(&dump->modules, line, false);
	} else if (mu_line_skip(&line, "Could not open /proc/self/maps")) {
		return GOOD;
	} else {
		good = mu_module_table_maps_line(&dump->modules, line);
		dump->has_maps |= good;
	}
	if (dump->modules.no_memory)
		return NO_MEMORY;
	return good ? GOOD : BAD;
}

static enum taken
take_after(struct mu_heap_dump *dump, struct mu_line line)
{
	if (*line.at == '#')
		return take_map(dump, line);
	dump->lines_after++;
	return GOOD;
}

/* A line that is not blank. */
static enum taken
take_line(struct parse *parse, struct mu_line line)
{
	struct mu_line rest = line, word;

	switch (parse->section) {
	case TITLE_SOUGHT:
		/* write_malloc_leak_info() goes behind what is there. */
		take_title(parse, line);
		return GOOD;
	case HEADER:
	case RECORDS:
		mu_line_word(&rest, &word);
		if (mu_line_is(word, "z")) {
			parse->section = RECORDS;
			return take_record(parse->dump, line);
		}
		if (mu_line_is(word, "bt_info"))
			return take_info(parse->dump, rest);
		if (mu_line_is(line, "MAPS")) {
			parse->section = MAPS;
			return GOOD;
		}
		if (parse->section == HEADER)
			return take_header(parse->dump, line);
		return BAD;
	case MAPS:
		if (!mu_line_is(line, "END"))
			return take_map(parse->dump, line);
		parse->section = AFTER;
		parse->dump->ended = true;
		return GOOD;
	default:
		return take_after(parse->dump, line);
	}
}

static bool
is_blank(struct mu_line line)
{
	return !mu_line_word(&line, &(struct mu_line) { 0 });
}

/* A last line that is cut may end in the midst of a number. */
static bool
take_lines(struct parse *parse, char *text, size_t length)
{
	struct mu_line rest = { text, text + length }, line;
	struct mu_heap_dump *dump = parse->dump;
	enum taken taken;
	bool whole;

	while (mu_line_take(&rest, &line, &whole)) {
		dump->num_lines++;
		if (!whole && !mu_line_is(line, "END")) {
			dump->cut = true;
			break;
		}
		if (is_blank(line))
			continue;
		taken = take_line(parse, line);
		if (taken == NO_MEMORY)
			return false;
		if (taken == BAD && dump->bad_lines++ == 0)
			dump->first_bad = dump->num_lines;
	}
	return true;
}

static enum mu_status
judge(const struct mu_heap_dump *dump, struct mu_why *why)
{
	if (!dump->ended || dump->cut)
		return mu_why(why, MU_PARTIAL,
		    "the file is cut off after line %zu: what follows is"
		    " missing",
		    dump->num_lines - dump->cut);
	if (dump->bad_lines > 0)
		return mu_why_bad_lines(why, dump->bad_lines, dump->first_bad);
	if (dump->tells_records && dump->told_records != dump->records.count)
		return mu_why(why, MU_PARTIAL,
		    "the file is to have %zu records, and has %zu",
		    (size_t)dump->told_records, dump->records.count);
	if (dump->modules.incomplete)
		return mu_why(
		    why, MU_PARTIAL, "the recorder could not write all of it");
	return MU_OK;
}

enum mu_status
mu_heap_dump_parse(
    struct mu_heap_dump *dump, char *text, size_t length, struct mu_why *why)
{
	struct parse parse = { .dump = dump };

	*dump = (struct mu_heap_dump) { .fingerprint = "" };
	mu_module_table_open(&dump->modules);
	if (!take_lines(&parse, text, length))
		return mu_why(
		    why, MU_ERR_NO_MEMORY, "no memory for the records");
	if (parse.section == TITLE_SOUGHT)
		return mu_why(why, MU_ERR_ARGUMENT,
		    "it is no heap dump; it has no line \"" TITLE "1.x\"");
	mu_records_seal(&dump->records);
	mu_module_table_seal(&dump->modules);
	mu_frame_infos_seal(dump->infos, &dump->num_infos);
	if (dump->modules.no_memory)
		return mu_why(
		    why, MU_ERR_NO_MEMORY, "no memory for the mappings");
	return judge(dump, why);
}

void
mu_heap_dump_release(struct mu_heap_dump *dump)
{
	mu_records_release(&dump->records);
	mu_module_table_close(&dump->modules);
	free(dump->infos);
	*dump = (struct mu_heap_dump) { 0 };
}
