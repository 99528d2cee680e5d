#include "lib/view/heap_dump_file.h"

#include <stdlib.h>
#include <string.h>

#include "lib/view/saturate.h"
#include "lib/view/stack_key.h"
#include "mu/array.h"

#define TITLE "Android Native Heap Dump v"

#define STRINGS_LIMIT ((size_t)4 << 30) /* bytes */

/* Result of parsing a line. */
enum taken { GOOD, BAD, NO_MEMORY };

static bool
keep_string(struct mu_heap_dump *dump, const char **string)
{
	size_t size = strlen(*string) + 1;
	char *copy;

	if (size == 1) {
		*string = "";
		return true;
	}
	copy = mu_arena_alloc(&dump->strings, size, 1);
	if (copy == NULL)
		return false;
	*string = memcpy(copy, *string, size);
	return true;
}

/* Parse "1.2"; a newer version is treated like the newest known one. */
static bool
take_title(struct mu_heap_dump *dump, struct mu_line line)
{
	uint64_t minor;

	if (!mu_line_skip(&line, TITLE) || !mu_line_skip(&line, "1.") ||
	    !mu_line_number(line, 10, &minor) || minor > 99)
		return false;
	dump->version = (unsigned)minor;
	dump->section = MU_DUMP_HEADER;
	return true;
}

/* 'generic/name:version' */
static enum taken
take_fingerprint(struct mu_heap_dump *dump, struct mu_line line)
{
	if (mu_line_has_nul(line))
		return GOOD;
	if (!mu_line_keep(&line, &dump->strings))
		return NO_MEMORY;
	if (line.at < line.end && *line.at == '\'')
		line.at++;
	if (line.at < line.end && line.end[-1] == '\'')
		line.end--;
	dump->fingerprint = mu_line_string(line);
	return GOOD;
}

/* Other lines, which later versions may add, are ignored. */
static enum taken
take_header(struct mu_heap_dump *dump, struct mu_line line)
{
	struct mu_line word;
	uint64_t *value;

	if (mu_line_skip(&line, "Build fingerprint: "))
		return take_fingerprint(dump, line);
	if (mu_line_skip(&line, "Total memory:")) {
		value = &dump->stated_bytes;
	} else if (mu_line_skip(&line, "Allocation records:")) {
		value = &dump->stated_records;
	} else {
		return GOOD;
	}
	if (!mu_line_field(&line, &word) || !mu_line_number(word, 10, value))
		return BAD;
	dump->states_records |= value == &dump->stated_records;
	return GOOD;
}

/* Take KEY and the number after it. */
static bool
take_field(struct mu_line *line, const char *key, uint64_t *value)
{
	struct mu_line word;

	return mu_line_field(line, &word) && mu_line_is(word, key) &&
	    mu_line_field(line, &word) && mu_line_number(word, 10, value);
}

/* Android writes frames up to the first 0. */
static bool
take_frames(struct mu_record *record, struct mu_line line)
{
	struct mu_line word;
	uint64_t pc;

	while (mu_line_field(&line, &word)) {
		if (!mu_line_number(word, 16, &pc))
			return false;
		if (pc == 0)
			break;
		if (record->num_frames < MU_RECORD_FRAMES)
			record->frames[record->num_frames++] = (uintptr_t)pc;
		else
			record->cut = true;
	}
	return true;
}

/* The numbers of the first record, and of all blocks. */
static void
merge(uint64_t into[2], const uint64_t from[2])
{
	if (from[0] < into[0])
		into[0] = from[0];
	into[1] = mu_saturated_add(into[1], from[1]);
}

static bool
keep_record(struct mu_heap_dump *dump, struct mu_record *record)
{
	unsigned char key[MU_SORTER_KEY_MAX], *end;

	if (!mu_addresses_number(
		&dump->addresses, record->frames, record->num_frames))
		return false;
	end = mu_stack_key_put(key, record->frames, record->num_frames, false);
	end = mu_code_put(end, record->own);
	end = mu_code_put(end, record->size);
	if (!mu_sorter_add(&dump->records, key, (size_t)(end - key),
		dump->num_records, record->count))
		return false;
	dump->num_records++;
	dump->num_cut += record->cut;
	dump->num_last = record->num_frames;
	memcpy(dump->last, record->frames,
	    record->num_frames * sizeof(*record->frames));
	return true;
}

