/*
 * lib/symbolize/symbol_wire*.c: what one process writes another reads, whole or
 * in pieces; nonsense is refused.
 */
#include "lib/symbolize/symbol_wire.h"
#include "tests/support/suite.h"

static struct mu_arena arena;
static struct mu_wire_reader reader;
static char bytes[1 << 16];
static size_t length;

static void
setup(void)
{
	mu_arena_open(&arena, (size_t)64 << 20);
	reader = (struct mu_wire_reader) { .arena = &arena };
	length = 0;
}

static void
teardown(void)
{
	mu_wire_reader_reset(&reader);
	mu_arena_close(&arena);
}

static const struct mu_type types[] = {
	{ .source = MU_TYPE_NONE },
	{ .name = "shop::Order",
	    .source = MU_TYPE_RTTI,
	    .certain = true,
	    .offset = 16 },
	{ .name = "text", .text = "hello", .source = MU_TYPE_CONTENT },
};

static const struct mu_declared_field fields[] = {
	{ .name = "next", .type = 7, .offset = 8, .count = 1 },
	{ .name = "",
	    .type = 9,
	    .offset = -16,
	    .count = 3,
	    .stride = 24,
	    .from = MU_FROM_CFA,
	    .one_of = true,
	    .pieces = true,
	    .reference = true },
};
static const struct mu_declared declared = {
	.id = 5,
	.name = "shop::Order",
	.size = 40,
	.complete = true,
	.flexible = true,
	.counted = true,
	.count_at = 16,
	.count_of = 8,
	.fields = fields,
	.num_fields = 2,
};

static void
write_symbols(const struct mu_symbol *symbols, size_t count)
{
	struct mu_wire_writer writer = { .fd = -1 };
	struct mu_wire_answer answer;
	int fds[2];
	size_t i;

	ck_assert_int_eq(pipe(fds), 0);
	writer.fd = fds[1];
	for (i = 0; i < count; i++) {
		answer = (struct mu_wire_answer) {
			.symbol = symbols[i],
			.detail = MU_SYMBOLS_NAMES,
			.type = types[i],
			.declared = i == 1 ? &declared : NULL,
		};
		mu_wire_write(&writer, &answer);
	}
	mu_wire_flush(&writer);
	ck_assert(!writer.failed);
	length = (size_t)read(fds[0], bytes, sizeof(bytes));
	close(fds[0]);
	close(fds[1]);
}

static const struct mu_inlined calls[] = { { "inner", "a.c", 7 },
	{ NULL, NULL, 0 } };
static const struct mu_symbol symbols[] = {
	{ .module = "/lib/a.so",
	    .build_id = "c0ffee",
	    .function = "outer",
	    .file = "a.c",
	    .line = 9,
	    .offset = 0x1234,
	    .range = { 0x1200, 0x1240 },
	    .inlined = calls,
	    .num_inlined = 2 },
	{ .module = NULL },
	{ .module = "/lib/a.so", .offset = 1 },
};

static void
must_be_type(const struct mu_type *type, const struct mu_type *expected)
{
	ck_assert_pstr_eq(type->name, expected->name);
	ck_assert_pstr_eq(type->text, expected->text);
	ck_assert_int_eq(type->source, expected->source);
	ck_assert_int_eq(type->certain, expected->certain);
	ck_assert_uint_eq(type->offset, expected->offset);
}

static void
must_be_declared(const struct mu_declared *given)
{
	size_t i;

	ck_assert_ptr_nonnull(given);
	ck_assert_uint_eq(given->id, declared.id);
	ck_assert_str_eq(given->name, declared.name);
	ck_assert_uint_eq(given->size, declared.size);
	ck_assert(given->complete && given->flexible && given->counted);
	ck_assert(!given->extended && !given->virtual && !given->scalar);
	ck_assert_uint_eq(given->count_at, declared.count_at);
	ck_assert_uint_eq(given->count_of, declared.count_of);
	ck_assert_uint_eq(given->num_fields, declared.num_fields);
	for (i = 0; i < given->num_fields; i++) {
		ck_assert_str_eq(given->fields[i].name, fields[i].name);
		ck_assert_uint_eq(given->fields[i].type, fields[i].type);
		ck_assert_int_eq(given->fields[i].offset, fields[i].offset);
		ck_assert_uint_eq(given->fields[i].count, fields[i].count);
		ck_assert_uint_eq(given->fields[i].stride, fields[i].stride);
		ck_assert_int_eq(given->fields[i].from, fields[i].from);
		ck_assert_int_eq(given->fields[i].one_of, fields[i].one_of);
		ck_assert_int_eq(given->fields[i].pieces, fields[i].pieces);
		ck_assert_int_eq(
		    given->fields[i].reference, fields[i].reference);
	}
}

