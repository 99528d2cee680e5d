/*
 * lib/command/log_reader.c, include/mu/log.c: records of a log are read as the
 * text that they stand for, and arbitrary bytes do no harm.
 */
#include "lib/command/log_reader.h"
#include "mu/log.h"
#include "mu/sys.h"
#include "tests/support/suite.h"

static struct mu_symbol_helper helper;
static struct mu_log_reader reader;
static struct mu_log records;
static FILE *file;
static char *text;

extern const char __ehdr_start[] __attribute__((visibility("hidden")));

static void
setup(void)
{
	file = tmpfile();
	ck_assert_ptr_nonnull(file);
	reader = (struct mu_log_reader) { .at = 0 };
	records = (struct mu_log) {
		.fd = fileno(file),
		.syslog_fd = -1,
		.level = MU_LOG_INFO,
		.deadline_ns = UINT64_MAX,
		.records = true,
	};
}

static void
teardown(void)
{
	mu_symbol_helper_close(&helper);
	fclose(file);
	free(text);
	text = NULL;
}

static const char *
added(void)
{
	char name[64];
	size_t size;
	FILE *in, *out;

	free(text);
	snprintf(name, sizeof(name), "/proc/self/fd/%d", fileno(file));
	in = fopen(name, "r");
	ck_assert_ptr_nonnull(in);
	out = open_memstream(&text, &size);
	ck_assert_ptr_nonnull(out);
	mu_log_reader_copy(&reader, in, &helper, out);
	fclose(out);
	fclose(in);
	return text;
}

/* One record of KIND with these bytes behind it, as a process may write it. */
static void
put(unsigned kind, const void *bytes, size_t size)
{
	struct mu_log_record head = {
		.magic = MU_LOG_RECORD_MAGIC,
		.version = MU_LOG_RECORD_VERSION,
		.kind = (uint16_t)kind,
		.size = size,
	};

	ck_assert_int_eq(
	    write(fileno(file), &head, sizeof(head)), sizeof(head));
	ck_assert_int_eq(write(fileno(file), bytes, size), (ssize_t)size);
}

static size_t
make_frame(char *bytes, const char *path, const char *name)
{
	struct mu_log_frame frame = {
		.offset = 0x1234,
		.into = 12,
		.number = 7,
		.path_size = (uint16_t)(strlen(path) + 1),
		.name_size = (uint16_t)(strlen(name) + 1),
	};
	char *at = mempcpy(bytes, &frame, sizeof(frame));

	at = mempcpy(at, path, frame.path_size);
	at = mempcpy(at, name, frame.name_size);
	return (size_t)(at - bytes);
}

/* Longer than a record, too. */
TEST(text_stays)
{
	char longer[3 * MU_LOG_RECORD_MAX];

	memset(longer, 'x', sizeof(longer));
	mu_log(&records, MU_LOG_INFO, "%d bytes", 24);
	mu_log_text(&records, MU_LOG_INFO, longer, sizeof(longer));
	mu_log_text(&records, MU_LOG_DEBUG, "y", 1);
	added();
	ck_assert_uint_eq(strlen(text), 28 + sizeof(longer));
	ck_assert_int_eq(
	    strncmp(text, "libmemunreachable: 24 bytes\nxxx", 31), 0);
	ck_assert_uint_eq(strspn(text + 28, "x"), sizeof(longer));
	ck_assert_str_eq(added(), "");
	mu_log(&records, MU_LOG_INFO, "more");
	ck_assert_str_eq(added(), "libmemunreachable: more\n");
	ck_assert(!reader.damaged && !reader.checked);
}

/* Of a file that is not there, as the library prints it. */
TEST(frames)
{
	char bytes[MU_LOG_RECORD_MAX];

	put(MU_LOG_RECORD_FRAME, bytes,
	    make_frame(bytes, "/no/such\n", "some_name"));
	put(MU_LOG_RECORD_FRAME, bytes, make_frame(bytes, "/no/such", ""));
	put(MU_LOG_RECORD_FRAME, bytes, make_frame(bytes, "[vdso]", ""));
	ck_assert_str_eq(added(),
	    "          #07  pc 0000000000001234  /no/such? (some_name+12)\n"
	    "          #07  pc 0000000000001234  /no/such\n"
	    "          #07  pc 0000000000001234  [vdso]\n");
	ck_assert(!reader.damaged);
}

