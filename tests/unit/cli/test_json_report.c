/*
 * lib/writers/json_report.c: the object, read back by jansson and checked
 * against the schema.
 */
#include <jansson.h>

#include "lib/writers/command_cure.h"
#include "lib/writers/json_report.h"
#include "mu/status.h"
#include "tests/support/command/cli_answer.h"
#include "tests/support/suite.h"

#define SCHEMA "lib/writers/memunreachable-report.schema.json"
#define NO_MODULE 77

static struct Leak leaks[3];
static struct mu_arena_usage arenas[2];
static struct mu_report answer;
static char *text;
static json_t *report;

static const struct mu_shown bare, filled = { .contents = true };

static void
set_up(void)
{
	answer = cli_answer(leaks, arenas);
	answer.names = cli_names;
}

static void
tear_down(void)
{
	json_decref(report);
	report = NULL;
	free(text);
	text = NULL;
}

static void
write_report(bool contents)
{
	const struct mu_shown shown = { .contents = contents };
	json_error_t error;
	size_t length;
	struct mu_out out;
	FILE *file;

	tear_down();
	file = open_memstream(&text, &length);
	ck_assert_ptr_nonnull(file);
	out = mu_out_file(file);
	ck_assert(mu_json_report(&out, &answer, &shown));
	fclose(file);
	report = json_loads(text, JSON_REJECT_DUPLICATES, &error);
	ck_assert_msg(report != NULL, "%s in\n%s", error.text, text);
}

static json_int_t
number(const json_t *object, const char *key)
{
	json_t *value = json_object_get(object, key);

	ck_assert_msg(json_is_integer(value), "%s", key);
	return json_integer_value(value);
}

static const char *
string(const json_t *object, const char *key)
{
	json_t *value = json_object_get(object, key);

	ck_assert_msg(json_is_string(value), "%s", key);
	return json_string_value(value);
}

static bool
is_null(const json_t *object, const char *key)
{
	return json_is_null(json_object_get(object, key));
}

static json_t *
leak(size_t index)
{
	return json_array_get(json_object_get(report, "leaks"), index);
}

TEST(totals)
{
	write_report(false);
	ck_assert_uint_eq(json_object_size(report), 28);
	ck_assert_int_eq(number(report, "schema"), 1);
	ck_assert_int_eq(number(report, "pid"), 4711);
	ck_assert_str_eq(string(report, "program"), "/usr/sbin/served");
	ck_assert_str_eq(string(report, "status"), "complete");
	ck_assert_str_eq(string(report, "reason"), "");
	ck_assert_str_eq(string(report, "allocator"), "glibc 2.36");
	ck_assert_int_eq(number(report, "num_leaks"), 9);
	ck_assert_int_eq(number(report, "leak_bytes"), 4321);
	ck_assert_int_eq(number(report, "num_entries"), 5);
	ck_assert_int_eq(number(report, "unreported_leaks"), 2);
	ck_assert_int_eq(number(report, "unreported_bytes"), 72);
	ck_assert_int_eq(number(report, "sample_bytes"), 0);
	ck_assert_int_eq(number(report, "num_allocations"), 1000);
	ck_assert_int_eq(number(report, "allocation_bytes"), 12345678);
	ck_assert_int_eq(number(report, "pause_ns"), 3200000);
	ck_assert_int_eq(number(report, "total_ns"), 412000000);
	ck_assert_int_eq(number(report, "threads"), 12);
	ck_assert_int_eq(number(report, "tries"), 2);
	ck_assert_str_eq(string(report, "stop"), "fork");
	ck_assert_uint_eq(json_array_size(json_object_get(report, "leaks")), 3);
}

TEST(entries)
{
	json_t *first, *frames;

	write_report(false);
	first = leak(0);
	ck_assert_uint_eq(json_object_size(first), 11);
	ck_assert_str_eq(string(first, "address"), "0x7fee12345670");
	ck_assert_int_eq(number(first, "size"), 40);
	ck_assert_int_eq(number(first, "referenced_count"), 2);
	ck_assert_int_eq(number(first, "referenced_size"), 80);
	ck_assert_int_eq(number(first, "similar_count"), 0);
	ck_assert_int_eq(number(first, "similar_size"), 0);
	ck_assert_int_eq(number(first, "total_size"), 40);
	ck_assert(is_null(first, "type"));
	ck_assert_uint_eq(json_array_size(json_object_get(first, "frames")), 0);
	frames = json_object_get(leak(2), "frames");
	ck_assert_uint_eq(json_array_size(frames), 2);
	first = json_array_get(frames, 0);
	ck_assert_str_eq(string(first, "pc"), "0x7f0000005000");
	ck_assert_str_eq(string(first, "module"), "/usr/lib/libfoo.so.1");
	ck_assert_str_eq(string(first, "build_id"), "00c0ffee");
	ck_assert_str_eq(string(first, "offset"), "0x5000");
	ck_assert_str_eq(string(first, "function"), "Foo::make(int)");
	ck_assert_str_eq(string(first, "file"), "/src/foo.cc");
	ck_assert_int_eq(number(first, "line"), 42);
	first = json_array_get(frames, 1);
	ck_assert_str_eq(string(first, "pc"), "0x99");
	ck_assert(is_null(first, "module"));
	ck_assert(is_null(first, "offset"));
	ck_assert(is_null(first, "line"));
}

