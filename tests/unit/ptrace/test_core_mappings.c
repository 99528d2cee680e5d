/*
 * The snapshot of a core that is made in memory: mappings and the places of
 * their bytes, names, threads, views, gaps.
 */
#include "heapwalk/heaps/glibc/banner.h"
#include "ptrace/core/snapshot.h"
#include "tests/support/command/made_core.h"
#include "tests/support/suite.h"

#define PROGRAM 0x555500000000
#define HEAP 0x555500900000
#define LIBRARY 0x7f0000000000
#define SHARED 0x7f0000100000
#define THREADS 0x7f0000200000
#define VDSO 0x7f0000300000
#define STACK 0x7ffc00000000
#define PAGES(n) ((n)*MADE_PAGE)

static struct made_core made;
static struct mu_snapshot snap;
static struct mu_snapshot_core core;
static struct mu_arena arena;
static struct mu_why why;

/*
 * The first page of a library whose file is not available, and the word to
 * which a thread pointer leads.
 */
static char elf_page[MADE_PAGE] = { ELFMAG0, ELFMAG1, ELFMAG2, ELFMAG3,
	ELFCLASS64, ELFDATA2LSB, EV_CURRENT, [0x700] = 1 };

static const uintptr_t rows[][3] = {
	{ PROGRAM, PROGRAM + PAGES(2), 0 },
	{ PROGRAM + PAGES(2), PROGRAM + PAGES(3), 2 },
	{ LIBRARY, LIBRARY + PAGES(2), 0 },
	{ LIBRARY + PAGES(2), LIBRARY + PAGES(4), 2 },
	{ LIBRARY + PAGES(4), LIBRARY + PAGES(5), 4 },
	{ LIBRARY + PAGES(6), LIBRARY + PAGES(7), 0 },
	{ SHARED, SHARED + PAGES(1), 0 },
	{ SHARED + PAGES(1), SHARED + PAGES(2), 0 },
};
static const char *const names[] = { "/p", "/p", "/lib/libc-2.31.so",
	"/lib/libc-2.31.so", "/lib/libc-2.31.so", "/usr/share/font",
	"/memfd:ring (deleted)", "/var/base" };

static void
add_notes(void)
{
	const Elf64_auxv_t vector[] = { { AT_PAGESZ, { PAGES(1) } },
		{ AT_PHDR, { PROGRAM + 64 } }, { AT_RANDOM, { STACK + 99 } },
		{ AT_SYSINFO_EHDR, { VDSO + PAGES(1) } }, { AT_NULL, { 0 } } };
	struct elf_prpsinfo info;

	memset(&info, 0, sizeof(info));
	info.pr_pid = 70;
	memcpy(info.pr_fname, "prog", 4);
	made_note(&made, NT_PRPSINFO, &info, sizeof(info));
	made_thread(&made, 77, THREADS + 64, 0x7f0000000700);
	made_note(&made, NT_FPREGSET, "12345678\0\0\0\0\0\x7f\0", 16);
	made_thread(&made, 70, STACK + 64, 0);
	made_note(&made, NT_AUXV, vector, sizeof(vector));
	made_files(&made, rows, sizeof(rows) / sizeof(*rows), names);
}

static void
add_segments(void)
{
	const unsigned rw = PF_R | PF_W;

	made_segment(&made, PROGRAM, PAGES(2), PF_R, PAGES(1), NULL);
	made_segment(&made, PROGRAM + PAGES(2), PAGES(1), rw, PAGES(1), NULL);
	made_segment(&made, PROGRAM + PAGES(3), PAGES(1), rw, 0, NULL);
	made_segment(&made, HEAP, PAGES(2), rw, PAGES(2), NULL);
	made_segment(&made, HEAP + PAGES(2), PAGES(1), PF_R, PAGES(1), NULL);
	made_segment(&made, HEAP + PAGES(3), PAGES(1), rw, PAGES(1), NULL);
	made_segment(&made, LIBRARY, PAGES(2), PF_R, PAGES(1), elf_page);
	made_segment(&made, LIBRARY + PAGES(2), PAGES(2), PF_R | PF_X, 0, NULL);
	made_segment(&made, LIBRARY + PAGES(4), PAGES(1), rw, PAGES(1), NULL);
	made_segment(&made, LIBRARY + PAGES(6), PAGES(1), PF_R, 0, NULL);
	made_segment(&made, SHARED, PAGES(1), rw, 0, NULL);
	made_segment(&made, SHARED + PAGES(1), PAGES(1), rw, 0, NULL);
	made_segment(&made, THREADS, PAGES(1), 0, PAGES(1), NULL);
	made_segment(&made, THREADS + PAGES(1), PAGES(1), rw, 0, NULL);
	made_segment(&made, VDSO, PAGES(1), PF_R, 0, NULL);
	made_segment(
	    &made, VDSO + PAGES(1), PAGES(1), PF_R | PF_X, PAGES(1), NULL);
	made_segment(&made, STACK, PAGES(2), rw, PAGES(2), NULL);
}

