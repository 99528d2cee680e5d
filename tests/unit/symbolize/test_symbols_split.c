/*
 * Functions and lines agree however the debug information is laid out: in .dwo
 * files (-gsplit-dwarf), or made when it is linked (-flto).
 */
#include "lib/symbolize/frame_files.h"
#include "tests/support/command/named_symbols.h"
#include "tests/support/suite.h"

#define SOURCE "tests/support/command/inlined_program.c"

/* The last ones without the .dwo file, or with what is none. */
static const struct {
	const char *flags, *spoil;
} ways[] = {
	{ "-gdwarf-5", NULL },
	{ "-gdwarf-4", NULL },
	{ "-gdwarf-5 -flto", NULL },
	{ "-gdwarf-4 -flto", NULL },
	{ "-gdwarf-5 -gsplit-dwarf", NULL },
	{ "-gdwarf-4 -gsplit-dwarf", NULL },
	{ "-gdwarf-5 -gsplit-dwarf", "rm -f $D/*.dwo" },
	{ "-gdwarf-4 -gsplit-dwarf", "rm -f $D/*.dwo" },
	{ "-gdwarf-5 -gsplit-dwarf",
	    "for f in $D/*.dwo; do rm $f; mkfifo $f; done" },
	{ "-gdwarf-5 -gsplit-dwarf", "for f in $D/*.dwo; do : >$f; done" },
};

/* In the folder, where gcc puts the .dwo file too. */
static bool
build(const char *flags)
{
	return named_shell(&named,
		   "here=$PWD; cd $D && ${CC:-cc} -O2 -g %s -o program"
		   " $here/" SOURCE,
		   flags) == 0;
}

/* Of inlined_outer(), as nm prints it. */
static void
find_function(unsigned long long *named_begin, unsigned long long *size)
{
	char words[256];
	FILE *nm;

	snprintf(words, sizeof(words),
	    "nm -S %s/program | grep ' inlined_outer$'", named.folder);
	nm = popen(words, "r");
	ck_assert_int_eq(fscanf(nm, "%llx %llx", named_begin, size), 2);
	pclose(nm);
}

static void
must_fit(const char *function, const char *file, unsigned line)
{
	static const char *const names[] = { "inlined_inner", "inlined_middle",
		"inlined_outer" };
	unsigned i;

	ck_assert_ptr_nonnull(function);
	if (file == NULL)
		return;
	for (i = 0; strcmp(function, names[i]) != 0; i++)
		ck_assert_uint_lt(i, 2);
	ck_assert_ptr_nonnull(strstr(file, SOURCE));
	ck_assert_msg(line / 10 == i + 1, "%s at line %u", function, line);
}

/* How many functions are inlined at OFFSET, each with a line that fits. */
static size_t
must_fit_all(struct mu_frame_files *files, const char *path, uintptr_t offset)
{
	struct mu_symbol symbol;
	size_t i;

	if (!mu_frame_files_find(files, path, offset, MU_SYMBOLS_ALL, &symbol))
		return 0;
	must_fit(mu_symbol_function(&symbol, 0), symbol.file, symbol.line);
	for (i = 0; i < symbol.num_inlined; i++)
		must_fit(mu_symbol_function(&symbol, i + 1),
		    symbol.inlined[i].file, symbol.inlined[i].line);
	return symbol.num_inlined;
}

TEST_LOOP(lines_fit, 0, sizeof(ways) / sizeof(*ways))
{
	static struct mu_frame_files files;
	unsigned long long named_begin, size, at;
	size_t count, most = 0;
	char path[256];

	if (!build(ways[_i].flags)) {
		printf("SKIPPED: symbols: no %s here\n", ways[_i].flags);
		return;
	}
	if (ways[_i].spoil != NULL)
		ck_assert_int_eq(named_shell(&named, "%s", ways[_i].spoil), 0);
	snprintf(path, sizeof(path), "%s/program", named.folder);
	find_function(&named_begin, &size);
	for (at = named_begin; at < named_begin + size; at++) {
		count = must_fit_all(&files, path, (uintptr_t)at);
		most = count > most ? count : most;
	}
	/* clang can put these into the program, too. */
	if (ways[_i].spoil == NULL)
		ck_assert_uint_eq(most, 2);
	mu_frame_files_close(&files);
}

SUITE(.setup = named_setup, .teardown = named_teardown);
