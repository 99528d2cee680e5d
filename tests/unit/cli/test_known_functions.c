/*
 * lib/command/known_functions.c: what was found for a file is not taken for
 * another one, also if that has the same inode.
 */
#include <elf.h>

#include "lib/command/known_functions.h"
#include "tests/support/suite.h"

#define PAGE 4096
#define BUILD_ID "0102030405060708"

struct made_head {
	Elf64_Ehdr header;
	Elf64_Phdr note_segment;
	Elf64_Nhdr note;
	char name[4];
	unsigned char id[8];
};

static struct mu_known_functions known;
static struct mu_mapping mappings[2];
static struct mu_thread thread;
static struct mu_snapshot snap;
static char *image;

static void
make_head(struct made_head *head)
{
	*head = (struct made_head) {
		.header = { .e_ident = { ELFMAG0, ELFMAG1, ELFMAG2, ELFMAG3,
				ELFCLASS64, ELFDATA2LSB, EV_CURRENT },
		    .e_type = ET_DYN,
		    .e_version = EV_CURRENT,
		    .e_ehsize = sizeof(Elf64_Ehdr),
		    .e_phoff = offsetof(struct made_head, note_segment),
		    .e_phentsize = sizeof(Elf64_Phdr),
		    .e_phnum = 1 },
		.note_segment = { .p_type = PT_NOTE,
		    .p_offset = offsetof(struct made_head, note),
		    .p_filesz =
			sizeof(*head) - offsetof(struct made_head, note),
		    .p_align = 4 },
		.note = { 4, sizeof(head->id), NT_GNU_BUILD_ID },
		.name = "GNU",
		.id = { 1, 2, 3, 4, 5, 6, 7, 8 },
	};
}

/* A file of two parts, in this process. */
static void
load(void)
{
	uintptr_t begin;
	size_t i;

	known = (struct mu_known_functions) { .next = 0 };
	image = mmap(NULL, 2 * PAGE, PROT_READ | PROT_WRITE,
	    MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	make_head((struct made_head *)image);
	begin = (uintptr_t)image;
	for (i = 0; i < 2; i++, begin += PAGE)
		mappings[i] = (struct mu_mapping) {
			.range = { begin, begin + PAGE },
			.readable = true,
			.executable = i == 1,
			.offset = i * PAGE,
			.inode = 7,
			.name = "/program",
		};
	thread = (struct mu_thread) { .tid = getpid() };
	snap = (struct mu_snapshot) {
		.threads = &thread,
		.num_threads = 1,
		.mappings = mappings,
		.num_mappings = 2,
	};
}

static uintptr_t
code(size_t at)
{
	return (uintptr_t)image + PAGE + at;
}

static bool
is_known(size_t at, struct mu_known_function *function)
{
	struct mu_known_place place;

	return mu_known_functions_find(
	    &known, &snap, code(at), &place, function);
}

/* Keep what was found for a place, in a file with ID. */
static void
keep(size_t at, const char *id)
{
	const struct mu_known_function function = {
		.named = true,
		.ending = true,
		.range = { code(at) - 2, code(at) + 8 },
		.rules = { .base = MU_FRAME_FP, .cfa = 16 },
	};
	struct mu_known_function none;
	struct mu_known_place place;

	ck_assert(
	    !mu_known_functions_find(&known, &snap, code(at), &place, &none));
	mu_known_functions_keep(&known, &place, code(at), id, &function);
}

TEST(another_process_of_the_file)
{
	struct mu_known_function function;
	char *before;

	load();
	keep(100, BUILD_ID);
	before = image;
	image = mremap(image, 2 * PAGE, 2 * PAGE, MREMAP_MAYMOVE | MREMAP_FIXED,
	    mmap(
		NULL, 2 * PAGE, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
	ck_assert(image != MAP_FAILED && image != before);
	mappings[0].range.begin = (uintptr_t)image;
	mappings[0].range.end = mappings[1].range.begin = code(0);
	mappings[1].range.end = code(PAGE);
	ck_assert(is_known(100, &function));
	ck_assert(function.named && function.ending);
	ck_assert_uint_eq(function.range.begin, code(98));
	ck_assert_uint_eq(function.range.end, code(108));
	ck_assert_int_eq(function.rules.cfa, 16);
	ck_assert(!is_known(101, &function));
}

TEST(another_file)
{
	struct mu_known_function function;

	load();
	keep(100, BUILD_ID);
	ck_assert(is_known(100, &function));
	((struct made_head *)image)->id[0]++;
	ck_assert(!is_known(100, &function));
	((struct made_head *)image)->id[0]--;
	mappings[0].inode = mappings[1].inode = 8;
	ck_assert(!is_known(100, &function));
}

/* The file was replaced before its names were read. */
TEST(names_of_another_file)
{
	struct mu_known_function function;

	load();
	keep(100, "0202030405060708");
	keep(100, NULL);
	ck_assert(!is_known(100, &function));
}

/* Nothing says whether it is the same. */
TEST(no_build_id)
{
	struct mu_known_function function;

	load();
	((struct made_head *)image)->note.n_type = NT_GNU_ABI_TAG;
	keep(100, "");
	ck_assert(!is_known(100, &function));
}

/* The oldest ones make room. */
TEST(many)
{
	struct mu_known_function function;
	size_t i;

	load();
	for (i = 0; i <= MU_KNOWN_FUNCTIONS; i++)
		keep(16 * i, BUILD_ID);
	ck_assert(!is_known(0, &function));
	for (i = 1; i <= MU_KNOWN_FUNCTIONS; i++)
		ck_assert(is_known(16 * i, &function));
}

SUITE(.timeout = 60);
