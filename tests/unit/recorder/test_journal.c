/* The journal of record_allocs. */
#include <inttypes.h>
#include <malloc.h>
#include <sys/stat.h>

#include "lib/malloc_debug/dumps/journal.h"
#include "lib/malloc_debug/state/state.h"
#include "tests/support/captured_stderr.h"
#include "tests/support/folder.h"
#include "tests/support/suite.h"

static char directory[FOLDER_SIZE];
static char name[128];
static char text[1 << 20];

static void
begin(void)
{
	folder_make(directory);
	snprintf(name, sizeof(name), "%s/records", directory);
	recorder_options.record_allocs_file = name;
}

static void
end(void)
{
	folder_remove(directory);
}

static void
add(enum journal_op op, uintptr_t pointer, uint64_t first, uint64_t second)
{
	journal_end(journal_begin(), op, (void *)pointer, first, second);
}

/* What is written, and TEXT is what is in the file then. */
static const char *
written(void)
{
	struct captured_stderr captured;

	captured_stderr_begin(&captured);
	journal_dump();
	ck_assert_str_eq(captured_stderr_end(&captured), "");
	return folder_read(name, text, sizeof(text));
}

/* The next line is "<tid>: WORDS <start> <end>"; their times. */
static const char *
is_line(const char *at, int tid, const char *words, uint64_t *start,
    uint64_t *finish)
{
	char expected[256], rest[64];
	int n;

	snprintf(expected, sizeof(expected), "%d: %s ", tid, words);
	ck_assert_msg(strncmp(at, expected, strlen(expected)) == 0,
	    "\"%s\" is not at \"%.60s\"", expected, at);
	at += strlen(expected);
	ck_assert_int_eq(
	    sscanf(at, "%" SCNu64 " %" SCNu64 "%n", start, finish, &n), 2);
	snprintf(
	    rest, sizeof(rest), "%" PRIu64 " %" PRIu64 "\n", *start, *finish);
	ck_assert_int_eq(strncmp(at, rest, strlen(rest)), 0);
	return at + strlen(rest);
}

TEST(case_lines)
{
	uint64_t start, finish, before = 0;
	const char *at;
	int me = gettid();

	ck_assert(journal_start(100));
	add(JOURNAL_MALLOC, 0xabc0, 18, 0);
	add(JOURNAL_FREE, 0xabc0, 0, 0);
	add(JOURNAL_CALLOC, 0x10, 3, 7);
	add(JOURNAL_REALLOC, 0x7f0000000010, 0x10, 4096);
	add(JOURNAL_REALLOC, 0x20, 0, 5);
	add(JOURNAL_MEMALIGN, 0x40, 64, 100);
	at = written();
	at = is_line(at, me, "malloc 0xabc0 18", &start, &finish);
	ck_assert(start <= finish && start > 0);
	before = start;
	at = is_line(at, me, "free 0xabc0", &start, &finish);
	ck_assert_uint_ge(start, before);
	at = is_line(at, me, "calloc 0x10 3 7", &start, &finish);
	at = is_line(
	    at, me, "realloc 0x7f0000000010 0x10 4096", &start, &finish);
	at = is_line(at, me, "realloc 0x20 0x0 5", &start, &finish);
	at = is_line(at, me, "memalign 0x40 64 100", &start, &finish);
	ck_assert_str_eq(at, "");
}

TEST(times_are_monotonic_ns)
{
	struct timespec before, after;
	uint64_t start, finish;
	struct journal_slot slot;

	ck_assert(journal_start(4));
	clock_gettime(CLOCK_MONOTONIC, &before);
	slot = journal_begin();
	usleep(2000);
	journal_end(slot, JOURNAL_MALLOC, (void *)16, 1, 0);
	clock_gettime(CLOCK_MONOTONIC, &after);
	is_line(written(), gettid(), "malloc 0x10 1", &start, &finish);
	ck_assert_uint_ge(start,
	    (uint64_t)before.tv_sec * 1000000000 + (uint64_t)before.tv_nsec);
	ck_assert_uint_le(finish,
	    (uint64_t)after.tv_sec * 1000000000 + (uint64_t)after.tv_nsec);
	ck_assert_uint_ge(finish - start, 2000000);
}

TEST(order_of_beginning)
{
	struct journal_slot first, second;
	uint64_t start, finish;
	const char *at;

	ck_assert(journal_start(100));
	first = journal_begin();
	second = journal_begin();
	journal_end(second, JOURNAL_MALLOC, (void *)0x20, 2, 0);
	journal_end(first, JOURNAL_MALLOC, (void *)0x10, 1, 0);
	at = is_line(written(), gettid(), "malloc 0x10 1", &start, &finish);
	at = is_line(at, gettid(), "malloc 0x20 2", &start, &finish);
	ck_assert_str_eq(at, "");
}

