/*
 * The files of a subject: separate debug files, deleted, replaced, moved and
 * damaged ones.
 */
#include "tests/support/command/named_symbols.h"
#include "tests/support/suite.h"

static void
build_library(const char *flags)
{
	ck_assert_int_eq(
	    named_shell(&named,
		"cxx=${CXX:-c++}; "
		"$cxx %s -DNAMED_LIBRARY -fPIC -shared -o $D/libnamed.so " NAMED_SOURCE
		" && $cxx -DNAMED_MAIN -o $D/program " NAMED_SOURCE
		" -L$D -lnamed -Wl,-rpath,$D",
		flags),
	    0);
}

/* Debug information apart, named by the file or found by build-id. */
TEST(debug_file)
{
	ck_assert(named_build(&named, "-g -O1"));
	ck_assert_int_eq(
	    named_shell(&named,
		"cd $D && mkdir .debug && "
		"objcopy --only-keep-debug program .debug/p.debug && "
		"strip program && "
		"objcopy --add-gnu-debuglink=.debug/p.debug program"),
	    0);
	named_run(&named);
	named_look(&named);
	named_open(&named);
	must_have_names();
	must_have_line();
}

TEST(library)
{
	build_library("-g -O1");
	named_run(&named);
	named_look(&named);
	named_open(&named);
	must_have_names();
	must_have_line();
	must_be_outside();
	must_be_offset(named.plain, "libnamed.so", "named_plain");
}

/* What it exports stays; also when only the process has the file. */
TEST(library_stripped)
{
	build_library("-s -O1");
	named_run(&named);
	named_look(&named);
	named_open(&named);
	must_have_names();
	ck_assert_int_eq(named_shell(&named, "rm $D/libnamed.so"), 0);
	named_look(&named);
	named_open(&named);
	must_have_names();
	/* Without capabilities there is the memory, and nothing else. */
	named.source.pid = 0;
	named_open(&named);
	must_have_names();
	ck_assert_ptr_nonnull(named_find(named.plain).build_id);
}

TEST(deleted)
{
	ck_assert(named_build(&named, "-g -O1"));
	named_run(&named);
	ck_assert_int_eq(named_shell(&named, "rm $D/program"), 0);
	named_look(&named);
	named_open(&named);
	must_have_names();
	must_have_line();
}

/* Another program has its path by now: its names would be wrong. */
TEST_LOOP(replaced, 0, 2)
{
	ck_assert(named_build(
	    &named, _i == 0 ? "-g -O1" : "-g -O1 -Wl,--build-id=none"));
	named_run(&named);
	ck_assert_int_eq(named_shell(&named,
			     "rm $D/program; ${CXX:-c++} -O2 "
			     "-g -DNAMED_OTHER -o $D/program " NAMED_SOURCE),
	    0);
	named_look(&named);
	named.source.pid = 0; /* nothing but the path */
	named_open(&named);
	must_be_nameless(named.compute);
	must_be_nameless(named.counter);
}

/* As for a core: the memory, and files elsewhere. */
TEST(elsewhere)
{
	char exe[128], root[128];

	ck_assert(named_build(&named, "-g -O1"));
	named_run(&named);
	ck_assert_int_eq(
	    named_shell(&named,
		"mkdir -p $D/root$D && "
		"cp $D/program $D/root$D/ && cp $D/program $D/same"),
	    0);
	named_look(&named);
	ck_assert_int_eq(named_shell(&named, "rm $D/program"), 0);
	named.source.pid = 0;
	named_open(&named);
	must_be_nameless(named.compute);
	snprintf(root, sizeof(root), "%s/root", named.folder);
	named.source.sysroot = root;
	named_open(&named);
	must_have_names();
	must_have_line();
	named.source.sysroot = NULL;
	snprintf(exe, sizeof(exe), "%s/same", named.folder);
	named.source.exe = exe;
	named_open(&named);
	must_have_names();
	named.source.exe = "/bin/sh"; /* not this one */
	named_open(&named);
	must_be_nameless(named.compute);
}

/* Sixty bytes may differ, and the end be missing. */
static void
write_damaged(const unsigned char *sound, size_t size, unsigned seed)
{
	unsigned char *bytes = malloc(size);
	size_t where = seed % 2 ? 1024 : size, flips = 1 + seed % 60;
	char path[128];
	FILE *file;

	memcpy(bytes, sound, size);
	srand(seed);
	while (flips-- > 0)
		bytes[(size_t)rand() % where] ^= (unsigned char)rand();
	if (seed % 5 == 0)
		size = (size_t)rand() % size;
	snprintf(path, sizeof(path), "%s/program", named.folder);
	unlink(path); /* the running one stays */
	file = fopen(path, "w");
	ck_assert_uint_eq(fwrite(bytes, 1, size, file), size);
	fclose(file);
	free(bytes);
}

/* Nothing proves which file it is: any answer is right, but no crash. */
TEST(damaged)
{
	static unsigned char sound[(size_t)1 << 20];
	struct mu_symbol symbol;
	char path[128];
	unsigned seed;
	size_t size;
	FILE *file;

	ck_assert(named_build(&named, "-g -O1 -Wl,--build-id=none"));
	named_run(&named);
	named_look(&named);
	named.source.pid = 0;
	named.source.read = NULL;
	snprintf(path, sizeof(path), "%s/program", named.folder);
	file = fopen(path, "r");
	size = fread(sound, 1, sizeof(sound), file);
	fclose(file);
	for (seed = 1; seed <= 1000; seed++) {
		write_damaged(sound, size, seed);
		named_open(&named);
		mu_symbols_find(named.symbols, named.compute, &symbol);
		mu_symbols_find(named.symbols, named.counter, &symbol);
		mu_symbols_find(named.symbols, named.zeroed, &symbol);
	}
}

static bool
read_and_fault(void *ctx, uintptr_t address, void *buffer, size_t size)
{
	(void)ctx;
	(void)address;
	(void)buffer;
	(void)size;
	return raise(SIGSEGV) == 0;
}

/* Only the mapping remains. */
TEST(fault)
{
	struct mu_symbol symbol;

	ck_assert(named_build(&named, "-g -O1"));
	named_run(&named);
	named_look(&named);
	named.source.read = read_and_fault;
	named_open(&named);
	symbol = named_find(named.compute);
	ck_assert_ptr_nonnull(strstr(symbol.module, "/program"));
	must_be_nameless(named.compute);
	must_be_nameless(named.counter);
	ck_assert_int_eq(
	    mu_symbols_detail(named.symbols, named.compute), MU_SYMBOLS_NONE);
}

SUITE(.setup = named_setup, .teardown = named_teardown);