TEST(types)
{
	answer.names.find_type = cli_find_type;
	write_report(false);
	ck_assert_str_eq(string(leak(0), "type"), "Session");
	ck_assert_str_eq(string(leak(0), "type_source"), "vtable");
	ck_assert(json_is_true(json_object_get(leak(0), "certain")));
	ck_assert_int_eq(number(leak(0), "type_offset"), 0);
	ck_assert_str_eq(string(leak(1), "type"), "text");
	ck_assert(json_is_false(json_object_get(leak(1), "certain")));
	/* A text is contents of a block. */
	ck_assert_ptr_null(json_object_get(leak(1), "text"));
	ck_assert_str_eq(string(leak(2), "type_source"), "tag");
	ck_assert_int_eq(number(leak(2), "type_offset"), 96);
	write_report(true);
	ck_assert_str_eq(string(leak(1), "text"), "A=\033b");
	ck_assert_ptr_null(json_object_get(leak(0), "text"));
}

TEST(contents_when_asked_for)
{
	write_report(false);
	ck_assert_ptr_null(strstr(text, "contents"));
	write_report(true);
	ck_assert_str_eq(string(leak(0), "contents"),
	    "0000000000000000201000000"
	    "07f0000000000000000000000900000007f0000");
	ck_assert_str_eq(string(leak(1), "contents"), "20100000007f00");
	leaks[0].size = 0;
	write_report(true);
	ck_assert_str_eq(string(leak(0), "contents"), "");
}

TEST(heap)
{
	json_t *object, *main_arena;

	write_report(false);
	object = json_object_get(report, "heap");
	ck_assert_str_eq(string(object, "verdict"), "leak");
	ck_assert_int_eq(number(object, "live_reachable"), 12 << 20);
	ck_assert_int_eq(number(object, "live_unreachable"), 4321);
	ck_assert_int_eq(number(object, "free_held"), 5 << 20);
	ck_assert_int_eq(number(object, "mmapped"), 1 << 20);
	ck_assert_int_eq(number(object, "mmapped_live"), (1 << 20) - 16);
	object = json_object_get(object, "arenas");
	ck_assert_uint_eq(json_array_size(object), 2);
	main_arena = json_array_get(object, 0);
	ck_assert_str_eq(string(main_arena, "address"), "0x7fee5cdf6c60");
	ck_assert_int_eq(number(main_arena, "span"), 10 << 20);
	ck_assert_int_eq(number(main_arena, "live"), 6 << 20);
	ck_assert_int_eq(number(main_arena, "bins"), 1 << 20);
	ck_assert_int_eq(number(main_arena, "tcache"), 4000);
	ck_assert_int_eq(number(main_arena, "top"), 3 << 20);
	memset(&answer.usage, 0, sizeof(answer.usage));
	write_report(false);
	ck_assert(is_null(report, "heap"));
}

/* "0 leaks" without a check would be wrong. */
TEST(not_checked)
{
	answer.info.status = MEMUNREACHABLE_FOREIGN_ALLOCATOR;
	strcpy(answer.info.reason, "this process uses jemalloc");
	write_report(true);
	ck_assert_str_eq(string(report, "status"), "foreign_allocator");
	ck_assert_str_eq(
	    string(report, "reason"), "this process uses jemalloc");
	ck_assert_str_eq(string(report, "remedy"), "");
	ck_assert(is_null(report, "num_leaks"));
	ck_assert(is_null(report, "leak_bytes"));
	ck_assert(is_null(report, "num_allocations"));
	ck_assert(is_null(report, "allocation_bytes"));
	ck_assert_uint_eq(json_array_size(json_object_get(report, "leaks")), 0);
	answer.info.status = MEMUNREACHABLE_PARTIAL;
	write_report(true);
	ck_assert_str_eq(string(report, "status"), "partial");
	ck_assert_int_eq(number(report, "num_leaks"), 9);
}

/* The remedy is a separate string, whatever is in the words. */
TEST(remedy)
{
	struct mu_why why = { .text = "" };

	mu_why(&why, MU_ERR_TIMEOUT, "a; b");
	mu_why_cure(&why, "try; again");
	mu_report_reason(&answer, MU_ERR_TIMEOUT, &why);
	write_report(false);
	ck_assert_str_eq(string(report, "reason"), "a; b; try; again");
	ck_assert_str_eq(string(report, "remedy"), "try; again");
	answer.cure = sizeof(answer.info.reason) + 1;
	write_report(false);
	ck_assert_str_eq(string(report, "remedy"), "");
	answer.cure = 0;
	answer.info.status = MEMUNREACHABLE_PTRACE_YAMA;
	write_report(false);
	ck_assert_str_eq(string(report, "remedy"),
	    mu_command_cure(MEMUNREACHABLE_PTRACE_YAMA));
}

