/*
 * Which module a variable belongs to: compared with the dynamic linker in this
 * process; with damaged headers no address outside of a module is attributed to
 * it.
 */
#include <dlfcn.h>
#include <elf.h>
#include <link.h>

#include "heapwalk/subject/modules.h"
#include "tests/support/heaps/image.h"
#include "tests/support/suite.h"

static struct mu_snapshot snap;
static int data = 1;
static char bss[1 << 20];

static void
setup(void)
{
	image_setup();
	memset(&snap, 0, sizeof(snap));
	snap.pid = getpid();
}

/* Every page of every segment of every module that the linker knows. */
static int
compare_one(struct dl_phdr_info *info, size_t size, void *ctx)
{
	const ElfW(Phdr) * segment;
	struct mu_module module;
	uintptr_t begin, end, at;
	size_t *count = ctx, i;

	(void)size;
	for (i = 0; i < info->dlpi_phnum; i++) {
		segment = &info->dlpi_phdr[i];
		begin = info->dlpi_addr + segment->p_vaddr;
		end = begin + segment->p_memsz;
		/* The vDSO is no file. */
		if (segment->p_type != PT_LOAD ||
		    strncmp(info->dlpi_name, "linux-vdso", 10) == 0)
			continue;
		for (at = begin; at < end; at += image.page) {
			ck_assert_msg(mu_module_find(&snap, at, &module),
			    "%s+%lx", info->dlpi_name,
			    (unsigned long)(at - info->dlpi_addr));
			ck_assert_uint_eq(module.bias, info->dlpi_addr);
			ck_assert(mu_range_has(module.range, end - 1));
			++*count;
		}
	}
	return 0;
}

TEST(as_the_linker_has_it)
{
	size_t count = 0;

	bss[sizeof(bss) / 2] = 1;
	image_open(&snap);
	dl_iterate_phdr(compare_one, &count);
	ck_assert_uint_gt(count, 300);
}

TEST(variables_of_ours)
{
	struct mu_module module;
	Dl_info about;

	image_open(&snap);
	ck_assert_int_ne(dladdr(&data, &about), 0);
	ck_assert(mu_module_find(&snap, (uintptr_t)&data, &module));
	ck_assert_uint_eq(module.range.begin, (uintptr_t)about.dli_fbase);
	ck_assert(
	    mu_module_find(&snap, (uintptr_t)bss + sizeof(bss) - 1, &module));
	ck_assert_uint_eq(module.range.begin, (uintptr_t)about.dli_fbase);
	ck_assert_ptr_nonnull(
	    strstr(snap.mappings[module.mapping].name, "test_modules"));
}

TEST(what_is_no_variable)
{
	char path[] = "/proc/self/exe";
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	char *anonymous = map_filled(2), *document, local = 'l';
	void *block = malloc(100);
	struct mu_module module;

	/* A program that is merely read. */
	document = mmap(NULL, 4096, PROT_READ, MAP_PRIVATE, fd, 0);
	ck_assert_ptr_ne(document, MAP_FAILED);
	ck_assert_int_eq(memcmp(document, ELFMAG, SELFMAG), 0);
	image_open(&snap);
	ck_assert(!mu_module_find(&snap, 0, &module));
	ck_assert(!mu_module_find(&snap, UINTPTR_MAX, &module));
	ck_assert(!mu_module_find(&snap, (uintptr_t)&local, &module));
	ck_assert(!mu_module_find(&snap, (uintptr_t)block, &module));
	ck_assert(!mu_module_find(&snap, (uintptr_t)anonymous, &module));
	ck_assert(!mu_module_find(&snap, (uintptr_t)document, &module));
	free(block);
	close(fd);
}

static const void *
view_as_is(struct mu_memory *memory, uintptr_t address, size_t size)
{
	const struct mu_range *readable = memory->ctx;

	return mu_range_has(*readable, address) &&
		size <= readable->end - address
	    ? (const void *)address
	    : NULL;
}