static void
setup(void)
{
	memset(&made, 0, sizeof(made));
	mu_arena_open(&arena, (size_t)16 << 20);
	core = (struct mu_snapshot_core) { .file.fd = -1, .memory.fd = -1 };
	add_notes();
	add_segments();
	made_finish(&made);
}

static void
teardown(void)
{
	mu_snapshot_core_close(&core);
	mu_arena_close(&arena);
}

static enum mu_status
parse(size_t size)
{
	mu_snapshot_core_close(&core);
	return core_in_memory(&snap, &core, made.bytes, size, &arena, &why);
}

/* The mapping that begins at ADDRESS; its part into *PART. */
static const struct mu_mapping *
at(uintptr_t address, const struct mu_core_part **part)
{
	const struct mu_mapping *mapping = mu_snapshot_mapping(&snap, address);

	ck_assert_ptr_nonnull(mapping);
	ck_assert_uint_eq(mapping->range.begin, address);
	*part = &core.parts[mapping - snap.mappings];
	return mapping;
}

static void
expect(uintptr_t address, size_t pages, enum mu_core_source source,
    const char *name)
{
	const struct mu_core_part *part;
	const struct mu_mapping *mapping = at(address, &part);

	ck_assert_uint_eq(mu_range_size(mapping->range), PAGES(pages));
	ck_assert_int_eq(part->source, source);
	ck_assert_str_eq(mapping->name, name);
}

TEST(mappings)
{
	static const char libc[] = "/lib/libc-2.31.so";
	const struct mu_core_part *part;

	ck_assert_int_eq(parse(made.size), MU_PARTIAL);
	expect(PROGRAM, 1, MU_CORE_DUMPED, "/p");
	expect(PROGRAM + PAGES(1), 1, MU_CORE_NOT_NEEDED, "/p");
	ck_assert_uint_eq(at(PROGRAM + PAGES(1), &part)->offset, PAGES(1));
	expect(PROGRAM + PAGES(2), 1, MU_CORE_DUMPED, "/p");
	expect(PROGRAM + PAGES(3), 1, MU_CORE_ZEROS, "");
	expect(HEAP, 2, MU_CORE_DUMPED, "[heap]");
	expect(HEAP + PAGES(2), 1, MU_CORE_DUMPED, "[heap]");
	expect(HEAP + PAGES(3), 1, MU_CORE_DUMPED, "[heap]");
	expect(LIBRARY, 1, MU_CORE_DUMPED, libc);
	expect(LIBRARY + PAGES(1), 1, MU_CORE_MISSING, libc);
	expect(LIBRARY + PAGES(2), 2, MU_CORE_MISSING, libc);
	ck_assert(at(LIBRARY + PAGES(2), &part)->executable);
	expect(LIBRARY + PAGES(4), 1, MU_CORE_DUMPED, libc);
	expect(LIBRARY + PAGES(6), 1, MU_CORE_NOT_NEEDED, "/usr/share/font");
	expect(SHARED, 1, MU_CORE_MISSING, names[6]);
	ck_assert(at(SHARED, &part)->shared);
	expect(SHARED + PAGES(1), 1, MU_CORE_NOT_NEEDED, "/var/base");
	ck_assert(at(SHARED + PAGES(1), &part)->shared);
	expect(THREADS, 1, MU_CORE_DUMPED, "");
	expect(VDSO, 1, MU_CORE_NOT_NEEDED, "[vvar]");
	expect(VDSO + PAGES(1), 1, MU_CORE_DUMPED, "[vdso]");
	expect(STACK, 2, MU_CORE_DUMPED, "[stack]");
	ck_assert_uint_eq(snap.num_mappings, 19);
}

TEST(same_files)
{
	const struct mu_core_part *part;
	const struct mu_mapping *program, *library;

	parse(made.size);
	program = at(PROGRAM, &part);
	library = at(LIBRARY, &part);
	ck_assert_uint_ne(program->inode, 0);
	ck_assert_uint_ne(program->inode, library->inode);
	ck_assert_uint_eq(at(PROGRAM + PAGES(2), &part)->inode, program->inode);
	ck_assert_uint_eq(at(LIBRARY + PAGES(4), &part)->inode, library->inode);
	ck_assert_uint_eq(at(HEAP, &part)->inode, 0);
}