TEST(failures_are_skipped)
{
	uint64_t start, finish;
	const char *at;

	ck_assert(journal_start(100));
	add(JOURNAL_MALLOC, 0, 1, 0);
	add(JOURNAL_CALLOC, 0, 1, 1);
	add(JOURNAL_MEMALIGN, 0, 16, 1);
	add(JOURNAL_REALLOC, 0, 0x10, 9);
	journal_begin(); /* and was left */
	add(JOURNAL_REALLOC, 0, 0x10, 0);
	at =
	    is_line(written(), gettid(), "realloc 0x0 0x10 0", &start, &finish);
	ck_assert_str_eq(at, "");
}

TEST(maximum)
{
	uint64_t start, finish;
	struct captured_stderr captured;
	const char *at;

	ck_assert(journal_start(3));
	captured_stderr_begin(&captured);
	add(JOURNAL_MALLOC, 0x10, 1, 0);
	add(JOURNAL_MALLOC, 0x20, 2, 0);
	add(JOURNAL_MALLOC, 0x30, 3, 0);
	add(JOURNAL_MALLOC, 0x40, 4, 0);
	add(JOURNAL_MALLOC, 0x50, 5, 0);
	ck_assert_str_eq(captured_stderr_end(&captured),
	    "malloc_debug: Maximum number of records added, all new "
	    "operations will be dropped.\n");
	at = is_line(written(), gettid(), "malloc 0x10 1", &start, &finish);
	at = is_line(at, gettid(), "malloc 0x20 2", &start, &finish);
	at = is_line(at, gettid(), "malloc 0x30 3", &start, &finish);
	ck_assert_str_eq(at, "");
	/* It is clear, and takes three more. */
	add(JOURNAL_FREE, 0x10, 0, 0);
	at = is_line(written(), gettid(), "free 0x10", &start, &finish);
	ck_assert_str_eq(at, "");
}

/* It was given away while the operation went on. */
TEST(late_end_changes_nothing)
{
	uint64_t start, finish;
	struct journal_slot late;
	const char *at;

	ck_assert(journal_start(2));
	late = journal_begin();
	add(JOURNAL_FREE, 0x10, 0, 0);
	is_line(written(), gettid(), "free 0x10", &start, &finish);
	journal_end(late, JOURNAL_MALLOC, (void *)0x20, 9, 0);
	add(JOURNAL_FREE, 0x30, 0, 0);
	journal_end(late, JOURNAL_MALLOC, (void *)0x20, 9, 0);
	at = is_line(written(), gettid(), "free 0x30", &start, &finish);
	ck_assert_str_eq(at, "");
}

TEST(none_to_write)
{
	struct captured_stderr captured;

	ck_assert(journal_start(10));
	add(JOURNAL_MALLOC, 0, 1, 0);
	captured_stderr_begin(&captured);
	journal_dump();
	ck_assert_str_eq(captured_stderr_end(&captured),
	    "malloc_debug: No alloc entries to write.\n");
	ck_assert_ptr_null(folder_read(name, text, sizeof(text)));
}

TEST(bad_file_keeps_the_records)
{
	uint64_t start, finish;
	struct captured_stderr captured;

	ck_assert(journal_start(10));
	add(JOURNAL_FREE, 0x10, 0, 0);
	recorder_options.record_allocs_file = "/not/there/records";
	captured_stderr_begin(&captured);
	journal_dump();
	ck_assert_str_eq(captured_stderr_end(&captured),
	    "malloc_debug: Cannot create record alloc file "
	    "/not/there/records: No such file or directory\n");
	recorder_options.record_allocs_file = name;
	is_line(written(), gettid(), "free 0x10", &start, &finish);
}

TEST(mode_and_replacement)
{
	uint64_t start, finish;
	struct stat status;
	const char *at;
	FILE *old = fopen(name, "w");

	fputs("something that was there before, and is longer by far than "
	      "what follows\n",
	    old);
	fclose(old);
	chmod(name, 0644);
	umask(0);
	ck_assert(journal_start(10));
	add(JOURNAL_FREE, 0x10, 0, 0);
	at = is_line(written(), gettid(), "free 0x10", &start, &finish);
	ck_assert_str_eq(at, "");
	ck_assert_int_eq(stat(name, &status), 0);
	ck_assert_int_eq(status.st_mode & 07777, 0600);
}

/* mallinfo2() is there from glibc 2.33 on. */
#pragma GCC diagnostic ignored "-Wdeprecated-declarations"
TEST(writing_does_not_allocate)
{
	size_t i;
	int before;

	ck_assert(journal_start(5000));
	for (i = 0; i < 4000; i++)
		add(JOURNAL_MALLOC, 16 * (i + 1), i, 0);
	before = mallinfo().uordblks;
	journal_dump();
	ck_assert_int_eq(mallinfo().uordblks, before);
	ck_assert_ptr_nonnull(strstr(
	    folder_read(name, text, sizeof(text)), ": malloc 0xfa00 3999 "));
}