/* A file that is mapped at FILE only, with one header. */
static char file[4096] __attribute__((aligned(4096)));
static struct mu_range readable;
static struct mu_mapping mapping;

static void
open_file(void)
{
	static const struct mu_memory_ops ops = { .view = view_as_is };
	Elf64_Ehdr *header = (Elf64_Ehdr *)file;

	image_open(&snap);
	readable = (struct mu_range) { (uintptr_t)file,
		(uintptr_t)file + sizeof(file) };
	mapping = (struct mu_mapping) { .range = readable,
		.readable = true,
		.executable = true,
		.inode = 1,
		.name = "" };
	snap.memory = (struct mu_memory) {
		.ops = &ops, .page_size = image.page, .ctx = &readable
	};
	snap.mappings = &mapping;
	snap.num_mappings = 1;
	memset(file, 0, sizeof(file));
	memcpy(header->e_ident, ELFMAG, SELFMAG);
	header->e_ident[EI_CLASS] = ELFCLASS64;
	header->e_phentsize = sizeof(Elf64_Phdr);
	header->e_phoff = sizeof(*header);
	header->e_phnum = 2;
}

/* Linked for a place that is not the one that it was loaded at. */
TEST(linked_for_elsewhere)
{
	Elf64_Phdr *segments = (Elf64_Phdr *)(file + sizeof(Elf64_Ehdr));
	uintptr_t begin = (uintptr_t)file;
	struct mu_module module;

	open_file();
	segments[0] = (Elf64_Phdr) {
		.p_type = PT_LOAD, .p_vaddr = 0x400000, .p_memsz = 100
	};
	segments[1] = (Elf64_Phdr) { .p_type = PT_LOAD,
		.p_offset = 0x1008,
		.p_vaddr = 0x403008,
		.p_memsz = image.page };
	ck_assert(mu_module_find(&snap, begin + 100, &module));
	ck_assert_uint_eq(module.bias, begin - 0x400000);
	ck_assert_uint_eq(module.range.begin, begin);
	ck_assert_uint_eq(module.range.end, begin + 0x3000 + 2 * image.page);
	/* Wraps, ends nowhere, is no program. */
	segments[1].p_memsz = UINTPTR_MAX - 0x1000;
	ck_assert(!mu_module_find(&snap, begin + 100, &module));
	segments[1].p_memsz = 0;
	mapping.executable = false;
	ck_assert(!mu_module_find(&snap, begin + 100, &module));
	mapping.executable = true;
	file[0] = 0;
	ck_assert(!mu_module_find(&snap, begin + 100, &module));
}

/* Headers of noise: no answer, or one that has the address. */
TEST(hostile_headers)
{
	uintptr_t begin = (uintptr_t)file;
	struct mu_module module;
	Elf64_Ehdr *header = (Elf64_Ehdr *)file, good;
	Elf64_Phdr *segments = (Elf64_Phdr *)(header + 1);
	size_t i, j, answers = 0;

	open_file();
	good = *header;
	srand(1);
	for (i = 0; i < 50000; i++) {
		for (j = 0; j < 512; j++)
			file[j] = (char)(rand() % 4 == 0 ? rand() : 0);
		*header = good;
		header->e_phnum = (Elf64_Half)(rand() % 130);
		if (rand() % 2 == 0)
			header->e_phoff = (size_t)rand() % 5000;
		for (j = 0; j < 4; j++)
			segments[j].p_type = PT_LOAD;
		if (!mu_module_find(&snap, begin + 100, &module))
			continue;
		answers++;
		ck_assert(mu_range_has(module.range, begin + 100));
	}
	ck_assert_uint_gt(answers, 0);
	/* A header at the very end of memory. */
	readable.begin = begin + sizeof(file) - 8;
	ck_assert(!mu_module_find(&snap, begin + 100, &module));
}

SUITE(.setup = setup, .teardown = image_teardown);