static enum taken
take_record(struct mu_heap_dump *dump, struct mu_line line)
{
	struct mu_record record;
	uint64_t own, size, count;
	struct mu_line word;

	if (!take_field(&line, "z", &own) || !take_field(&line, "sz", &size) ||
	    !take_field(&line, "num", &count) || !mu_line_field(&line, &word) ||
	    !mu_line_is(word, "bt"))
		return BAD;
	record.size = size;
	/* v1.0 has the number of frames there. */
	record.count = dump->version == 0 ? 1 : count;
	record.own = own == 1;
	record.cut = false;
	record.num_frames = 0;
	if (!take_frames(&record, line))
		return BAD;
	return keep_record(dump, &record) ? GOOD : NO_MEMORY;
}

/* Keep INFO for its pc, unless an earlier line has one. */
static enum taken
keep_info(struct mu_heap_dump *dump, struct mu_frame_info info)
{
	struct mu_hash_slot *slot = NULL;
	uint32_t hash;

	if (!mu_hash_room(&dump->info_index))
		return NO_MEMORY;
	hash = mu_hash_words(&dump->info_index, &info.pc, 1);
	do {
		slot = mu_hash_find(&dump->info_index, hash, slot);
		if (slot->number != 0 &&
		    dump->infos[slot->number - 1].pc == info.pc)
			return GOOD;
	} while (slot->number != 0);
	if (!keep_string(dump, &info.module) ||
	    !keep_string(dump, &info.function) ||
	    !mu_array_room(
		dump->infos, dump->num_infos, dump->max_infos, 128, SIZE_MAX))
		return NO_MEMORY;
	mu_hash_put(&dump->info_index, slot, hash, dump->num_infos);
	dump->infos[dump->num_infos++] = info;
	return GOOD;
}

static enum taken
take_info(struct mu_heap_dump *dump, struct mu_line line)
{
	struct mu_frame_info info;
	size_t i;

	if (dump->num_records == 0)
		return BAD;
	for (i = 0; mu_frame_info_take(&line, &info); i++) {
		if (i >= dump->num_last)
			continue;
		info.pc = dump->addresses.list[dump->last[i]];
		if (keep_info(dump, info) == NO_MEMORY)
			return NO_MEMORY;
	}
	return mu_line_field(&line, &(struct mu_line) { 0 }) ? BAD : GOOD;
}

