#include "lib/symbolize/symbol_wire.h"

#include <stdlib.h>
#include <string.h>

#include "mu/array.h"
#include "mu/hash.h"
#include "mu/sys.h"

#define ROOM ((size_t)64 << 10)
#define SENT ((size_t)1 << 13) /* strings that are cached; a power of 2 */

struct mu_wire_sent {
	char *string;
	uint32_t number;
};

/* Writing of answers: see symbol_wire.h. */

void
mu_wire_flush(struct mu_wire_writer *writer)
{
	size_t done = 0;
	ssize_t n;

	while (!writer->failed && done < writer->used) {
		n = mu_sys_write(
		    writer->fd, writer->buffer + done, writer->used - done);
		if (n > 0)
			done += (size_t)n;
		else if (n != -EINTR)
			writer->failed = true;
	}
	writer->used = 0;
}

void
mu_wire_close(struct mu_wire_writer *writer)
{
	size_t i;

	for (i = 0; writer->sent != NULL && i < SENT; i++)
		free(writer->sent[i].string);
	free(writer->sent);
	free(writer->buffer);
	*writer = (struct mu_wire_writer) { .fd = writer->fd };
}

/* Room for SIZE bytes, at most MU_WIRE_STRING_MAX. */
static bool
make_room(struct mu_wire_writer *writer, size_t size)
{
	if (writer->room > 0 && writer->fd >= 0 &&
	    size > writer->room - writer->used)
		mu_wire_flush(writer);
	while (size > writer->room - writer->used)
		if (!mu_array_more(
			&writer->buffer, &writer->room, 1, ROOM, SIZE_MAX / 2))
			return false;
	return true;
}

static void
put(struct mu_wire_writer *writer, const void *bytes, size_t size)
{
	if (writer->sent == NULL)
		writer->sent = calloc(SENT, sizeof(*writer->sent));
	if (writer->sent == NULL || !make_room(writer, size))
		writer->failed = true;
	if (writer->failed || size == 0)
		return;
	memcpy(writer->buffer + writer->used, bytes, size);
	writer->used += size;
}

static void
put_head(struct mu_wire_writer *writer, enum mu_wire_kind kind, size_t length)
{
	struct mu_wire_head head = { kind, (uint32_t)length };

	put(writer, &head, sizeof(head));
}

/* The number of STRING, which is sent first unless it is cached. */
static uint32_t
number_of(struct mu_wire_writer *writer, const char *string)
{
	struct mu_wire_sent *sent;
	size_t length;

	if (string == NULL)
		return 0;
	put(writer, "", 0); /* makes the tables exist */
	if (writer->failed)
		return 0;
	length = strnlen(string, MU_WIRE_STRING_MAX);
	sent = &writer->sent[mu_hash_bytes(string, length) >> 32 & (SENT - 1)];
	if (sent->string != NULL && strlen(sent->string) == length &&
	    memcmp(sent->string, string, length) == 0)
		return sent->number;
	if (writer->num_strings == MU_WIRE_STRINGS_MAX)
		return 0;
	put_head(writer, MU_WIRE_STRING, length);
	put(writer, string, length);
	free(sent->string);
	sent->string = strndup(string, length);
	sent->number = ++writer->num_strings;
	return sent->number;
}

static uint32_t
flag(bool set, uint32_t value)
{
	return set ? value : 0;
}

static void
put_keys(struct mu_wire_writer *writer, const struct mu_declared *declared,
    const uint32_t *names)
{
	const struct mu_declared_key *key = declared->keys;
	struct mu_wire_key one;
	size_t i;

	for (i = 0; i < declared->num_keys; i++, key++) {
		one = (struct mu_wire_key) { .kind = key->kind,
			.at = key->at,
			.size = key->size,
			.name = names[i] };
		put(writer, &one, sizeof(one));
	}
}

static void
put_declared(struct mu_wire_writer *writer, const struct mu_declared *declared,
    uint32_t name, const uint32_t *names)
{
	const struct mu_declared_field *field = declared->fields;
	struct mu_wire_declared wire = {
		.id = declared->id,
		.size = declared->size,
		.name = name,
		.num_fields = (uint32_t)declared->num_fields,
		.count_at = declared->count_at,
		.count_of = declared->count_of,
		.num_keys = (uint32_t)declared->num_keys,
		.flags = flag(declared->complete, MU_WIRE_COMPLETE) |
		    flag(declared->extended, MU_WIRE_EXTENDED) |
		    flag(declared->virtual, MU_WIRE_VIRTUAL) |
		    flag(declared->flexible, MU_WIRE_FLEXIBLE) |
		    flag(declared->scalar, MU_WIRE_SCALAR) |
		    flag(declared->letters, MU_WIRE_LETTERS) |
		    flag(declared->node_base, MU_WIRE_NODE_BASE) |
		    flag(declared->counted, MU_WIRE_COUNTED) |
		    flag(declared->count_ends, MU_WIRE_COUNT_ENDS) |
		    flag(declared->parted, MU_WIRE_PARTED),
	};
	struct mu_wire_field one;
	size_t i;

	put(writer, &wire, sizeof(wire));
	for (i = 0; i < declared->num_fields; i++, field++) {
		one = (struct mu_wire_field) {
			.type = field->type,
			.offset = field->offset,
			.name = names[i],
			.count = field->count,
			.stride = field->stride,
			.from = field->from,
			.flags =
			    (uint16_t)(flag(field->one_of, MU_WIRE_ONE_OF) |
				flag(field->pieces, MU_WIRE_PIECES) |
				flag(field->reference, MU_WIRE_REFERENCE)),
			.queue_at = field->queue_at,
			.queue = field->queue,
		};
		put(writer, &one, sizeof(one));
	}
	put_keys(writer, declared, names + declared->num_fields);
}

