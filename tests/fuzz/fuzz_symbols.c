/*
 * Any bytes as a loaded file with symbols and debug information, read as the
 * helper reads it: no fault that mu_guarded() does not catch, terminated names,
 * and no line without a file.
 */
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "lib/symbolize/symbols.h"
#include "lib/types/declarations.h"
#include "lib/types/types.h"
#include "tests/support/fuzz/fuzz_input.h"

#define FILE_MOST (64u << 10)
#define BASE ((uintptr_t)1 << 45)
#define STEP 64 /* bytes from one address to the next */

static void
check_symbol(const struct mu_symbol *symbol)
{
	size_t i;

	require(symbol->module != NULL);
	require(
	    symbol->function == NULL || strlen(symbol->function) <= 16u << 10);
	require(symbol->line == 0 || symbol->file != NULL);
	require(symbol->num_inlined <= 32);
	for (i = 0; i < symbol->num_inlined; i++)
		require(symbol->inlined[i].function == NULL ||
		    strlen(symbol->inlined[i].function) <= 16u << 10);
}

/*
 * What is declared of the first addresses, and of the types that this leads to:
 * ids of the next question are those of the last answer. The index that it
 * makes stays: the helper has an end.
 */
static void
check_declared(struct mu_symbols *symbols, size_t size)
{
	const struct mu_declared *declared;
	unsigned question;
	uintptr_t address;
	uint64_t id = 0;
	void *state = NULL;
	size_t i;

	for (address = BASE; address < BASE + size && address < BASE + 8 * STEP;
	     address += STEP)
		for (question = 1; question < MU_DECLARED_QUESTIONS;
		     question++) {
			declared = mu_types_declared(&state, symbols,
			    (enum mu_declared_question)question,
			    question == MU_DECLARED_TYPE ? id : address);
			if (declared == NULL)
				continue;
			require(declared->num_fields <= MU_DECLARED_FIELDS);
			for (i = 0; i < declared->num_fields; i++) {
				require(declared->fields[i].name == NULL ||
				    strlen(declared->fields[i].name) <
					MU_DECLARED_NAMES);
				id = declared->fields[i].type;
			}
		}
	free(state);
}

static void
check_file(const char *path, size_t size)
{
	struct mu_mapping mapping = {
		.range = { BASE, BASE + ((size + 4095) & ~(size_t)4095) },
		.readable = true,
		.executable = true,
		.inode = 1,
		.name = path,
	};
	struct mu_symbols_source source = {
		.mappings = &mapping, .num_mappings = 1, .local = true
	};
	struct mu_symbols *symbols = mu_symbols_open(&source);
	struct mu_symbol symbol;
	uintptr_t address;

	require(symbols != NULL);
	for (address = BASE; address < BASE + size; address += STEP) {
		if (mu_symbols_find_call(symbols, address, &symbol))
			check_symbol(&symbol);
	}
	mu_symbols_detail(symbols, BASE);
	check_declared(symbols, size);
	mu_symbols_close(symbols);
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	int fd = memfd_create("fuzz", MFD_CLOEXEC);
	char path[64];

	if (size > FILE_MOST)
		size = FILE_MOST;
	require(fd >= 0 && write(fd, data, size) == (ssize_t)size);
	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	check_file(path, size);
	close(fd);
	return 0;
}
