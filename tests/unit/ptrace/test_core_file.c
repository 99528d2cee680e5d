/*
 * Segments and notes of core files that are made in memory, intact and damaged.
 */
#include "heapwalk/heaps/glibc/banner.h"
#include "ptrace/core/file.h"
#include "ptrace/core/file_id.h"
#include "tests/support/command/made_core.h"
#include "tests/support/suite.h"

#define STACK 0x7ffc00000000
#define DATA 0x555500004000

static struct made_core made;
static struct mu_core_file core;
static struct mu_arena arena;
static struct mu_why why;

static void
setup(void)
{
	memset(&made, 0, sizeof(made));
	mu_arena_open(&arena, (size_t)16 << 20);
	core = (struct mu_core_file) { .fd = -1 };
	made_thread(&made, 77, STACK + 64, 0x7f0000000700);
	made_note_of(&made, "OTHER", NT_PRSTATUS, "x", 1);
	made_note_of(&made, "LINUX", 0x202, "abcdefgh", 8);
	/* Not in order, and with one of the kernel's that is none of ours. */
	made_segment(
	    &made, STACK, 2 * MADE_PAGE, PF_R | PF_W, 2 * MADE_PAGE, NULL);
	made_segment(&made, DATA, 3 * MADE_PAGE, PF_R, MADE_PAGE, NULL);
	made_segment(
	    &made, 0xffffffffff600000, MADE_PAGE, PF_X, MADE_PAGE, NULL);
}

static void
teardown(void)
{
	mu_core_file_close(&core);
	mu_arena_close(&arena);
}

static enum mu_status
parse(size_t size)
{
	mu_core_file_close(&core);
	why.text[0] = '\0';
	return mu_core_file_parse(
	    &core, made.bytes, size, "made", &arena, &why);
}

static void
expect_refusal(const char *words)
{
	ck_assert_int_eq(parse(made.size), MU_ERR_ARGUMENT);
	ck_assert_msg(strstr(why.text, words) != NULL, "%s", why.text);
}

TEST(whole)
{
	made_finish(&made);
	ck_assert_int_eq(parse(made.size), MU_OK);
	ck_assert_uint_eq(core.cut, 0);
	ck_assert_uint_eq(core.num_segments, 2);
	ck_assert_uint_eq(core.segments[0].range.begin, DATA);
	ck_assert_uint_eq(core.segments[0].range.end, DATA + 3 * MADE_PAGE);
	ck_assert_uint_eq(core.segments[0].dumped, MADE_PAGE);
	ck_assert_uint_eq(core.segments[0].cut, 0);
	ck_assert_uint_eq(core.segments[0].flags, PF_R);
	ck_assert_int_eq(core.bytes[core.segments[0].offset], 2);
	ck_assert_uint_eq(core.segments[1].range.begin, STACK);
	ck_assert_int_eq(core.bytes[core.segments[1].offset], 1);
	ck_assert_uint_eq(core.num_notes, 2);
	ck_assert_uint_eq(core.notes[0].type, NT_PRSTATUS);
	ck_assert_uint_eq(core.notes[0].size, sizeof(struct elf_prstatus));
	ck_assert_uint_eq(core.notes[1].type, 0x202);
	ck_assert_int_eq(memcmp(core.notes[1].data, "abcdefgh", 8), 0);
}

/* Each either refused, with words, or known to be cut. */
TEST(cut_at_every_length)
{
	size_t size;

	/* The last page is the kernel's and not needed. */
	made_finish(&made);
	for (size = 0; size < made.size - MADE_PAGE;
	     size += size < 8192 ? 3 : 97) {
		if (parse(size) == MU_OK)
			ck_assert_uint_gt(core.cut, 0);
		else
			ck_assert_int_ne(why.text[0], 0);
	}
}

TEST(cut_in_a_segment)
{
	made_finish(&made);
	/* The stack, whose pages come first: one and a half are left. */
	ck_assert_int_eq(
	    parse(made.size - 3 * MADE_PAGE - MADE_PAGE / 2), MU_OK);
	ck_assert_uint_eq(core.segments[1].dumped, 0);
	ck_assert_uint_eq(core.segments[1].cut, 2 * MADE_PAGE);
	ck_assert_uint_eq(core.segments[0].dumped, 0);
	ck_assert_uint_eq(core.segments[0].cut, MADE_PAGE);
	ck_assert_int_eq(parse(made.size - 3 * MADE_PAGE + 5), MU_OK);
	ck_assert_uint_eq(core.segments[1].dumped, MADE_PAGE);
	ck_assert_uint_eq(core.segments[1].cut, MADE_PAGE);
}

