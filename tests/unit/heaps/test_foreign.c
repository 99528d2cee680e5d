/*
 * The allocator of a process, from its mappings alone, with and without names,
 * and from strings in its files.
 */
#include "heapwalk/heaps/glibc/arena.h"
#include "heapwalk/heaps/glibc/foreign.h"
#include "heapwalk/heaps/glibc/libc.h"
#include "tests/support/suite.h"

#define PAGE 4096
#define BASE ((uintptr_t)0x10000000)
#define ROOM (64 * PAGE)

static char bytes[ROOM]; /* what is at BASE */
static struct mu_mapping mappings[16];
static struct mu_snapshot snap;
static struct mu_why why;

static const void *
view(struct mu_memory *memory, uintptr_t address, size_t size)
{
	(void)memory;
	return address < BASE || size > ROOM || address - BASE > ROOM - size
	    ? NULL
	    : bytes + (address - BASE);
}

static bool
populated(
    struct mu_memory *memory, struct mu_range range, struct mu_range *part)
{
	(void)memory;
	*part = range;
	return range.begin < range.end;
}

static const struct mu_memory_ops ops = {
	.name = "fake", .view = view, .populated = populated
};

static void
setup(void)
{
	memset(bytes, 0, sizeof(bytes));
	memset(mappings, 0, sizeof(mappings));
	why.text[0] = '\0';
	snap = (struct mu_snapshot) { .mappings = mappings,
		.num_threads = 1,
		.memory = { .ops = &ops, .page_size = PAGE } };
}

/* The next mapping, of four pages: "r--", "rw-" or "r-x". */
static struct mu_mapping *
map(const char *name, const char *prot)
{
	size_t i = snap.num_mappings++;

	mappings[i] = (struct mu_mapping) {
		.range = { BASE + i * 4 * PAGE, BASE + (i + 1) * 4 * PAGE },
		.readable = true,
		.writable = prot[1] == 'w',
		.executable = prot[2] == 'x',
		.offset = PAGE,
		.inode = name[0] == '/' ? 1000 + strlen(name) : 0,
		.name = name,
	};
	return &mappings[i];
}

/* A program or library of which the loader made three mappings. */
static struct mu_mapping *
load(const char *name)
{
	struct mu_mapping *first = map(name, "r--");

	first->offset = 0;
	map(name, "r-x");
	map(name, "rw-");
	return first;
}

static void
write_words(const struct mu_mapping *mapping, const char *words)
{
	memcpy(bytes + (mapping->range.begin - BASE) + 100, words,
	    strlen(words) + 1);
}

static enum mu_status
find(void)
{
	struct mu_arena arena;
	struct mu_glibc glibc;
	enum mu_status status;

	mu_arena_open(&arena, 1 << 20);
	status = mu_glibc_find(&glibc, NULL, &snap, &arena, &why);
	mu_arena_close(&arena);
	return status;
}

static void
expect_foreign(const char *words)
{
	enum mu_status status = find();

	ck_assert_msg(status == MU_ERR_FOREIGN_ALLOCATOR &&
		strstr(why.text, words) != NULL,
	    "%s: %s", mu_status_name(status), why.text);
}

static const char *const named[] = { "/lib/ld-musl-x86_64.so.1",
	"/lib/libc.musl-x86_64.so.1", "/usr/lib/libjemalloc.so.2",
	"/opt/x/libmimalloc.so.2.1", "/usr/lib/libtcmalloc.so.4",
	"/usr/lib/libtcmalloc_minimal.so.4 (deleted)",
	"/usr/lib/gcc/libasan.so.8.0.0", "/usr/lib/llvm/libclang_rt.asan.so",
	"/usr/lib/libtbbmalloc_proxy.so.2", "/usr/lib/libscudo.so",
	"/usr/libexec/valgrind/vgpreload_memcheck-amd64-linux.so" };

/* Whatever release, or none: the name is what is said. */
TEST_LOOP(by_name, 0, (int)(sizeof(named) / sizeof(*named)))
{
	const char *name = strrchr(named[_i], '/') + 1;

	load("/bin/program");
	load(named[_i]);
	expect_foreign(name);
	snap.glibc_major = 2;
	snap.glibc_minor = 36;
	expect_foreign(name);
	load("/usr/lib/libc.so.6");
	expect_foreign(name);
}

TEST(no_name)
{
	load("/bin/program");
	ck_assert_int_eq(find(), MU_ERR_UNKNOWN_GLIBC);
	snap.glibc_major = 2;
	snap.glibc_minor = 36;
	expect_foreign("holds no main_arena");
	load("/usr/lib/libc.so.6");
	expect_foreign("holds no main_arena");
}

/* The names of these are no names of allocators. */
TEST(not_by_name)
{
	load("/home/libjemalloc/program");
	load("/usr/lib/libmusl-codec.so");
	map("/var/lib/data libmimalloc.so", "rw-");
	map("[anon: libtcmalloc]", "rw-");
	ck_assert_int_eq(find(), MU_ERR_UNKNOWN_GLIBC);
}