/* Given PIECE bytes more at a time. */
static void
must_read(size_t piece)
{
	struct mu_wire_answer answer;
	struct mu_symbol symbol;
	size_t at = 0, have = 0, used, i = 0;

	while (i < 3) {
		enum mu_wire_read read = mu_wire_read(
		    &reader, bytes + at, have - at, &used, &answer);

		at += used;
		ck_assert_int_ne(read, MU_WIRE_BAD);
		if (read == MU_WIRE_MORE) {
			ck_assert_uint_lt(have, length);
			have = have + piece < length ? have + piece : length;
			continue;
		}
		symbol = answer.symbol;
		ck_assert_uint_eq(symbol.offset, symbols[i].offset);
		ck_assert_uint_eq(symbol.line, symbols[i].line);
		ck_assert_uint_eq(symbol.range.begin, symbols[i].range.begin);
		ck_assert_uint_eq(symbol.range.end, symbols[i].range.end);
		ck_assert_uint_eq(symbol.num_inlined, symbols[i].num_inlined);
		if (symbols[i].module != NULL)
			ck_assert_str_eq(symbol.module, symbols[i].module);
		else
			ck_assert_ptr_null(symbol.module);
		if (symbol.num_inlined > 0) {
			ck_assert_str_eq(symbol.function, "outer");
			ck_assert_str_eq(symbol.inlined[0].function, "inner");
			ck_assert_str_eq(symbol.inlined[0].file, "a.c");
			ck_assert_ptr_null(symbol.inlined[1].file);
		}
		ck_assert_int_eq(answer.detail, MU_SYMBOLS_NAMES);
		must_be_type(&answer.type, &types[i]);
		if (i == 1)
			must_be_declared(answer.declared);
		else
			ck_assert_ptr_null(answer.declared);
		i++;
	}
	ck_assert_uint_eq(at, length);
}

TEST_LOOP(whole_and_in_pieces, 0, 4)
{
	static const size_t pieces[] = { 1, 7, 64, sizeof(bytes) };

	write_symbols(symbols, 3);
	must_read(pieces[_i]);
}

/* Each byte is changed to each of some values: an answer or a refusal. */
TEST(changed)
{
	static const unsigned char values[] = { 0, 1, 2, 0x7f, 0x80, 0xff };
	struct mu_wire_answer answer;
	enum mu_wire_read read;
	size_t i, j, at, used;
	char before;

	write_symbols(symbols, 3);
	for (i = 0; i < length; i++) {
		for (j = 0; j < sizeof(values); j++) {
			teardown();
			mu_arena_open(&arena, (size_t)64 << 20);
			reader = (struct mu_wire_reader) { .arena = &arena };
			before = bytes[i];
			bytes[i] = (char)values[j];
			for (at = 0;; at += used) {
				read = mu_wire_read(&reader, bytes + at,
				    length - at, &used, &answer);
				ck_assert_uint_le(at + used, length);
				if (read != MU_WIRE_READ)
					break;
				ck_assert_uint_le(answer.symbol.num_inlined,
				    MU_WIRE_INLINED_MAX);
				ck_assert_int_lt(
				    answer.type.source, MU_TYPE_SOURCES);
			}
			bytes[i] = before;
		}
	}
}

static void
must_be_bad(const void *head, size_t head_size, const void *body, size_t size)
{
	struct mu_wire_answer answer;
	size_t used;

	memcpy(bytes, head, head_size);
	memcpy(bytes + head_size, body, size);
	ck_assert_int_eq(
	    mu_wire_read(&reader, bytes, head_size + size, &used, &answer),
	    MU_WIRE_BAD);
}

TEST(refused)
{
	struct mu_wire_head head = { MU_WIRE_STRING, 3 };
	struct mu_wire_symbol symbol = { .module = 1 };

	must_be_bad(&head, sizeof(head), "a\0b", 3);
	head.length = MU_WIRE_STRING_MAX + 1;
	must_be_bad(&head, sizeof(head), "", 0);
	head = (struct mu_wire_head) { 77, 0 };
	must_be_bad(&head, sizeof(head), "", 0);
	/* No string has that number. */
	head = (struct mu_wire_head) { MU_WIRE_SYMBOL, sizeof(symbol) };
	must_be_bad(&head, sizeof(head), &symbol, sizeof(symbol));
	symbol = (struct mu_wire_symbol) { .num_inlined = 1 };
	must_be_bad(&head, sizeof(head), &symbol, sizeof(symbol));
	symbol.num_inlined = UINT32_MAX;
	must_be_bad(&head, sizeof(head), &symbol, sizeof(symbol));
	symbol = (struct mu_wire_symbol) { .type_source = MU_TYPE_SOURCES };
	must_be_bad(&head, sizeof(head), &symbol, sizeof(symbol));
	symbol = (struct mu_wire_symbol) { .type_certain = 2 };
	must_be_bad(&head, sizeof(head), &symbol, sizeof(symbol));
	head.length = 4;
	must_be_bad(&head, sizeof(head), &symbol, 4);
}

SUITE(.setup = setup, .teardown = teardown);
