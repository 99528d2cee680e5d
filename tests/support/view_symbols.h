/*
 * lib/symbolize/ without files: an address has the function that its last
 * digits tell, and every third has a line. For tests of what makes use of
 * names; it takes the place of lib/symbolize/symbols.c.
 */
#ifndef TESTS_SUPPORT_VIEW_SYMBOLS_H
#define TESTS_SUPPORT_VIEW_SYMBOLS_H

#include "lib/symbolize/symbols.h"

struct mu_symbols {
	const char *sysroot;
};

/* What is below the folder "/other" is of another build. */
static struct mu_symbols view_symbols_here;
static struct mu_symbols view_symbols_other = { "/other" };

struct mu_symbols *
mu_symbols_open(const struct mu_symbols_source *source)
{
	return source->sysroot != NULL ? &view_symbols_other
				       : &view_symbols_here;
}

void
mu_symbols_close(struct mu_symbols *symbols)
{
	(void)symbols;
}

bool
mu_symbols_find(
    struct mu_symbols *symbols, uintptr_t address, struct mu_symbol *symbol)
{
	static const char *const functions[] = { "main", "<b>&\"'", "make",
		"operator new(unsigned long)" };

	*symbol = (struct mu_symbol) {
		.module = "/usr/bin/served",
		.build_id = symbols->sysroot != NULL ? "dead" : "c0ffee",
		.function = functions[address % 4],
		.offset = address & 0xfff,
	};
	if ((address & 0xfff) % 3 == 0) {
		symbol->file = "/src/served.c";
		symbol->line = (unsigned)(address & 0xff);
	}
	return true;
}

enum mu_symbols_detail
mu_symbols_detail(struct mu_symbols *symbols, uintptr_t address)
{
	(void)symbols;
	(void)address;
	return MU_SYMBOLS_LINES;
}

#endif
