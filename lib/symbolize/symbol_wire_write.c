/*
 * Answers about names are written: see symbol_wire.h.
 */
#include <stdlib.h>
#include <string.h>

#include "lib/symbolize/symbol_wire.h"
#include "mu/sys.h"

#define ROOM ((size_t)64 << 10)
#define SENT ((size_t)1 << 13) /* strings that are remembered; a power of 2 */

struct mu_wire_sent {
	char *string;
	uint32_t number;
};

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

static void
put(struct mu_wire_writer *writer, const void *bytes, size_t size)
{
	if (writer->buffer == NULL)
		writer->buffer = malloc(ROOM);
	if (writer->sent == NULL)
		writer->sent = calloc(SENT, sizeof(*writer->sent));
	if (writer->buffer == NULL || writer->sent == NULL)
		writer->failed = true;
	if (writer->failed)
		return;
	if (size > ROOM - writer->used)
		mu_wire_flush(writer);
	memcpy(writer->buffer + writer->used, bytes, size);
	writer->used += size;
}

static void
put_head(struct mu_wire_writer *writer, enum mu_wire_kind kind, size_t length)
{
	struct mu_wire_head head = { kind, (uint32_t)length };

	put(writer, &head, sizeof(head));
}

/* FNV-1a */
static size_t
slot_of(const char *string, size_t length)
{
	uint64_t hash = 0xcbf29ce484222325ull;
	size_t i;

	for (i = 0; i < length; i++)
		hash = (hash ^ (unsigned char)string[i]) * 0x100000001b3ull;
	return (size_t)(hash >> 32) & (SENT - 1);
}

/* The number of STRING, which is sent first if that is not remembered. */
static uint32_t
number_of(struct mu_wire_writer *writer, const char *string)
{
	struct mu_wire_sent *sent;
	size_t length;

	if (string == NULL)
		return 0;
	put(writer, "", 0); /* so that there are tables */
	if (writer->failed)
		return 0;
	length = strnlen(string, MU_WIRE_STRING_MAX);
	sent = &writer->sent[slot_of(string, length)];
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

void
mu_wire_write(struct mu_wire_writer *writer, const struct mu_symbol *symbol,
    enum mu_symbols_detail detail)
{
	struct mu_wire_inlined inlined[MU_WIRE_INLINED_MAX];
	size_t i, count = symbol->num_inlined;
	struct mu_wire_symbol wire = {
		.offset = symbol->offset,
		.module = number_of(writer, symbol->module),
		.build_id = number_of(writer, symbol->build_id),
		.function = number_of(writer, symbol->function),
		.file = number_of(writer, symbol->file),
		.line = symbol->line,
		.detail = detail,
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
	put_head(
	    writer, MU_WIRE_SYMBOL, sizeof(wire) + count * sizeof(*inlined));
	put(writer, &wire, sizeof(wire));
	put(writer, inlined, count * sizeof(*inlined));
}

void
mu_wire_writer_close(struct mu_wire_writer *writer)
{
	size_t i;

	for (i = 0; writer->sent != NULL && i < SENT; i++)
		free(writer->sent[i].string);
	free(writer->sent);
	free(writer->buffer);
	*writer = (struct mu_wire_writer) { .fd = -1 };
}
