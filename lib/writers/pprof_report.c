/*
 * pprof's profile.proto (github.com/google/pprof/proto/profile.proto), in a
 * gzip file of stored blocks (RFC 1951, 3.2.4; RFC 1952): what is lost, and
 * with --in-use what lives, by stack; without a stack by type or size.
 * Functions and strings are written as often as they are used, which the format
 * allows.
 */
#include <stdlib.h>
#include <string.h>

#include "lib/explain/explained.h"
#include "lib/report/backtrace.h"
#include "lib/writers/findings.h"
#include "lib/writers/writer.h"
#include "mu/array.h"

#define VALUES 4
#define STORED ((size_t)65535)

struct bytes {
	unsigned char *at;
	size_t count, max;
	bool failed;
};

struct profile {
	struct bytes all, strings;
	uint64_t num_strings, num_locations;
};

enum { VARINT, LENGTH = 2 };

static void
put_byte(struct bytes *bytes, unsigned byte)
{
	if (bytes->failed ||
	    !mu_array_room(bytes->at, bytes->count, bytes->max, 4096, SIZE_MAX))
		bytes->failed = true;
	else
		bytes->at[bytes->count++] = (unsigned char)byte;
}

static void
put_varint(struct bytes *bytes, uint64_t value)
{
	for (; value >= 0x80; value >>= 7)
		put_byte(bytes, (unsigned)(value & 0x7f) | 0x80);
	put_byte(bytes, (unsigned)value);
}

static void
put_number(struct bytes *bytes, unsigned field, uint64_t value)
{
	put_varint(bytes, field << 3 | VARINT);
	put_varint(bytes, value);
}

static void
put_block(struct bytes *bytes, unsigned field, const void *data, size_t length)
{
	const unsigned char *from = data;
	size_t i;

	put_varint(bytes, field << 3 | LENGTH);
	put_varint(bytes, length);
	for (i = 0; i < length; i++)
		put_byte(bytes, from[i]);
}

/* MESSAGE is emptied. */
static void
put_message(struct bytes *bytes, unsigned field, struct bytes *message)
{
	put_block(bytes, field, message->at, message->count);
	bytes->failed |= message->failed;
	free(message->at);
	*message = (struct bytes) { .at = NULL };
}

static uint64_t
string(struct profile *profile, const char *text)
{
	put_block(&profile->strings, 6, text, strlen(text));
	return profile->num_strings++;
}

static void
put_type(struct profile *profile, const char *type, const char *unit)
{
	struct bytes message = { .at = NULL };

	put_number(&message, 1, string(profile, type));
	put_number(&message, 2, string(profile, unit));
	put_message(&profile->all, 1, &message);
}

/* A function has the number of its location. */
static void
put_line(struct bytes *location, uint64_t id, unsigned line)
{
	struct bytes message = { .at = NULL };

	put_number(&message, 1, id);
	if (line > 0)
		put_number(&message, 2, line);
	put_message(location, 4, &message);
}

static void
put_function(
    struct profile *profile, uint64_t id, const char *name, const char *file)
{
	struct bytes message = { .at = NULL };
	uint64_t number = string(profile, name);

	put_number(&message, 1, id);
	put_number(&message, 2, number);
	put_number(&message, 3, number);
	if (file != NULL)
		put_number(&message, 4, string(profile, file));
	put_message(&profile->all, 5, &message);
}

/* One location for each function that is inlined there, too. */
static void
put_frame(struct profile *profile, struct bytes *ids, uintptr_t pc,
    const struct mu_symbol *symbol)
{
	const char *name, *file, *slash;
	struct bytes location;
	unsigned line;
	size_t level;

	for (level = 0; level <= symbol->num_inlined; level++) {
		name = mu_symbol_function(symbol, level);
		file =
		    level == 0 ? symbol->file : symbol->inlined[level - 1].file;
		line =
		    level == 0 ? symbol->line : symbol->inlined[level - 1].line;
		if (name == NULL && symbol->module != NULL) {
			slash = strrchr(symbol->module, '/');
			name = slash == NULL ? symbol->module : slash + 1;
		}
		location = (struct bytes) { .at = NULL };
		profile->num_locations++;
		put_function(profile, profile->num_locations,
		    name != NULL ? name : "?", file);
		put_number(&location, 1, profile->num_locations);
		put_number(&location, 3, pc);
		put_line(&location, profile->num_locations, line);
		put_message(&profile->all, 4, &location);
		put_varint(ids, profile->num_locations);
	}
}

static void
put_name(struct profile *profile, struct bytes *ids, const char *name)
{
	const struct mu_symbol symbol = { .function = name };

	put_frame(profile, ids, 0, &symbol);
}

/* IDS, of locations, is emptied. */
static void
put_sample(
    struct profile *profile, struct bytes *ids, const size_t values[VALUES])
{
	struct bytes sample = { .at = NULL }, packed = { .at = NULL };
	size_t i;

