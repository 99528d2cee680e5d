/*
 * lib/report/frame_names.c, lib/writers/frame_line.c: frames of this process,
 * as dladdr() has them.
 */
#include <dlfcn.h>
#include <elf.h>
#include <link.h>

#include "lib/report/exported.h"
#include "lib/report/frame_names.h"
#include "lib/writers/frame_line.h"
#include "tests/support/suite.h"

static struct mu_frame_names frames;

static const char *
frame(uintptr_t pc)
{
	static char line[4096];
	struct mu_text text = { line, sizeof(line), 0 };
	const struct mu_names names = mu_frame_names(&frames);
	struct mu_out out = mu_out_text(&text);

	mu_frame_line(&out, 3, pc, &names);
	ck_assert_uint_eq(text.length, strlen(line));
	return line;
}

static void
teardown(void)
{
	mu_frame_names_close(&frames);
}

/* What the unwinder of Android would print of ADDRESS, in WHERE. */
static void
expect(uintptr_t address, const char *name, size_t into)
{
	struct link_map *map;
	Dl_info info;
	char line[8192], path[4096];

	ck_assert_int_ne(
	    dladdr1((void *)address, &info, (void **)&map, RTLD_DL_LINKMAP), 0);
	ck_assert_ptr_nonnull(realpath(info.dli_fname, path));
	snprintf(line, sizeof(line), "          #03  pc %016lx  %s (%s+%zu)\n",
	    (unsigned long)(address - map->l_addr), path, name, into);
	ck_assert_str_eq(frame(address), line);
}

TEST(exported_functions)
{
	int i;

	for (i = 0; i < 3; i++) {
		expect((uintptr_t)dlsym(RTLD_DEFAULT, "insque"), "insque", 0);
		expect(
		    (uintptr_t)dlsym(RTLD_DEFAULT, "insque") + 2, "insque", 2);
	}
}

/* Every function that libc exports: its name, or another of the same place. */
TEST(same_as_dladdr)
{
	static const char *const some[] = { "malloc", "printf", "getenv",
		"strtoul", "fopen", "exit", "qsort_r", "regcomp", "glob",
		"getaddrinfo", "pthread_create", "wcstol" };
	struct mu_exported exported;
	static char chunk[MU_EXPORTED_CHUNK];
	char name[128];
	uintptr_t address;
	size_t i, into;
	Dl_info info;

	for (i = 0; i < sizeof(some) / sizeof(*some); i++) {
		address = (uintptr_t)dlsym(RTLD_DEFAULT, some[i]);
		if (address == 0)
			continue;
		ck_assert_int_ne(dladdr((void *)(address + 1), &info), 0);
		ck_assert(
		    mu_exported_open(&exported, (uintptr_t)info.dli_fbase));
		ck_assert(mu_exported_find(
		    &exported, address + 1, chunk, name, sizeof(name), &into));
		ck_assert_uint_eq(into, 1);
		ck_assert_ptr_eq(dlsym(RTLD_DEFAULT, name), (void *)address);
	}
}

/* A program exports nothing: module and offset are enough for addr2line. */
TEST(module_and_offset)
{
	const char *line = frame((uintptr_t)frame + 1);
	struct link_map *map;
	char expected[64];
	Dl_info info;

	dladdr1((void *)frame, &info, (void **)&map, RTLD_DL_LINKMAP);
	snprintf(expected, sizeof(expected), "          #03  pc %016lx  /",
	    (unsigned long)((uintptr_t)frame + 1 - map->l_addr));
	ck_assert_int_eq(strncmp(line, expected, strlen(expected)), 0);
	ck_assert_ptr_nonnull(strstr(line, "test_frame_text"));
}

TEST(case_unknown)
{
	void *anonymous = mmap(NULL, 4096, PROT_READ | PROT_WRITE,
	    MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	char expected[64];

	ck_assert_str_eq(
	    frame(0x99), "          #03  pc 0000000000000099  <unknown>\n");
	snprintf(expected, sizeof(expected),
	    "          #03  pc %016lx  <unknown>\n", (unsigned long)anonymous);
	ck_assert_str_eq(frame((uintptr_t)anonymous), expected);
	ck_assert_str_eq(frame(UINTPTR_MAX),
	    "          #03  pc ffffffffffffffff  <unknown>\n");
}

/* A file that is a module no more, and one that never made sense. */
TEST(damaged_modules)
{
	size_t size = 1 << 16, i, into;
	unsigned char *image = mmap(NULL, size, PROT_READ | PROT_WRITE,
	    MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	static char chunk[MU_EXPORTED_CHUNK];
	struct mu_exported exported;
	char name[64];
	FILE *self = fopen("/proc/self/exe", "r");
	int round;

	ck_assert(!mu_exported_open(&exported, 16));
	for (round = 0; round < 400; round++) {
		srand((unsigned)round + 1);
		rewind(self);
		ck_assert_uint_gt(fread(image, 1, size, self), 4096);
		for (i = 0; i < 40; i++)
			image[rand() % (round % 2 ? 1024 : (int)size)] =
			    (unsigned char)rand();
		if (mu_exported_open(&exported, (uintptr_t)image))
			mu_exported_find(&exported,
			    (uintptr_t)image + (size_t)rand() % size, chunk,
			    name, sizeof(name), &into);
	}
	fclose(self);
}

SUITE(.teardown = teardown);