/* What the library says is a file has its whole path. */
TEST(no_file_of_the_current_folder)
{
	uint64_t offset = (uintptr_t)added - (uintptr_t)__ehdr_start;
	char bytes[MU_LOG_RECORD_MAX], own[4096];
	size_t size;
	ssize_t length = readlink("/proc/self/exe", own, sizeof(own) - 1);

	ck_assert_int_gt(length, 0);
	own[length] = '\0';
	ck_assert_int_eq(chdir("/"), 0);
	size = make_frame(bytes, own + 1, "f");
	memcpy(bytes, &offset, sizeof(offset));
	put(MU_LOG_RECORD_FRAME, bytes, size);
	added();
	ck_assert_ptr_nonnull(strstr(text, " (f+12)\n"));
}

TEST(hint_in_words_of_the_command)
{
	const struct mu_log_hint hint = { 25, 4096 };

	put(MU_LOG_RECORD_HINT, &hint, sizeof(hint));
	ck_assert_str_eq(added(),
	    "libmemunreachable: no stacks were recorded: memunreachable "
	    "--backtrace --backtrace-size=25-4096 -- COMMAND tells who "
	    "allocated these\n");
}

/* A log line is not taken for a check. */
TEST(only_an_outcome_is_a_check)
{
	const struct mu_log_outcome outcome = { .status = 0 };

	mu_log(&records, MU_LOG_INFO, "a warning");
	added();
	ck_assert(!reader.checked);
	put(MU_LOG_RECORD_OUTCOME, &outcome, sizeof(outcome));
	added();
	ck_assert(reader.checked && !reader.damaged);
}

/* At each length of a record that is being written. */
TEST(incomplete_is_left)
{
	char whole[256], frame[200];
	size_t size, cut;

	put(MU_LOG_RECORD_FRAME, frame, make_frame(frame, "/no/such", "f"));
	size = (size_t)lseek(fileno(file), 0, SEEK_CUR);
	ck_assert_int_eq(
	    pread(fileno(file), whole, sizeof(whole), 0), (ssize_t)size);
	for (cut = 0; cut < size; cut++) {
		ck_assert_int_eq(ftruncate(fileno(file), 0), 0);
		ck_assert_int_eq(
		    pwrite(fileno(file), whole, cut, 0), (ssize_t)cut);
		ck_assert_str_eq(added(), "");
		ck_assert(!reader.damaged);
		ck_assert_int_eq(reader.at, 0);
	}
	ck_assert_int_eq(pwrite(fileno(file), whole, size, 0), (ssize_t)size);
	ck_assert_str_eq(
	    added(), "          #07  pc 0000000000001234  /no/such (f+12)\n");
}

static void
expect_damage(unsigned kind, const void *bytes, size_t size)
{
	teardown();
	setup();
	put(kind, bytes, size);
	put(MU_LOG_RECORD_TEXT, "behind", 6);
	ck_assert_str_eq(added(), "");
	ck_assert(reader.damaged);
	ck_assert_str_eq(added(), "");
}

TEST(hostile)
{
	char bytes[MU_LOG_RECORD_MAX + 1] = "";
	struct mu_log_frame frame;
	struct mu_log_outcome outcome = { .status = 4711 };
	size_t size = make_frame(bytes, "/no/such", "name"), i;

	expect_damage(MU_LOG_RECORD_KINDS, bytes, 4);
	expect_damage(MU_LOG_RECORD_TEXT, bytes, sizeof(bytes));
	expect_damage(MU_LOG_RECORD_HINT, bytes, 15);
	expect_damage(MU_LOG_RECORD_OUTCOME, bytes, 3);
	expect_damage(MU_LOG_RECORD_OUTCOME, &outcome, sizeof(outcome));
	for (i = 0; i < size; i++)
		expect_damage(MU_LOG_RECORD_FRAME, bytes, i);
	bytes[size - 1] = 'x'; /* the name does not end */
	expect_damage(MU_LOG_RECORD_FRAME, bytes, size);
	size = make_frame(bytes, "/no/such", "name");
	bytes[sizeof(frame) + 3] = '\0'; /* the path ends early */
	expect_damage(MU_LOG_RECORD_FRAME, bytes, size);
	size = make_frame(bytes, "/no/such", "name");
	memcpy(&frame, bytes, sizeof(frame));
	frame.path_size = UINT16_MAX;
	frame.name_size = (uint16_t)(size - UINT16_MAX - sizeof(frame));
	memcpy(bytes, &frame, sizeof(frame));
	expect_damage(MU_LOG_RECORD_FRAME, bytes, size);
}

TEST(other_files)
{
	char line[] = "libmemunreachable: the text of another version\n";

	ck_assert_int_eq(write(fileno(file), line, sizeof(line)), sizeof(line));
	ck_assert_str_eq(added(), "");
	ck_assert(reader.damaged);
}

SUITE(.setup = setup, .teardown = teardown);