	put_message(&sample, 1, ids);
	for (i = 0; i < VALUES; i++)
		put_varint(&packed, values[i]);
	put_message(&sample, 2, &packed);
	put_message(&profile->all, 2, &sample);
}

static void
put_lost(struct profile *profile, const struct mu_report *report,
    const struct mu_shown *shown)
{
	struct mu_findings findings;
	const struct mu_finding *finding;
	struct mu_symbol symbol;
	size_t i, count;

	mu_findings_open(&findings, report, shown->source_root);
	while ((finding = mu_findings_next(&findings)) != NULL) {
		const struct LeakBacktrace *stack =
		    &finding->example->backtrace;
		struct bytes ids = { .at = NULL };

		count = mu_backtrace_count(stack);
		for (i = 0; i < count; i++) {
			uintptr_t pc = mu_backtrace_frame(stack, i);

			mu_names_find(&report->names, pc, &symbol);
			put_frame(profile, &ids, pc, &symbol);
		}
		if (count == 0)
			put_name(profile, &ids, finding->key);
		put_sample(profile, &ids,
		    (size_t[]) { finding->blocks, finding->bytes, 0, 0 });
	}
}

static void
put_in_use(struct profile *profile, const struct mu_explained *explained)
{
	size_t i, j;

	for (i = 0; i < explained->num_stacks; i++) {
		const struct mu_in_use_stack *stack = &explained->stacks[i];
		struct bytes ids = { .at = NULL };

		for (j = 0; j < stack->num_frames; j++)
			put_frame(
			    profile, &ids, stack->pcs[j], &stack->frames[j]);
		put_sample(profile, &ids,
		    (size_t[]) { 0, 0, stack->count, stack->bytes });
	}
	for (i = 0; explained->num_stacks == 0 && i < explained->num_in_use;
	     i++) {
		const struct mu_in_use *row = &explained->in_use[i];
		struct bytes ids = { .at = NULL };
		char size[64];

		mu_text_format(size, sizeof(size), "%zu bytes", row->size);
		put_name(profile, &ids, row->type != NULL ? row->type : size);
		put_sample(profile, &ids,
		    (size_t[]) { 0, 0, row->count, row->count * row->size });
	}
}

static uint32_t
crc_of(const unsigned char *bytes, size_t count)
{
	uint32_t crc = UINT32_MAX;
	unsigned bit;
	size_t i;

	for (i = 0; i < count; i++) {
		crc ^= bytes[i];
		for (bit = 0; bit < 8; bit++)
			crc = crc >> 1 ^ (UINT32_C(0xedb88320) & -(crc & 1));
	}
	return ~crc;
}

static void
put_little(const struct mu_out *out, uint32_t value, size_t count)
{
	unsigned char bytes[4];
	size_t i;

	for (i = 0; i < count; i++)
		bytes[i] = (unsigned char)(value >> 8 * i);
	out->put(out->ctx, (const char *)bytes, count);
}

static void
put_gzip(const struct mu_out *out, const unsigned char *bytes, size_t count)
{
	static const char head[] = "\x1f\x8b\x08\0\0\0\0\0\0\xff";
	size_t at = 0, piece;

	out->put(out->ctx, head, sizeof(head) - 1);
	do {
		piece = count - at < STORED ? count - at : STORED;
		put_little(out, at + piece == count, 1);
		put_little(out, (uint32_t)piece, 2);
		put_little(out, ~(uint32_t)piece, 2);
		out->put(out->ctx, (const char *)bytes + at, piece);
		at += piece;
	} while (at < count);
	put_little(out, crc_of(bytes, count), 4);
	put_little(out, (uint32_t)count, 4);
}

static bool
write_profile(const struct mu_out *out, const struct mu_report *report,
    const struct mu_shown *shown)
{
	struct profile profile = { .num_strings = 0 };
	bool ok;
	size_t i;

	string(&profile, "");
	put_type(&profile, "lost_objects", "count");
	put_type(&profile, "lost_space", "bytes");
	put_type(&profile, "inuse_objects", "count");
	put_type(&profile, "inuse_space", "bytes");
	put_lost(&profile, report, shown);
	if (report->explained != NULL)
		put_in_use(&profile, report->explained);
	put_number(&profile.all, 14, string(&profile, "lost_space"));
	for (i = 0; i < profile.strings.count; i++)
		put_byte(&profile.all, profile.strings.at[i]);
	ok = !profile.all.failed && !profile.strings.failed;
	if (ok)
		put_gzip(out, profile.all.at, profile.all.count);
	free(profile.all.at);
	free(profile.strings.at);
	return ok;
}

const struct mu_writer mu_writer_pprof = {
	.name = "pprof",
	.single = true,
	.write = write_profile,
};