TEST(written_on_exit)
{
	uint64_t start, finish;
	char file[256];

	ck_assert(journal_start(10));
	add(JOURNAL_FREE, 0x10, 0, 0);
	snprintf(file, sizeof(file), "%s.%d", name, (int)getpid());
	journal_at_exit();
	ck_assert_ptr_null(folder_read(file, text, sizeof(text)));
	recorder_options.record_allocs_on_exit = true;
	journal_at_exit();
	recorder_options.record_allocs_on_exit = false;
	is_line(folder_read(file, text, sizeof(text)), gettid(), "free 0x10",
	    &start, &finish);
}

static pthread_key_t late_key;
static int thread_id;

/* A thread of the program that still allocates in the third round. */
static void
late_destructor(void *value)
{
	size_t round = (size_t)value;

	add(JOURNAL_FREE, 16 * round, 0, 0);
	if (round < 3)
		pthread_setspecific(late_key, (void *)(round + 1));
}

static void *
allocating_thread(void *arg)
{
	(void)arg;
	thread_id = gettid();
	pthread_setspecific(late_key, (void *)1);
	add(JOURNAL_MALLOC, 0x100, 1, 0);
	return NULL;
}

TEST(thread_done_is_last)
{
	uint64_t start, finish;
	pthread_t thread;
	char words[64];
	const char *at;

	ck_assert(journal_start(100));
	ck_assert_int_eq(pthread_key_create(&late_key, late_destructor), 0);
	pthread_create(&thread, NULL, allocating_thread, NULL);
	pthread_join(thread, NULL);
	at = is_line(written(), thread_id, "malloc 0x100 1", &start, &finish);
	at = is_line(at, thread_id, "free 0x10", &start, &finish);
	at = is_line(at, thread_id, "free 0x20", &start, &finish);
	at = is_line(at, thread_id, "free 0x30", &start, &finish);
	snprintf(words, sizeof(words), "%d: thread_done 0x0 %n", thread_id,
	    &thread_id);
	ck_assert_int_eq(strncmp(at, words, (size_t)thread_id), 0);
	ck_assert_uint_gt(strtoull(at + thread_id, NULL, 10), finish - 1);
	ck_assert_ptr_eq(strchr(at, '\n'), at + strlen(at) - 1);
}

#define THREADS 4
#define EACH 20000

static void *
busy_thread(void *arg)
{
	size_t i, self = (size_t)arg;

	for (i = 0; i < EACH; i++)
		add(JOURNAL_MALLOC, 16, self, 0);
	return NULL;
}

/* Written repeatedly during that: nothing twice, nothing lost. */
TEST(case_threads)
{
	size_t i, lines = 0;
	pthread_t threads[THREADS];
	struct captured_stderr captured;
	const char *at;

	ck_assert(journal_start(THREADS * EACH + 100));
	captured_stderr_begin(&captured);
	for (i = 0; i < THREADS; i++)
		pthread_create(&threads[i], NULL, busy_thread, (void *)i);
	for (i = 0; i < THREADS + 5; i++) {
		if (i >= 5)
			pthread_join(threads[i - 5], NULL);
		unlink(name);
		journal_dump();
		for (at = folder_read(name, text, sizeof(text));
		     at != NULL && *at != '\0'; at++)
			lines += strncmp(at, "malloc", 6) == 0;
	}
	captured_stderr_end(&captured);
	/* A megabyte is read of each. */
	ck_assert_uint_le(lines, THREADS * EACH);
	ck_assert_uint_gt(lines, EACH / 2);
}

TEST(child_goes_on_with_it)
{
	uint64_t start, finish;
	pid_t child;
	int status, me = gettid();
	const char *at;

	ck_assert(journal_start(10));
	add(JOURNAL_MALLOC, 0x10, 1, 0);
	child = fork();
	if (child == 0) {
		journal_fork_child();
		add(JOURNAL_FREE, 0x10, 0, 0);
		at = is_line(written(), me, "malloc 0x10 1", &start, &finish);
		is_line(at, gettid(), "free 0x10", &start, &finish);
		_exit(0);
	}
	ck_assert_int_eq(waitpid(child, &status, 0), child);
	ck_assert_int_eq(status, 0);
	at = is_line(written(), me, "malloc 0x10 1", &start, &finish);
	ck_assert_str_eq(at, "");
}

TEST(off_is_nothing)
{
	struct journal_slot slot = journal_begin();

	ck_assert_ptr_null(slot.entry);
	journal_end(slot, JOURNAL_MALLOC, (void *)16, 1, 0);
	recorder_options.record_allocs_on_exit = true;
	journal_at_exit();
	recorder_options.record_allocs_on_exit = false;
	ck_assert_ptr_null(folder_read(name, text, sizeof(text)));
}

SUITE(.setup = begin, .teardown = end);
