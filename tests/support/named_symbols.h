/*
 * What the symbols of a running tests/support/named_program.cc must be.
 */
#ifndef TESTS_SUPPORT_NAMED_SYMBOLS_H
#define TESTS_SUPPORT_NAMED_SYMBOLS_H

#include "tests/support/named.h"

static struct named named;

static void
setup(void)
{
	named_make(&named);
}

static void
teardown(void)
{
	named_end(&named);
}

static inline struct mu_symbol
find(uintptr_t address)
{
	struct mu_symbol symbol;

	ck_assert(mu_symbols_find(named.symbols, address, &symbol));
	ck_assert_ptr_nonnull(symbol.module);
	return symbol;
}

static inline void
must_be(uintptr_t address, const char *function)
{
	struct mu_symbol symbol = find(address);

	ck_assert_msg(symbol.function != NULL, "no name, not %s", function);
	ck_assert_str_eq(symbol.function, function);
}

static inline void
must_be_nameless(uintptr_t address)
{
	struct mu_symbol symbol = find(address);

	ck_assert_msg(symbol.function == NULL, "named %s", symbol.function);
	ck_assert_ptr_null(symbol.file);
	ck_assert_uint_eq(symbol.line, 0);
}

/* The offset is the one that nm prints, and addr2line takes. */
static inline void
must_be_offset(uintptr_t address, const char *program, const char *name)
{
	struct mu_symbol symbol = find(address);
	unsigned long long value = 0;
	char words[256];
	FILE *nm;

	snprintf(words, sizeof(words), "nm %s/%s | grep -w %s", named.folder,
	    program, name);
	nm = popen(words, "r");
	ck_assert_int_eq(fscanf(nm, "%llx", &value), 1);
	pclose(nm);
	ck_assert_uint_eq(symbol.offset, value);
}

static inline void
must_have_names(void)
{
	must_be(named.compute, "named::compute(char const*, int)");
	must_be(named.compute + 3, "named::compute(char const*, int)");
	must_be(named.plain, "named_plain");
	must_be(named.vtable, "vtable for named::Shape");
	must_be(named.counter, "named::counter");
	must_be(named.zeroed, "named::zeroed");
}

static inline void
must_have_line(void)
{
	struct mu_symbol symbol = find(named.compute);

	ck_assert_ptr_nonnull(symbol.file);
	ck_assert_ptr_nonnull(strstr(symbol.file, NAMED_SOURCE));
	ck_assert_uint_ge(symbol.line, named.line);
	ck_assert_uint_le(symbol.line, named.line + 2);
	symbol = find(named.counter);
	ck_assert_ptr_null(symbol.file);
}

static inline void
must_be_outside(void)
{
	struct mu_symbol symbol;

	ck_assert(!mu_symbols_find(named.symbols, named.local, &symbol));
	ck_assert(!mu_symbols_find(named.symbols, 0, &symbol));
	ck_assert(!mu_symbols_find(named.symbols, 16, &symbol));
	ck_assert(!mu_symbols_find(named.symbols, UINTPTR_MAX, &symbol));
}

static inline bool
begin(const char *flags)
{
	if (!named_build(&named, flags)) {
		printf("SKIPPED: symbols: no %s here\n", flags);
		return false;
	}
	named_run(&named);
	named_look(&named);
	named_open(&named);
	return true;
}

#endif
