/* Names for addresses of real programs, built in every relevant way. */
#include <search.h>
#include <sys/auxv.h>

#include "tests/support/command/named_symbols.h"
#include "tests/support/suite.h"

static const char *const ways[] = { "-g -O1 -fPIE -pie", "-g -O1 -no-pie",
	"-g -O1 -static", "-g -O1 -static-pie -fPIE",
	"-g -O1 -gz -Wl,-z,noseparate-code",
	"-g -O1 -gdwarf-4 -Wl,-z,max-page-size=0x200000" };

TEST_LOOP(built, 0, sizeof(ways) / sizeof(*ways))
{
	struct mu_symbol symbol;

	if (!named_begin(ways[_i]))
		return;
	must_have_names();
	must_have_line();
	must_be_outside();
	must_be_offset(named.plain, "program", "named_plain");
	symbol = named_find(named.plain);
	ck_assert_ptr_nonnull(strstr(symbol.module, "/program"));
	ck_assert_ptr_nonnull(symbol.build_id);
	ck_assert_uint_eq(strlen(symbol.build_id), 40);
	ck_assert_int_eq(
	    mu_symbols_detail(named.symbols, named.plain), MU_SYMBOLS_LINES);
}

/* clang writes no .debug_aranges; lld has other segments. */
TEST(other_compiler)
{
	if (system("command -v clang++-14 >/dev/null") != 0) {
		printf("SKIPPED: symbols: no clang++-14\n");
		return;
	}
	ck_assert_int_eq(
	    named_shell(&named,
		"clang++-14 -g -o $D/program " NAMED_SOURCE " -Wl,--build-id"),
	    0);
	named_run(&named);
	named_look(&named);
	named_open(&named);
	must_have_names();
	must_have_line();
}

TEST(without_debug_information)
{
	ck_assert(named_begin("-O1"));
	must_have_names();
	ck_assert_ptr_null(named_find(named.compute).file);
	ck_assert_int_eq(
	    mu_symbols_detail(named.symbols, named.plain), MU_SYMBOLS_NAMES);
}

/* Names, without what has to be read for lines. */
TEST(bare)
{
	ck_assert(named_begin("-g -O1"));
	named.source.bare = true;
	named_open(&named);
	must_have_names();
	ck_assert_ptr_null(named_find(named.compute).file);
	ck_assert_int_eq(
	    mu_symbols_detail(named.symbols, named.plain), MU_SYMBOLS_NAMES);
}

TEST(stripped)
{
	uintptr_t offset;

	ck_assert(named_begin("-O1 -s"));
	must_be_nameless(named.compute);
	must_be_nameless(named.zeroed);
	offset = named_find(named.compute).offset;
	ck_assert_uint_eq(named_find(named.compute + 16).offset, offset + 16);
	ck_assert_uint_eq(named_find(named.counter).offset - offset,
	    named.counter - named.compute);
	ck_assert_int_eq(
	    mu_symbols_detail(named.symbols, named.plain), MU_SYMBOLS_NONE);
}

TEST(vdso)
{
	uintptr_t base = getauxval(AT_SYSINFO_EHDR), at;
	struct mu_symbol symbol;
	bool found = false;

	if (base == 0)
		return;
	named.pid = getpid();
	named_look(&named);
	named_open(&named);
	ck_assert_str_eq(named_find(base).module, "[vdso]");
	for (at = base; at < base + 4096; at += 8) {
		found = found ||
		    (mu_symbols_find(named.symbols, at, &symbol) &&
			symbol.function != NULL &&
			strstr(symbol.function, "clock_gettime") != NULL);
	}
	ck_assert(found);
	named.pid = 0;
}

/* A million addresses in libc, all different. */
TEST(million)
{
	uintptr_t base = (uintptr_t)lsearch & ~(uintptr_t)0xfff;
	struct mu_symbol symbol;
	uintptr_t at;

	named.pid = getpid();
	named_look(&named);
	named_open(&named);
	for (at = 0; at < 1000000; at++)
		mu_symbols_find(named.symbols, base + at, &symbol);
	must_be((uintptr_t)lsearch, "lsearch");
	named.pid = 0;
}

SUITE(.setup = named_setup, .teardown = named_teardown);