TEST(no_core)
{
	made_finish(&made);
	made_header(&made)->e_type = ET_DYN;
	expect_refusal("not a core file but a program or library");
	made_header(&made)->e_type = ET_EXEC;
	expect_refusal("not a core file but a program");
	made_header(&made)->e_type = ET_REL;
	expect_refusal("an object file");
	made.bytes[0] = 0;
	expect_refusal("not an ELF file");
}

TEST(other_machines)
{
	made_finish(&made);
	made_header(&made)->e_machine = EM_S390;
	expect_refusal("s390x");
	made_header(&made)->e_machine = 54321;
	expect_refusal("another machine");
	made_header(&made)->e_machine = EM_386;
	made_header(&made)->e_ident[EI_CLASS] = ELFCLASS32;
	expect_refusal("i386");
	made_header(&made)->e_machine = EM_X86_64;
	expect_refusal("x32");
}

TEST(damaged_segments)
{
	Elf64_Phdr *header;

	made_finish(&made);
	header = &made_headers(&made)[1];
	header->p_memsz = UINT64_MAX - MADE_PAGE + 1;
	expect_refusal("wraps");
	header->p_memsz = 2 * MADE_PAGE + 1;
	expect_refusal("pages");
	header->p_memsz = MADE_PAGE;
	expect_refusal("smaller");
	header->p_memsz = 2 * MADE_PAGE;
	header->p_vaddr = DATA + MADE_PAGE;
	expect_refusal("overlap");
	header->p_vaddr = DATA + 7;
	expect_refusal("pages");
	header->p_vaddr = STACK;
	ck_assert_int_eq(parse(made.size), MU_OK);
	header->p_offset = UINT64_MAX - 5;
	ck_assert_int_eq(parse(made.size), MU_OK);
	ck_assert_uint_eq(core.segments[1].cut, 2 * MADE_PAGE);
	ck_assert_uint_gt(core.cut, 0);
	made_header(&made)->e_phnum = 0;
	expect_refusal("no program headers");
}

TEST(lying_notes)
{
	Elf64_Nhdr *note;
	size_t i;

	made_finish(&made);
	note = (Elf64_Nhdr *)(made.bytes + made_headers(&made)[0].p_offset);
	for (i = 0; i < 3; i++) {
		note->n_descsz = i == 0 ? UINT32_MAX : 1u << (12 + i * 8);
		ck_assert_int_eq(parse(made.size), MU_OK);
		ck_assert_uint_eq(core.num_notes, 0);
	}
	note->n_descsz = 4;
	note->n_namesz = UINT32_MAX - 3;
	ck_assert_int_eq(parse(made.size), MU_OK);
	made_headers(&made)[0].p_filesz = UINT64_MAX;
	ck_assert_int_eq(parse(made.size), MU_OK);
	ck_assert_uint_gt(core.cut, 0);
}

/* The count of headers is that of section 0 then. */
TEST(more_headers_than_a_half_holds)
{
	Elf64_Shdr section = { .sh_info = (Elf64_Word)made.count + 1 };

	made_finish(&made);
	made_header(&made)->e_phnum = PN_XNUM;
	made_header(&made)->e_shoff = made.size;
	made_header(&made)->e_shnum = 1;
	made_header(&made)->e_shentsize = sizeof(section);
	memcpy(made.bytes + made.size, &section, sizeof(section));
	made.size += sizeof(section);
	ck_assert_int_eq(parse(made.size), MU_OK);
	ck_assert_uint_eq(core.num_segments, 2);
	/* If it is cut off the count is unknown: the rest makes no sense. */
	parse(made.size - 1);
	parse(made.size - MADE_PAGE);
}

struct made_library {
	Elf64_Ehdr header;
	Elf64_Phdr segments[4];
	Elf64_Nhdr note;
	char name[4];
	unsigned char id[20];
};

