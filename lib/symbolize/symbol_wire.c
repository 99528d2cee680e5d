#include "lib/symbolize/symbol_wire.h"
#include "mu/array.h"

#include <stdlib.h>
#include <string.h>

static bool
add_string(struct mu_wire_reader *reader, const char *bytes, size_t length)
{
	char *string;

	if (reader->num_strings == MU_WIRE_STRINGS_MAX ||
	    memchr(bytes, '\0', length) != NULL)
		return false;
	if (!mu_array_room(reader->strings, reader->num_strings,
		reader->max_strings, 256, SIZE_MAX))
		return false;
	string = mu_arena_alloc(reader->arena, length + 1, 1);
	if (string == NULL)
		return false;
	memcpy(string, bytes, length);
	reader->strings[reader->num_strings++] = string;
	return true;
}

/* False: there is no such string. */
static bool
find_string(
    const struct mu_wire_reader *reader, uint32_t number, const char **string)
{
	*string = NULL;
	if (number > reader->num_strings)
		return false;
	if (number > 0)
		*string = reader->strings[number - 1];
	return true;
}

static bool
read_inlined(struct mu_wire_reader *reader, const char *bytes, size_t count,
    struct mu_symbol *symbol)
{
	struct mu_wire_inlined wire;
	struct mu_inlined *list;
	size_t i;

	if (count == 0)
		return true;
	list = mu_arena_alloc(reader->arena, count, sizeof(*list));
	if (list == NULL)
		return false;
	for (i = 0; i < count; i++) {
		memcpy(&wire, bytes + i * sizeof(wire), sizeof(wire));
		if (!find_string(reader, wire.function, &list[i].function) ||
		    !find_string(reader, wire.file, &list[i].file))
			return false;
		list[i].line = wire.line;
	}
	symbol->inlined = list;
	symbol->num_inlined = count;
	return true;
}

static bool
read_symbol(struct mu_wire_reader *reader, const char *bytes, size_t length,
    struct mu_symbol *symbol, enum mu_symbols_detail *detail)
{
	struct mu_wire_symbol wire;

	if (length < sizeof(wire))
		return false;
	memcpy(&wire, bytes, sizeof(wire));
	if (wire.num_inlined > MU_WIRE_INLINED_MAX ||
	    wire.detail > MU_SYMBOLS_LINES ||
	    length !=
		sizeof(wire) +
		    wire.num_inlined * sizeof(struct mu_wire_inlined))
		return false;
	*detail = (enum mu_symbols_detail)wire.detail;
	*symbol = (struct mu_symbol) {
		.offset = (uintptr_t)wire.offset,
		.line = wire.line,
	};
	return find_string(reader, wire.module, &symbol->module) &&
	    find_string(reader, wire.build_id, &symbol->build_id) &&
	    find_string(reader, wire.function, &symbol->function) &&
	    find_string(reader, wire.file, &symbol->file) &&
	    read_inlined(
		reader, bytes + sizeof(wire), wire.num_inlined, symbol);
}

enum mu_wire_read
mu_wire_read(struct mu_wire_reader *reader, const char *bytes, size_t length,
    size_t *used, struct mu_symbol *symbol, enum mu_symbols_detail *detail)
{
	struct mu_wire_head head;

	for (*used = 0; length - *used >= sizeof(head);) {
		memcpy(&head, bytes + *used, sizeof(head));
		if (head.length > MU_WIRE_STRING_MAX)
			return MU_WIRE_BAD;
		if (length - *used - sizeof(head) < head.length)
			break;
		*used += sizeof(head) + head.length;
		if (head.kind == MU_WIRE_SYMBOL)
			return read_symbol(reader, bytes + *used - head.length,
				   head.length, symbol, detail)
			    ? MU_WIRE_READ
			    : MU_WIRE_BAD;
		if (head.kind != MU_WIRE_STRING ||
		    !add_string(
			reader, bytes + *used - head.length, head.length))
			return MU_WIRE_BAD;
	}
	return MU_WIRE_MORE;
}

void
mu_wire_reader_reset(struct mu_wire_reader *reader)
{
	free(reader->strings);
	reader->strings = NULL;
	reader->num_strings = reader->max_strings = 0;
}