static enum taken
take_map(struct mu_heap_dump *dump, struct mu_line line)
{
	bool good;

	if (!mu_line_keep(&line, &dump->strings))
		return NO_MEMORY;
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

/* Parse a line that is not blank. */
static enum taken
take_line(struct mu_heap_dump *dump, struct mu_line line)
{
	struct mu_line rest = line, word;

	switch (dump->section) {
	case MU_DUMP_TITLE:
		/* write_malloc_leak_info() appends to the file. */
		take_title(dump, line);
		return GOOD;
	case MU_DUMP_HEADER:
	case MU_DUMP_RECORDS:
		mu_line_field(&rest, &word);
		if (mu_line_is(word, "z")) {
			dump->section = MU_DUMP_RECORDS;
			return take_record(dump, line);
		}
		if (mu_line_is(word, "bt_info"))
			return take_info(dump, rest);
		if (mu_line_is(line, "MAPS")) {
			dump->section = MU_DUMP_MAPS;
			return GOOD;
		}
		if (dump->section == MU_DUMP_HEADER)
			return take_header(dump, line);
		return BAD;
	case MU_DUMP_MAPS:
		if (!mu_line_is(line, "END"))
			return take_map(dump, line);
		dump->section = MU_DUMP_AFTER;
		dump->ended = true;
		return GOOD;
	default:
		return take_after(dump, line);
	}
}

static bool
is_blank(struct mu_line line)
{
	return !mu_line_field(&line, &(struct mu_line) { 0 });
}

/* An incomplete last line may end in the middle of a number. */
static enum taken
take_any(struct mu_heap_dump *dump, struct mu_line line, bool whole)
{
	enum taken taken;

	dump->num_lines++;
	if (!whole && !mu_line_is(line, "END")) {
		dump->cut = true;
		return GOOD;
	}
	if (is_blank(line))
		return GOOD;
	taken = take_line(dump, line);
	if (taken == BAD && dump->bad_lines++ == 0)
		dump->first_bad = dump->num_lines;
	return taken;
}

size_t
mu_heap_dump_take(
    struct mu_heap_dump *dump, char *text, size_t length, bool ended)
{
	struct mu_line rest = { text, text + length }, line;
	bool whole;

	while (!dump->no_memory && mu_line_take(&rest, &line, &whole)) {
		if (!whole && !ended)
			return (size_t)(line.at - text);
		dump->no_memory = take_any(dump, line, whole) == NO_MEMORY;
	}
	return length;
}

static enum mu_status
conclude(const struct mu_heap_dump *dump, struct mu_why *why)
{
	if (!dump->ended || dump->cut)
		return mu_why(why, MU_PARTIAL,
		    "the file is cut off after line %zu: what follows is"
		    " missing",
		    dump->num_lines - dump->cut);
	if (dump->bad_lines > 0)
		return mu_why_bad_lines(why, dump->bad_lines, dump->first_bad);
	if (dump->states_records && dump->stated_records != dump->num_records)
		return mu_why(why, MU_PARTIAL,
		    "the file is to have %zu records, and has %zu",
		    (size_t)dump->stated_records, dump->num_records);
	if (dump->modules.incomplete)
		return mu_why(
		    why, MU_PARTIAL, "the recorder could not write all of it");
	return MU_OK;
}

void
mu_heap_dump_begin(struct mu_heap_dump *dump)
{
	*dump = (struct mu_heap_dump) { .fingerprint = "",
		.records = { .merge = merge } };
	mu_module_table_open(&dump->modules);
	mu_arena_open(&dump->strings, STRINGS_LIMIT);
}

enum mu_status
mu_heap_dump_end(struct mu_heap_dump *dump, struct mu_why *why)
{
	if (dump->no_memory)
		return mu_why(
		    why, MU_ERR_NO_MEMORY, "no memory for the records");
	if (dump->section == MU_DUMP_TITLE)
		return mu_why(why, MU_ERR_ARGUMENT,
		    "it is not a heap dump; it has no line \"" TITLE "1.x\"");
	mu_addresses_seal(&dump->addresses);
	mu_module_table_seal(&dump->modules);
	mu_frame_infos_seal(dump->infos, dump->num_infos);
	mu_hash_release(&dump->info_index);
	if (dump->modules.no_memory)
		return mu_why(
		    why, MU_ERR_NO_MEMORY, "no memory for the mappings");
	return conclude(dump, why);
}

bool
mu_heap_dump_next(struct mu_heap_dump *dump, struct mu_record *record)
{
	const unsigned char *at;
	struct mu_sorted item;
	uint64_t own;

	if (!mu_sorter_next(&dump->records, &item))
		return false;
	at = mu_stack_key_take(item.key, record->frames, &record->num_frames);
	at = mu_code_take(at, &own);
	mu_code_take(at, &record->size);
	record->own = own != 0;
	record->number = item.values[0];
	record->count = item.values[1];
	record->bytes = mu_saturated_mul(record->size, record->count);
	return true;
}

void
mu_heap_dump_release(struct mu_heap_dump *dump)
{
	mu_sorter_release(&dump->records);
	mu_addresses_release(&dump->addresses);
	mu_module_table_close(&dump->modules);
	mu_hash_release(&dump->info_index);
	mu_arena_close(&dump->strings);
	free(dump->infos);
	*dump = (struct mu_heap_dump) { 0 };
}