TEST(process_and_threads)
{
	unsigned major = 0, minor = 0;

	parse(made.size);
	ck_assert_int_eq(snap.pid, 70);
	ck_assert_str_eq(core.process.program, "prog");
	ck_assert_int_eq(core.process.signal, 11);
	ck_assert_uint_eq(snap.memory.page_size, PAGES(1));
	ck_assert(mu_glibc_banner_find(&snap, &major, &minor));
	ck_assert_uint_eq(major, 2);
	ck_assert_uint_eq(minor, 31);
	ck_assert_uint_eq(snap.num_threads, 2);
	ck_assert_int_eq(snap.threads[0].tid, 77);
	ck_assert_uint_eq(snap.threads[0].sp, THREADS + 64);
#if defined(__x86_64__)
	ck_assert_uint_eq(snap.threads[0].tp, 0x7f0000000700);
	/* One register, sp, tp, and the second word of the vector set. */
	ck_assert_uint_eq(snap.threads[0].num_values, 4);
	ck_assert_uint_eq(snap.values[0], 0x7f0000001234);
	ck_assert_uint_eq(snap.values[3], 0x7f0000000000);
#endif
	ck_assert_int_eq(snap.threads[1].tid, 70);
}

TEST(views)
{
	const char *view;

	parse(made.size);
	view = mu_snapshot_view(&snap, HEAP + 5, PAGES(2) - 5);
	ck_assert_ptr_nonnull(view);
	ck_assert_int_eq(view[0], 4);
	ck_assert_ptr_null(mu_snapshot_view(&snap, HEAP, PAGES(4) + 1));
	ck_assert_ptr_null(mu_snapshot_view(&snap, HEAP, 0));
	ck_assert_ptr_null(mu_snapshot_view(&snap, HEAP, UINTPTR_MAX));
	/* Variables and .bss, of which nothing was dumped: one view. */
	view = mu_snapshot_view(&snap, PROGRAM + PAGES(2), PAGES(2));
	ck_assert_ptr_nonnull(view);
	ck_assert_int_eq(view[PAGES(1) - 1], 2);
	ck_assert_int_eq(view[PAGES(1)], 0);
	ck_assert_int_eq(view[PAGES(2) - 1], 0);
	ck_assert_ptr_nonnull(mu_snapshot_view(&snap, LIBRARY, PAGES(1)));
	ck_assert_ptr_null(mu_snapshot_view(&snap, LIBRARY, PAGES(1) + 1));
	ck_assert_ptr_null(mu_snapshot_view(&snap, LIBRARY + PAGES(2), 1));
	/* Closed to the program, and so at first to us. */
	ck_assert_ptr_null(mu_snapshot_view(&snap, THREADS, 1));
	mu_snapshot_core_unlock(&core, &snap);
	ck_assert_ptr_nonnull(mu_snapshot_view(&snap, THREADS, PAGES(2)));
}

TEST(populated)
{
	struct mu_range rest = { 0, UINTPTR_MAX }, part;
	size_t bytes = 0;

	parse(made.size);
	while (snap.memory.ops->populated(&snap.memory, rest, &part)) {
		ck_assert_uint_ge(part.begin, rest.begin);
		ck_assert_uint_lt(part.begin, part.end);
		bytes += mu_range_size(part);
		rest.begin = part.end;
	}
	ck_assert_uint_eq(bytes, PAGES(1 + 1 + 4 + 1 + 1 + 1 + 2));
	ck_assert(!snap.memory.blind);
}

TEST(gaps)
{
	ck_assert_int_eq(parse(made.size), MU_PARTIAL);
	ck_assert_msg(
	    strstr(why.text, "libc-2.31.so: its file is not here") != NULL,
	    "%s", why.text);
	ck_assert_uint_eq(core.num_gaps, 3);
	ck_assert_uint_eq(core.gap_bytes, PAGES(1 + 2 + 1));
	ck_assert_uint_eq(core.gaps[0].range.begin, LIBRARY + PAGES(1));
	ck_assert_uint_eq(core.undumped_bytes, PAGES(1));
	ck_assert_int_eq(mu_snapshot_core_doubt(&core, &why), MU_PARTIAL);
}

TEST(cut)
{
	ck_assert_int_eq(parse(made.size - 5), MU_PARTIAL);
	ck_assert_ptr_nonnull(strstr(why.text, "cut short by 5 bytes"));
	ck_assert_ptr_null(mu_snapshot_view(&snap, STACK, PAGES(2)));
	ck_assert_ptr_nonnull(mu_snapshot_view(&snap, STACK, PAGES(1)));
	/* No stack is left. */
	ck_assert_int_eq(parse(made.size - PAGES(4)), MU_ERR_ARGUMENT);
	ck_assert_ptr_nonnull(strstr(why.text, "cut short"));
}

/* Without room for more, an error, and nothing is left behind. */
TEST(no_memory)
{
	enum mu_status status = MU_ERR_NO_MEMORY;
	size_t i;

	for (i = 1; status == MU_ERR_NO_MEMORY; i++) {
		mu_arena_close(&arena);
		mu_arena_open(&arena, (size_t)16 << 20);
		arena.fail_at = i;
		status = parse(made.size);
		ck_assert_int_ne(why.text[0], 0);
	}
	ck_assert_int_eq(status, MU_PARTIAL);
	ck_assert_uint_gt(i, 8);
}

SUITE(.setup = setup, .teardown = teardown);