/*
 * Send the strings first, of the fields and of the parts of the key. Returns
 * the number of the name.
 */
static uint32_t
number_fields(struct mu_wire_writer *writer, const struct mu_declared *declared,
    uint32_t *names)
{
	size_t i;

	if (declared == NULL)
		return 0;
	for (i = 0; i < declared->num_fields; i++)
		*names++ = number_of(writer, declared->fields[i].name);
	for (i = 0; i < declared->num_keys; i++)
		*names++ = number_of(writer, declared->keys[i].name);
	return number_of(writer, declared->name);
}

void
mu_wire_write(
    struct mu_wire_writer *writer, const struct mu_wire_answer *answer)
{
	const struct mu_symbol *symbol = &answer->symbol;
	const struct mu_declared *declared = answer->declared;
	struct mu_wire_inlined inlined[MU_WIRE_INLINED_MAX];
	uint32_t names[MU_DECLARED_FIELDS + MU_DECLARED_KEYS];
	uint32_t name = number_fields(writer, declared, names);
	size_t i, count = symbol->num_inlined,
		  more = declared == NULL ? 0
					  : sizeof(struct mu_wire_declared) +
		declared->num_fields * sizeof(struct mu_wire_field) +
		declared->num_keys * sizeof(struct mu_wire_key);
	struct mu_wire_symbol wire = {
		.offset = symbol->offset,
		.begin = symbol->range.begin,
		.end = symbol->range.end,
		.module = number_of(writer, symbol->module),
		.build_id = number_of(writer, symbol->build_id),
		.function = number_of(writer, symbol->function),
		.file = number_of(writer, symbol->file),
		.line = symbol->line,
		.detail = answer->detail,
		.type = number_of(writer, answer->type.name),
		.type_text = number_of(writer, answer->type.text),
		.type_site = number_of(writer, answer->type.site),
		.type_source = (uint16_t)answer->type.source,
		.type_certain = answer->type.certain,
		.type_counter = answer->type.counter,
		.type_offset = answer->type.offset,
		.type_id = answer->type.id,
		.declared = declared != NULL,
		.rules = answer->rules,
	};

	if (count > MU_WIRE_INLINED_MAX)
		count = MU_WIRE_INLINED_MAX;
	for (i = 0; i < count; i++)
		inlined[i] = (struct mu_wire_inlined) {
			number_of(writer, symbol->inlined[i].function),
			number_of(writer, symbol->inlined[i].file),
			symbol->inlined[i].line,
		};
	wire.num_inlined = (uint32_t)count;
	writer->record = writer->used;
	put_head(writer, MU_WIRE_SYMBOL,
	    sizeof(wire) + count * sizeof(*inlined) + more);
	put(writer, &wire, sizeof(wire));
	put(writer, inlined, count * sizeof(*inlined));
	if (declared != NULL)
		put_declared(writer, declared, name, names);
}

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

/* Returns false if there is no such string. */
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
read_type(const struct mu_wire_reader *reader,
    const struct mu_wire_symbol *wire, struct mu_type *type)
{
	*type = (struct mu_type) {
		.source = (enum mu_type_source)wire->type_source,
		.certain = wire->type_certain == 1,
		.counter = (enum mu_type_counter)wire->type_counter,
		.offset = (size_t)wire->type_offset,
		.id = wire->type_id,
	};
	return wire->type_source < MU_TYPE_SOURCES && wire->type_certain <= 1 &&
	    wire->type_counter < MU_COUNTERS &&
	    find_string(reader, wire->type, &type->name) &&
	    find_string(reader, wire->type_text, &type->text) &&
	    find_string(reader, wire->type_site, &type->site);
}

/* Field WIRE; false: it is not as the writer would write it. */
static bool
read_field(const struct mu_wire_reader *reader,
    const struct mu_wire_field *wire, struct mu_declared_field *field)
{
	*field = (struct mu_declared_field) {
		.type = wire->type,
		.offset = wire->offset,
		.count = wire->count,
		.stride = wire->stride,
		.from = (uint8_t)wire->from,
		.one_of = (wire->flags & MU_WIRE_ONE_OF) != 0,
		.pieces = (wire->flags & MU_WIRE_PIECES) != 0,
		.reference = (wire->flags & MU_WIRE_REFERENCE) != 0,
		.queue = (uint8_t)wire->queue,
		.queue_at = wire->queue_at,
	};
	return wire->from < MU_FROM_KINDS && wire->queue < MU_QUEUES &&
	    find_string(reader, wire->name, &field->name);
}

