/* The heap dump file. */
#include <dlfcn.h>
#include <link.h>
#include <sys/stat.h>
#include <sys/utsname.h>

#include "lib/malloc_debug/dumps/heap_dump.h"
#include "tests/support/captured_stderr.h"
#include "tests/support/folder.h"
#include "tests/support/recorder/recorded_blocks.h"
#include "tests/support/suite.h"

static char directory[FOLDER_SIZE];
static char prefix[128], name[256];
static char text[1 << 20];

static void
begin(void)
{
	folder_make(directory);
	snprintf(prefix, sizeof(prefix), "%s/heap", directory);
	snprintf(name, sizeof(name), "%s.%d.txt", prefix, (int)getpid());
	made_begin();
	recorder_options.dump_prefix = prefix;
}

static void
end(void)
{
	made_end();
	folder_remove(directory);
}

static const char *
dumped(void)
{
	struct captured_stderr captured;
	char line[512];

	captured_stderr_begin(&captured);
	heap_dump_on_signal();
	snprintf(
	    line, sizeof(line), "malloc_debug: Dumping to file: %s\n", name);
	ck_assert_str_eq(captured_stderr_end(&captured), line);
	ck_assert_ptr_nonnull(folder_read(name, text, sizeof(text)));
	return text;
}

static const char *
skip(const char *at, const char *words)
{
	ck_assert_msg(strncmp(at, words, strlen(words)) == 0,
	    "\"%s\" is not at \"%.100s\"", words, at);
	return at + strlen(words);
}

static const char *
skip_head(const char *at, size_t total, size_t records)
{
	struct utsname system;
	char head[1024];

	uname(&system);
	snprintf(head, sizeof(head),
	    "Android Native Heap Dump v1.2\n\n"
	    "Build fingerprint: '%s/%s/%s'\n\n"
	    "Total memory: %zu\nAllocation records: %zu\n"
	    "Backtrace size: 16\n\n",
	    system.sysname, system.release, system.machine, total, records);
	return skip(at, head);
}

TEST(whole_file)
{
	const char *at, *maps;

	made(8, 0xa000, 3, 0);
	made(123456789, 0xfffffff0, 2, 0);
	made(8, 0xa000, 3, 0);
	made_of_stack(8, MU_STACK_OFF);
	made_of_stack(7, MU_STACK_EMPTY);
	at = skip_head(dumped(), 123456789 + 8 + 8 + 8 + 7, 4);
	at = skip(at, "z 1  sz 123456789  num    1  bt fffffff0 fffffff1\n");
	at = skip(at, "z 1  sz        8  num    2  bt a000 a001 a002\n");
	/* Also those without any stack. */
	at = skip(at, "z 1  sz        8  num    1  bt\n");
	at = skip(at, "z 1  sz        7  num    1  bt\n");
	maps = skip(at, "MAPS\n");
	at = strstr(maps, "\nEND\n");
	ck_assert_ptr_nonnull(at);
	ck_assert_ptr_nonnull(strstr(maps, "[stack]"));
	skip(at, "\nEND\n# module ");
}

TEST(stops_at_the_first_zero)
{
	uintptr_t frames[3] = { 0x1000, 0, 0x2000 };

	made_of_stack(8, stack_depot_put(frames, 3, 0));
	skip(skip_head(dumped(), 8, 1),
	    "z 1  sz        8  num    1  bt 1000\nMAPS\n");
}

TEST(child)
{
	const char *at;

	recorder_child = true;
	made(8, 0x1000, 1, 0);
	made(8, 0x1000, 1, MU_STACK_CHILD);
	at = skip_head(dumped(), 16, 2);
	at = skip(at, "z 0  sz        8  num    1  bt 1000\n");
	skip(at, "z 1  sz        8  num    1  bt 1000\nMAPS\n");
}

TEST(empty)
{
	skip(skip_head(dumped(), 0, 0), "MAPS\n");
}

TEST(mode)
{
	struct stat status;

	umask(0);
	dumped();
	ck_assert_int_eq(stat(name, &status), 0);
	ck_assert_int_eq(status.st_mode & 07777, 0600);
}

TEST(unable)
{
	struct captured_stderr captured;
	char line[512];

	recorder_options.dump_prefix = "/not/there/heap";
	captured_stderr_begin(&captured);
	heap_dump_on_signal();
	snprintf(line, sizeof(line),
	    "malloc_debug: Unable to create file: /not/there/heap.%d.txt\n",
	    (int)getpid());
	ck_assert_str_eq(captured_stderr_end(&captured), line);
}

/* A later dump has a number, and each has what there was at its time. */
TEST(none_is_replaced)
{
	static const size_t totals[] = { 8, 24, 48 };
	size_t i;

	for (i = 0; i < 3; i++) {
		made(
		    totals[i] - (i == 0 ? 0 : totals[i - 1]), 0x1000 + i, 1, 0);
		if (i > 0)
			snprintf(name, sizeof(name), "%s.%d.%zu.txt", prefix,
			    (int)getpid(), i + 1);
		skip_head(dumped(), totals[i], i + 1);
	}
	snprintf(name, sizeof(name), "%s.%d.txt", prefix, (int)getpid());
	skip_head(folder_read(name, text, sizeof(text)), 8, 1);
	/* The name is free again. */
	ck_assert_int_eq(unlink(name), 0);
	skip_head(dumped(), 48, 3);
}