static const struct made_library library = {
	.header = { .e_ident = { ELFMAG0, ELFMAG1, ELFMAG2, ELFMAG3, ELFCLASS64,
			ELFDATA2LSB, EV_CURRENT },
	    .e_type = ET_DYN,
	    .e_machine = MU_ELF_MACHINE,
	    .e_version = EV_CURRENT,
	    .e_phoff = sizeof(Elf64_Ehdr),
	    .e_ehsize = sizeof(Elf64_Ehdr),
	    .e_phentsize = sizeof(Elf64_Phdr),
	    .e_phnum = 4,
	    .e_shoff = 1u << 20,
	    .e_shnum = 30,
	    .e_shentsize = sizeof(Elf64_Shdr) },
	.segments = { { .p_type = PT_LOAD,
			  .p_flags = PF_R,
			  .p_filesz = 0x900,
			  .p_memsz = 0x900 },
	    { .p_type = PT_LOAD,
		.p_flags = PF_R | PF_X,
		.p_offset = 0x1000,
		.p_vaddr = 0x1000,
		.p_filesz = 0x1800,
		.p_memsz = 0x1800 },
	    { .p_type = PT_LOAD,
		.p_flags = PF_R | PF_W,
		.p_offset = 0x2dd0,
		.p_vaddr = 0x3dd0,
		.p_filesz = 0x100,
		.p_memsz = 0x900 },
	    { .p_type = PT_NOTE,
		.p_offset = offsetof(struct made_library, note),
		.p_filesz = sizeof(Elf64_Nhdr) + 24,
		.p_align = 4 } },
	.note = { 4, 20, NT_GNU_BUILD_ID },
	.name = "GNU",
	.id = { 1, 2, 3, [19] = 20 },
};

TEST(build_id)
{
	struct made_library other = library;
	const char *bytes = (const char *)&other;
	struct mu_core_id id;
	size_t size;

	ck_assert(mu_core_file_id(bytes, sizeof(other), &id));
	ck_assert_uint_eq(id.size, 20);
	ck_assert_int_eq(memcmp(id.bytes, other.id, 20), 0);
	for (size = 0; size < offsetof(struct made_library, id) + 20; size++) {
		mu_core_file_id(bytes, size, &id);
		ck_assert_uint_eq(id.size, 0);
	}
	other.note.n_descsz = 200;
	ck_assert(mu_core_file_id(bytes, sizeof(other), &id));
	ck_assert_uint_eq(id.size, 0);
}

TEST(protections)
{
	struct made_library other = library;
	const char *bytes = (const char *)&library;
	size_t size = sizeof(library);

	ck_assert_uint_eq(mu_core_file_flags(bytes, size, 0), PF_R);
	ck_assert_uint_eq(mu_core_file_flags(bytes, size, 0x1000), PF_R | PF_X);
	ck_assert_uint_eq(mu_core_file_flags(bytes, size, 0x2000), PF_R | PF_X);
	ck_assert_uint_eq(mu_core_file_flags(bytes, size, 0x3000), PF_R | PF_W);
	ck_assert_uint_eq(mu_core_file_flags(bytes, size, 0x8000), 0);
	ck_assert_uint_eq(mu_core_file_flags(bytes, 10, 0), 0);
	other.segments[1].p_vaddr = 0x2000;
	other.segments[2].p_vaddr = 0x8dd0;
	bytes = (const char *)&other;
	ck_assert_uint_eq(
	    mu_core_file_flags(bytes, size, 0x1000), MU_CORE_FILE_HOLE);
	ck_assert_uint_eq(mu_core_file_flags(bytes, size, 0x2000), PF_R | PF_X);
	ck_assert_uint_eq(
	    mu_core_file_flags(bytes, size, 0x4000), MU_CORE_FILE_HOLE);
	ck_assert_uint_eq(mu_core_file_flags(bytes, size, 0x8000), PF_R | PF_W);
	ck_assert_uint_eq(mu_core_file_flags(bytes, size, 0xa000), 0);
}

TEST(release)
{
	static const char text[] =
	    "GNU C Library without one\0GNU C Library (Debian GLIBC "
	    "2.36-9+deb12u13) stable release version 2.36.\nCopyright";
	static const char next[] =
	    "GNU C Library (GNU libc) development release version 2.43.9000.";
	unsigned major = 0, minor = 0;
	size_t size;

	ck_assert(mu_glibc_banner_parse(text, sizeof(text), &major, &minor));
	ck_assert_uint_eq(major, 2);
	ck_assert_uint_eq(minor, 36);
	ck_assert(mu_glibc_banner_parse(next, sizeof(next), &major, &minor));
	ck_assert_uint_eq(minor, 43);
	for (size = 0; size < 95; size++)
		ck_assert(!mu_glibc_banner_parse(text, size, &major, &minor));
}

SUITE(.setup = setup, .teardown = teardown);