static bool
read_key(const struct mu_wire_reader *reader, const struct mu_wire_key *wire,
    struct mu_declared_key *key)
{
	*key = (struct mu_declared_key) {
		.kind = (uint8_t)wire->kind, .at = wire->at, .size = wire->size
	};
	return wire->kind < MU_KEYS &&
	    find_string(reader, wire->name, &key->name);
}

/* The LENGTH bytes of what is declared. */
static bool
read_declared(struct mu_wire_reader *reader, const char *bytes, size_t length,
    struct mu_wire_answer *answer)
{
	struct mu_wire_declared wire;
	struct mu_wire_field one;
	struct mu_wire_key part;
	struct mu_declared_field *fields;
	struct mu_declared_key *keys;
	struct mu_declared *declared;
	size_t i;

	if (length < sizeof(wire))
		return false;
	memcpy(&wire, bytes, sizeof(wire));
	if (wire.num_fields > MU_DECLARED_FIELDS ||
	    wire.num_keys > MU_DECLARED_KEYS ||
	    length !=
		sizeof(wire) + wire.num_fields * sizeof(one) +
		    wire.num_keys * sizeof(part))
		return false;
	declared = mu_arena_alloc(reader->arena, 1, sizeof(*declared));
	fields =
	    mu_arena_alloc(reader->arena, wire.num_fields + 1, sizeof(*fields));
	keys = mu_arena_alloc(reader->arena, wire.num_keys + 1, sizeof(*keys));
	if (declared == NULL || fields == NULL || keys == NULL)
		return false;
	*declared = (struct mu_declared) {
		.id = wire.id,
		.size = wire.size,
		.complete = (wire.flags & MU_WIRE_COMPLETE) != 0,
		.extended = (wire.flags & MU_WIRE_EXTENDED) != 0,
		.virtual = (wire.flags & MU_WIRE_VIRTUAL) != 0,
		.flexible = (wire.flags & MU_WIRE_FLEXIBLE) != 0,
		.scalar = (wire.flags & MU_WIRE_SCALAR) != 0,
		.letters = (wire.flags & MU_WIRE_LETTERS) != 0,
		.node_base = (wire.flags & MU_WIRE_NODE_BASE) != 0,
		.counted = (wire.flags & MU_WIRE_COUNTED) != 0,
		.count_ends = (wire.flags & MU_WIRE_COUNT_ENDS) != 0,
		.count_at = wire.count_at,
		.count_of = wire.count_of,
		.parted = (wire.flags & MU_WIRE_PARTED) != 0,
		.keys = keys,
		.num_keys = wire.num_keys,
		.fields = fields,
		.num_fields = wire.num_fields,
	};
	bytes += sizeof(wire);
	for (i = 0; i < wire.num_fields; i++, bytes += sizeof(one)) {
		memcpy(&one, bytes, sizeof(one));
		if (!read_field(reader, &one, &fields[i]))
			return false;
	}
	for (i = 0; i < wire.num_keys; i++, bytes += sizeof(part)) {
		memcpy(&part, bytes, sizeof(part));
		if (!read_key(reader, &part, &keys[i]))
			return false;
	}
	answer->declared = declared;
	return find_string(reader, wire.name, &declared->name);
}

static bool
read_answer(struct mu_wire_reader *reader, const char *bytes, size_t length,
    struct mu_wire_answer *answer)
{
	struct mu_symbol *symbol = &answer->symbol;
	struct mu_wire_symbol wire;

	size_t used;

	if (length < sizeof(wire))
		return false;
	memcpy(&wire, bytes, sizeof(wire));
	if (wire.num_inlined > MU_WIRE_INLINED_MAX ||
	    wire.detail > MU_SYMBOLS_LINES || wire.end < wire.begin ||
	    wire.declared > 1 || !mu_frame_rules_check(&wire.rules))
		return false;
	used = sizeof(wire) + wire.num_inlined * sizeof(struct mu_wire_inlined);
	if (length < used || (wire.declared == 0 && length != used))
		return false;
	answer->declared = NULL;
	if (wire.declared == 1 &&
	    !read_declared(reader, bytes + used, length - used, answer))
		return false;
	answer->detail = (enum mu_symbols_detail)wire.detail;
	answer->rules = wire.rules;
	*symbol = (struct mu_symbol) {
		.offset = (uintptr_t)wire.offset,
		.line = wire.line,
		.range = { (uintptr_t)wire.begin, (uintptr_t)wire.end },
	};
	return find_string(reader, wire.module, &symbol->module) &&
	    find_string(reader, wire.build_id, &symbol->build_id) &&
	    find_string(reader, wire.function, &symbol->function) &&
	    find_string(reader, wire.file, &symbol->file) &&
	    read_type(reader, &wire, &answer->type) &&
	    read_inlined(
		reader, bytes + sizeof(wire), wire.num_inlined, symbol);
}

enum mu_wire_read
mu_wire_read(struct mu_wire_reader *reader, const char *bytes, size_t length,
    size_t *used, struct mu_wire_answer *answer)
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
			return read_answer(reader, bytes + *used - head.length,
				   head.length, answer)
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