TEST(at_exit)
{
	struct captured_stderr captured;
	char file[256];

	snprintf(file, sizeof(file), "%s.%d.exit.txt", prefix, (int)getpid());
	made(8, 0x1000, 1, 0);
	heap_dump_at_exit();
	ck_assert_ptr_null(folder_read(file, text, sizeof(text)));
	recorder_options.dump_on_exit = true;
	recorder_options.backtrace = false;
	heap_dump_at_exit();
	ck_assert_ptr_null(folder_read(file, text, sizeof(text)));
	recorder_options.backtrace = true;
	captured_stderr_begin(&captured);
	heap_dump_at_exit();
	captured_stderr_end(&captured);
	skip(skip_head(folder_read(file, text, sizeof(text)), 8, 1),
	    "z 1  sz        8  num    1  bt 1000\n");
	/* Nothing is left beside it. */
	snprintf(file, sizeof(file), "test $(ls %s | wc -l) = 1", directory);
	ck_assert_int_eq(system(file), 0);
	captured_stderr_begin(&captured);
	heap_dump_at_exit();
	captured_stderr_end(&captured);
	snprintf(file, sizeof(file), "%s.%d.exit.2.txt", prefix, (int)getpid());
	skip_head(folder_read(file, text, sizeof(text)), 8, 1);
}

__attribute__((noinline, visibility("default"))) void
a_named_function(void)
{
	__asm__ volatile("nop; nop; nop; nop; nop; nop; nop; nop");
}

/* The bias of the program itself. */
static uintptr_t
own_bias(void)
{
	struct link_map *map = NULL;
	Dl_info info;

	ck_assert_int_ne(dladdr1((void *)(uintptr_t)a_named_function, &info,
			     (void **)&map, RTLD_DL_LINKMAP),
	    0);
	return map->l_addr;
}

TEST(case_bt_info)
{
	uintptr_t pc = (uintptr_t)a_named_function + 2;
	char expected[1024], self[512];
	ssize_t n = readlink("/proc/self/exe", self, sizeof(self) - 1);
	uintptr_t frames[2] = { pc, 0x30 };

	self[n] = '\0';
	recorder_options.backtrace_full = true;
	made_of_stack(8, stack_depot_put(frames, 2, 0));
	made_of_stack(7, MU_STACK_EMPTY);
	snprintf(expected, sizeof(expected),
	    "z 1  sz        8  num    1  bt %lx 30\n"
	    "  bt_info {\"%s\" %lx \"a_named_function\" 2} {\"\" 30 \"\" 0}\n"
	    "z 1  sz        7  num    1  bt\n"
	    "MAPS\n",
	    pc, self, pc - own_bias());
	skip(skip_head(dumped(), 15, 2), expected);
}

/* Each with its range, bias and build-id; as readelf knows them. */
TEST(build_ids)
{
	uintptr_t start, finish, offset, bias, wanted = own_bias();
	char id[256], path[512], command[1024], self[512], known[256] = "";
	ssize_t n = readlink("/proc/self/exe", self, sizeof(self) - 1);
	uintptr_t pc = (uintptr_t)a_named_function;
	bool found = false, libc = false;
	const char *at;
	FILE *pipe;

	self[n] = '\0';
	at = strstr(dumped(), "\nEND\n");
	ck_assert_ptr_nonnull(at);
	at += strlen("\nEND\n");
	while (sscanf(at, "# module %lx-%lx %lx %lx %255s %511[^\n]\n", &start,
		   &finish, &offset, &bias, id, path) == 6) {
		at = strchr(at, '\n') + 1;
		libc |= strstr(path, "/libc") != NULL && strlen(id) >= 32;
		if (pc < start || pc >= finish)
			continue;
		found = true;
		ck_assert_str_eq(path, self);
		ck_assert_uint_eq(bias, wanted);
		snprintf(command, sizeof(command),
		    "readelf -n %s | sed -n 's/.*Build ID: //p'", self);
		pipe = popen(command, "r");
		if (fscanf(pipe, "%255s", known) != 1)
			strcpy(known, "-");
		pclose(pipe);
		ck_assert_str_eq(id, known);
	}
	ck_assert_str_eq(at, "");
	ck_assert(found);
	ck_assert(libc);
}

/* 1.58198 for each of 4096 bytes at one stack in 4096. */
TEST(sampled)
{
	const char *at;
	size_t i;

	recorder_options.sample_bytes = 4096;
	for (i = 0; i < 100; i++)
		made(4096, 0x1000, 1, 0);
	made_of_stack(8, MU_STACK_OFF);
	at = skip_head(dumped(), 158 * 4096, 1);
	skip(at, "z 1  sz     4096  num    158  bt 1000\nMAPS\n");
	ck_assert_ptr_nonnull(strstr(text,
	    "\nEND\n# sampled: one stack in 4096 bytes, num is an "
	    "estimate\n# module "));
}

/* What Android's viewer takes for a record or a mapping. */
TEST(as_the_viewer_reads)
{
	char *line, *save = NULL, *word, *words;
	size_t records = 0, count;

	made(8, 0xa000, 3, 0);
	made_of_stack(8, MU_STACK_OFF);
	dumped();
	for (line = strtok_r(text, "\n", &save); line != NULL;
	     line = strtok_r(NULL, "\n", &save)) {
		char *third = NULL, *first = NULL;

		for (count = 0, word = strtok_r(line, " ", &words);
		     word != NULL; word = strtok_r(NULL, " ", &words)) {
			if (count == 0)
				first = word;
			if (count == 2)
				third = word;
			count++;
		}
		if (first != NULL && third != NULL && strcmp(first, "z") == 0 &&
		    strcmp(third, "sz") == 0 && count > 7)
			records++;
	}
	ck_assert_uint_eq(records, 1);
}

SUITE(.setup = begin, .teardown = end);
