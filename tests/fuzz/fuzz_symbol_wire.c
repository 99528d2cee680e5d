/*
 * Any bytes as answers of a helper, whole and in pieces: a symbol or a refusal,
 * and only strings that were sent.
 */
#include <string.h>

#include "lib/symbolize/symbol_wire.h"
#include "tests/support/fuzz/fuzz_input.h"

#define MEMORY ((size_t)64 << 20)

static void
check_answer(const struct mu_wire_answer *answer)
{
	const struct mu_symbol *symbol = &answer->symbol;
	size_t i, total = 0;

	require(answer->detail <= MU_SYMBOLS_LINES);
	require(answer->type.source < MU_TYPE_SOURCES);
	total += answer->type.name == NULL ? 0 : strlen(answer->type.name);
	total += answer->type.text == NULL ? 0 : strlen(answer->type.text);
	for (i = 0;
	     answer->declared != NULL && i < answer->declared->num_fields;
	     i++) {
		require(answer->declared->fields[i].from < MU_FROM_KINDS);
		total += answer->declared->fields[i].name == NULL
		    ? 0
		    : strlen(answer->declared->fields[i].name);
	}
	require(symbol->num_inlined <= MU_WIRE_INLINED_MAX);
	total += symbol->module == NULL ? 0 : strlen(symbol->module);
	total += symbol->function == NULL ? 0 : strlen(symbol->function);
	for (i = 0; i < symbol->num_inlined; i++)
		total += symbol->inlined[i].file == NULL
		    ? 0
		    : strlen(symbol->inlined[i].file);
	require(
	    total <= (68 + MU_DECLARED_FIELDS) * (size_t)MU_WIRE_STRING_MAX);
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct mu_wire_reader reader = { 0 };
	struct mu_wire_answer answer;
	enum mu_wire_read read = MU_WIRE_READ;
	struct mu_arena arena;
	size_t at = 0, used;

	mu_arena_open(&arena, MEMORY);
	reader.arena = &arena;
	while (read == MU_WIRE_READ) {
		read = mu_wire_read(&reader, (const char *)data + at, size - at,
		    &used, &answer);
		at += used;
		require(at <= size);
		if (read == MU_WIRE_READ)
			check_answer(&answer);
	}
	mu_wire_reader_reset(&reader);
	mu_arena_close(&arena);
	return 0;
}