static void
make_odd(void)
{
	answer.pid = 0;
	answer.stop = NULL;
	strcpy(answer.program, "/tmp/\xff\xc3\xa4\"\\\x1b\x9b");
	answer.info.leak_bytes = SIZE_MAX;
	answer.info.total_ns = UINT64_MAX;
	leaks[0].begin = UINTPTR_MAX;
	leaks[2].backtrace.num_frames = SIZE_MAX;
	leaks[2].backtrace.frames[2] = CLI_NAMELESS + 1;
}

TEST(odd_values)
{
	size_t i;

	make_odd();
	write_report(true);
	ck_assert(is_null(report, "pid"));
	ck_assert_str_eq(string(report, "stop"), "");
	ck_assert_str_eq(string(report, "program"),
	    "/tmp/\xef\xbf\xbd\xc3\xa4\"\\\x1b\xef\xbf\xbd");
	ck_assert(number(report, "leak_bytes") == INT64_MAX);
	ck_assert_str_eq(string(leak(0), "address"), "0xffffffffffffffff");
	ck_assert_uint_eq(
	    json_array_size(json_object_get(leak(2), "frames")), 16);
	for (i = 0; text[i] != '\0'; i++)
		ck_assert(
		    text[i] == '\n' || (text[i] >= ' ' && text[i] < 0x7f));
}

static void
assert_fits_schema(void)
{
	char path[] = "/tmp/test_cli_json_report.XXXXXX";
	char command[256];
	int fd = mkstemp(path), status;

	ck_assert_int_ge(fd, 0);
	ck_assert_int_eq(write(fd, text, strlen(text)), (ssize_t)strlen(text));
	close(fd);
	snprintf(command, sizeof(command),
	    "python3 tests/support/command/json_schema.py " SCHEMA " %s", path);
	status = system(command);
	unlink(path);
	ck_assert(WIFEXITED(status));
	if (WEXITSTATUS(status) == 127 || WEXITSTATUS(status) == NO_MODULE)
		return; /* said aloud by the script, or by the shell */
	ck_assert_int_eq(WEXITSTATUS(status), 0);
}

TEST(fits_schema)
{
	write_report(true);
	assert_fits_schema();
	answer.info.status = MEMUNREACHABLE_TIMEOUT;
	memset(&answer.usage, 0, sizeof(answer.usage));
	write_report(false);
	assert_fits_schema();
	answer.info.status = MEMUNREACHABLE_COMPLETE;
	make_odd();
	write_report(true);
	assert_fits_schema();
}

TEST(every_status_is_in_the_schema)
{
	json_error_t error;
	json_t *schema = json_load_file(SCHEMA, 0, &error), *words, *word;
	size_t i, found;
	int status;

	ck_assert_msg(schema != NULL, "%s", error.text);
	words = json_object_get(
	    json_object_get(json_object_get(schema, "properties"), "status"),
	    "enum");
	for (status = 0; status <= MU_STATUS_COUNT; status++) {
		answer.info.status = status;
		write_report(false);
		found = 0;
		json_array_foreach(words, i, word) found +=
		    strcmp(json_string_value(word), string(report, "status")) ==
		    0;
		ck_assert_uint_eq(found, 1);
	}
	ck_assert_uint_eq(json_array_size(words), MU_STATUS_COUNT + 1);
	json_decref(schema);
}

TEST(full_disk)
{
	FILE *full = fopen("/dev/full", "w");
	struct mu_out out = mu_out_file(full);

	ck_assert_ptr_nonnull(full);
	setvbuf(full, NULL, _IONBF, 0);
	mu_json_report(&out, &answer, &bare);
	ck_assert(ferror(full));
	fclose(full);
}

static size_t allocations_left;

static void *
allocate(size_t size)
{
	if (allocations_left == 0)
		return NULL;
	allocations_left--;
	return malloc(size);
}

/* Each allocation fails in turn: false, and nothing is lost or used. */
TEST(no_memory)
{
	FILE *null = fopen("/dev/null", "w");
	struct mu_out out = mu_out_file(null);
	size_t count = 0;
	bool ok;

	ck_assert_ptr_nonnull(null);
	make_odd();
	json_set_alloc_funcs(allocate, free);
	do {
		allocations_left = count++;
		ok = mu_json_report(&out, &answer, &filled);
	} while (!ok && count < 100000);
	json_set_alloc_funcs(malloc, free);
	fclose(null);
	ck_assert(ok);
	ck_assert_uint_gt(count, 100);
	ck_assert_uint_eq(allocations_left, 0);
}

SUITE(.setup = set_up, .teardown = tear_down);
