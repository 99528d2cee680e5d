/*
 * Any bytes as a loaded file with symbols and debug information, read as the
 * helper reads it: no fault that mu_guarded() does not catch, terminated names,
 * and no line without a file.
 */
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "lib/symbolize/symbols.h"
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