TEST(by_malloc)
{
	struct mu_mapping *program = load("/bin/program");

	load("/usr/lib/libc.so.6");
	snap.glibc_major = 2;
	snap.glibc_minor = 36;
	snap.malloc_address = program[1].range.begin + 16;
	expect_foreign("malloc is that of program");
	write_words(program, "<jemalloc>: Error");
	expect_foreign("(jemalloc, in program)");
	write_words(program, "ERROR: AddressSanitizer: heap-use-after-free");
	expect_foreign("(AddressSanitizer, in program)");
	write_words(program, "WARNING: HWAddressSanitizer: failed to");
	expect_foreign("(HWAddressSanitizer, in program)");
	write_words(program, "unrelated malloc words, and no Sanitizer: ");
	expect_foreign("malloc is that of program");
	/* libc's own. */
	snap.malloc_address = program[4].range.begin + 16;
	expect_foreign("holds no main_arena");
}

static enum mu_status
judge(void)
{
	struct mu_blocks blocks = { .count = 1, .sealed = true };

	return mu_glibc_foreign_check(&snap, NULL, &blocks, &why);
}

TEST(besides)
{
	struct mu_mapping *program = load("/bin/program");
	struct mu_mapping *data = map("/usr/share/words", "r--");

	ck_assert_int_eq(judge(), MU_OK);
	/* Not of a program, so it is no allocator. */
	write_words(data, "<jemalloc>: Error");
	ck_assert_int_eq(judge(), MU_OK);
	write_words(program, "mimalloc: warning");
	ck_assert_int_eq(judge(), MU_OK);
	write_words(program, "<jemalloc>: Error");
	ck_assert_int_eq(judge(), MU_PARTIAL);
	ck_assert_ptr_nonnull(strstr(why.text, "(jemalloc, in program)"));
	write_words(program, "tcmalloc.max_total_thread_cache_bytes");
	ck_assert_int_eq(judge(), MU_PARTIAL);
	load("/usr/lib/libjemalloc.so.2");
	ck_assert_int_eq(judge(), MU_PARTIAL);
	ck_assert_ptr_nonnull(strstr(why.text, "(libjemalloc.so.2)"));
}

TEST(instead)
{
	struct mu_mapping *program = load("/bin/program");

	load("/usr/lib/libc.so.6");
	snap.malloc_address = program[1].range.begin + 16;
	ck_assert_int_eq(judge(), MU_PARTIAL);
	ck_assert_ptr_nonnull(strstr(why.text, "malloc is that of program"));
	write_words(program, "mimalloc: warning");
	ck_assert_int_eq(judge(), MU_ERR_FOREIGN_ALLOCATOR);
	ck_assert_ptr_nonnull(strstr(why.text, "(mimalloc, in program)"));
}

/* The words at the very ends of what is mapped, and cut off there. */
TEST(words_at_the_ends)
{
	struct mu_mapping *program = load("/bin/program");
	char *text = bytes + (program->range.begin - BASE);

	memcpy(text, "<jemalloc>", 10);
	ck_assert_int_eq(judge(), MU_PARTIAL);
	memset(text, 0, 10);
	memcpy(text, "emalloc>", 8);
	ck_assert_int_eq(judge(), MU_OK);
	memcpy(text + 4 * PAGE - 9, "<jemalloc", 9);
	ck_assert_int_eq(judge(), MU_OK);
	memcpy(text + 4 * PAGE - 10, "<jemalloc>", 10);
	ck_assert_int_eq(judge(), MU_PARTIAL);
}

TEST(loads_of_libc)
{
	struct mu_libc libcs[MU_LIBCS_MAX];
	struct mu_mapping *program = load("/bin/program");
	struct mu_mapping *first = load("/usr/lib/libc.so.6");
	struct mu_mapping *second = load("/usr/lib/libc.so.6");

	snap.libc_address = second[1].range.begin;
	ck_assert_uint_eq(mu_libcs_find(&snap, libcs), 2);
	ck_assert(mu_libc_has_data(&libcs[0], &second[2]));
	ck_assert(!mu_libc_has_data(&libcs[0], &first[2]));
	ck_assert(mu_libc_has_data(&libcs[1], &first[2]));
	ck_assert(!mu_libc_has_data(&libcs[1], &second[2]));
	ck_assert(!mu_libc_has_data(&libcs[0], &second[1]));
	/* A PLT entry of the program, or a static one with a libc besides. */
	snap.libc_address = program[1].range.begin;
	ck_assert_uint_eq(mu_libcs_find(&snap, libcs), 3);
	ck_assert(mu_libc_has_data(&libcs[0], &program[2]));
	/* Without the address of libc its data may be any file's. */
	snap.num_mappings = 3;
	snap.libc_address = 0;
	ck_assert_uint_eq(mu_libcs_find(&snap, libcs), 1);
	ck_assert(mu_libc_has_data(&libcs[0], &program[2]));
}

SUITE(.setup = setup);
