/*
 * The pipe as a file format: what was sent arrives, in pieces of any size;
 * damage and the death of the sender are distinguished; nothing hangs.
 */
#include <sys/prctl.h>

#include "lib/pipe/answer.h"
#include "mu/sys.h"
#include "tests/support/pass/sweeper_pipe.h"
#include "tests/support/suite.h"

#define ENTRIES 20000 /* 800 KB: many times the pipe's 64 KiB */

static struct mu_results results;
static struct mu_result result;
static struct mu_image image;
static int writing_end;

static void
setup(void)
{
	result = (struct mu_result) { .num_more = 0 };
	image = (struct mu_image) { .query = { .limit = SIZE_MAX } };
	writing_end = sweeper_pipe_open(&image, (size_t)1 << 30);
	ck_assert_int_ge(writing_end, 0);
}

static void
teardown(void)
{
	sweeper_pipe_close(&image, writing_end);
}

static struct mu_pipe_header
good_header(void)
{
	return (struct mu_pipe_header) {
		.magic = MU_PIPE_MAGIC,
		.version = MU_PIPE_VERSION,
		.header_size = sizeof(struct mu_pipe_header),
		.num_allocations = 10,
		.allocation_bytes = 1000,
		.num_leaks = 3,
		.leak_bytes = 30,
		.num_entries = 2,
		.entries_size = 2 * MU_PACKED_LEAST,
		.num_total = 3,
		.unreported_count = 1,
		.unreported_bytes = 8,
	};
}

TEST(damaged_headers_are_refused)
{
	struct mu_pipe_header header = good_header();

	ck_assert(mu_leak_pipe_check(&header, 2));
	ck_assert(!mu_leak_pipe_check(&header, 1));
#define REFUSED(field, value)                               \
	do {                                                \
		header = good_header();                     \
		header.field = value;                       \
		ck_assert(!mu_leak_pipe_check(&header, 2)); \
	} while (0)
	REFUSED(magic, 0);
	REFUSED(version, 1);
	REFUSED(header_size, 8);
	REFUSED(kind, MU_PIPE_REFERENCES);
	REFUSED(entries_size, 2 * MU_PACKED_LEAST - 1);
	REFUSED(entries_size, 3 * MU_PACKED_MOST);
	REFUSED(entries_size, UINT64_MAX);
	REFUSED(status, MU_STATUS_COUNT);
	REFUSED(status, MU_ERR_TIMEOUT); /* a failure that has figures */
	REFUSED(num_entries, 3);
	REFUSED(num_entries, UINT64_MAX);
	REFUSED(num_total, 1);
	REFUSED(num_total, 4);
	REFUSED(unreported_count, 4);
	REFUSED(unreported_bytes, 31);
	REFUSED(num_leaks, 1);
	REFUSED(num_leaks, 11);
	REFUSED(leak_bytes, 1001);
#undef REFUSED
	header = good_header();
	memset(header.why.text, 'x', sizeof(header.why.text));
	ck_assert(!mu_leak_pipe_check(&header, 2));
}

struct sender {
	enum mu_status status;
	size_t entries;
	bool of_pass; /* the receiver keeps them with the pass */
};

static void *
send_all(void *arg)
{
	const struct sender *sender = arg;
	struct mu_leaks leaks = { .num_leaks = sender->entries,
		.leak_bytes = sender->entries * 8,
		.num_total = sender->entries };
	struct mu_heap heap = { .blocks = { .count = sender->entries + 7,
				    .bytes = sender->entries * 8 + 70 },
		.transient = true };
	struct mu_why why = { .text = "because" };
	struct mu_arena arena;
	struct mu_leak leak;
	size_t i;

	mu_arena_open(&arena, SIZE_MAX);
	leaks.entries.arena = &arena;
	for (i = 0; i < sender->entries; i++) {
		leak = (struct mu_leak) { .range = { 16 * i, 16 * i + 8 },
			.total_size = i };
		memset(leak.contents, (int)i, 32);
		ck_assert(mu_packed_add(&leaks.entries, &leak));
	}
	mu_leak_pipe_send(writing_end, sender->status, &why, &heap, &leaks);
	mu_arena_close(&arena);
	close(writing_end);
	writing_end = -1;
	return NULL;
}

/* A process that lives: a thread that sends may be late. */
static pid_t
start_sweeper(void)
{
	pid_t pid = fork();

	ck_assert_int_ge(pid, 0);
	if (pid > 0)
		return pid;
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	close(writing_end);
	for (;;)
		pause();
}

static enum mu_status
send_and_receive(struct sender *sender, struct UnreachableMemoryInfo *info)
{
	enum mu_status status;
	pthread_t thread;
	pid_t sweeper = image.sweeper.pid = start_sweeper();

	memset(info, 0, sizeof(*info));
	ck_assert_int_eq(pthread_create(&thread, NULL, send_all, sender), 0);
	status = mu_leak_pipe_receive(
	    &image, sender->of_pass ? NULL : &results, &result, info);
	pthread_join(thread, NULL);
	kill(sweeper, SIGKILL);
	waitpid(sweeper, NULL, 0);
	return status;
}

/* _i: in memory of the results, or of the pass. */
TEST_LOOP(all_arrives, 0, 2)
{
	struct sender sender = { MU_PARTIAL, ENTRIES, _i == 1 };
	struct UnreachableMemoryInfo info;
	struct mu_entries_at at;
	const struct Leak *leak;
	size_t i;

	ck_assert_int_eq(send_and_receive(&sender, &info), MU_PARTIAL);
	ck_assert_str_eq(image.job.why.text, "because");
	ck_assert(result.transient);
	ck_assert_uint_eq(info.num_reported, ENTRIES);
	ck_assert_uint_eq(info.num_leaks, ENTRIES);
	ck_assert_uint_eq(info.leak_bytes, ENTRIES * 8);
	ck_assert_uint_eq(info.num_allocations, ENTRIES + 7);
	ck_assert_uint_eq(info.allocation_bytes, ENTRIES * 8 + 70);
	mu_entries_open(&at, &result.entries);
	for (i = 0; (leak = mu_entries_next(&at)) != NULL; i++) {
		ck_assert_uint_eq(leak->begin, 16 * i);
		ck_assert_uint_eq(leak->size, 8);
		ck_assert_uint_eq(leak->total_size, i);
		ck_assert_int_eq(leak->contents[31], (unsigned char)i);
	}
	ck_assert_uint_eq(i, ENTRIES);
	ck_assert((results.first == NULL) == sender.of_pass);
	mu_results_drop(sender.of_pass ? NULL : &results, &result.entries);
	ck_assert_ptr_null(result.entries.packed);
	ck_assert_ptr_null(results.first);
	mu_arena_close(&image.job.arena);
}

TEST(a_failure_arrives_with_its_words)
{
	struct sender sender = { MU_ERR_HEAP_INCONSISTENT, 0, false };
	struct UnreachableMemoryInfo info;

	ck_assert_int_eq(
	    send_and_receive(&sender, &info), MU_ERR_HEAP_INCONSISTENT);
	ck_assert_str_eq(image.job.why.text, "because");
	ck_assert_uint_eq(info.num_allocations, 0);
	ck_assert_ptr_null(result.entries.packed);
}

TEST(end_of_file_at_every_step)
{
	struct mu_pipe_header header = good_header();
	struct UnreachableMemoryInfo info = { 0 };
	size_t sizes[] = { 0, 1, sizeof(header) - 1, sizeof(header),
		sizeof(header) + MU_PACKED_LEAST + 1 };
	char bytes[sizeof(header) + 2 * MU_PACKED_LEAST];
	size_t i;

	memset(bytes, 0, sizeof(bytes));
	memcpy(bytes, &header, sizeof(header));
	for (i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
		ck_assert_int_eq(
		    write(writing_end, bytes, sizes[i]), (ssize_t)sizes[i]);
		close(writing_end);
		writing_end = -1;
		ck_assert_int_eq(
		    mu_leak_pipe_receive(&image, &results, &result, &info),
		    MU_ERR_HELPER_DIED);
		ck_assert_uint_eq(info.num_allocations, 0);
		ck_assert_ptr_null(result.entries.packed);
		ck_assert_ptr_null(results.first);
		teardown();
		setup();
	}
}

/* A stranger holds the write end: no end of file, yet no hang. */
TEST(death_without_end_of_file)
{
	struct UnreachableMemoryInfo info = { 0 };
	pid_t pid = fork();

	if (pid == 0)
		_exit(0);
	image.sweeper.pid = pid;
	ck_assert_int_eq(mu_leak_pipe_receive(&image, &results, &result, &info),
	    MU_ERR_HELPER_DIED);
	ck_assert_int_eq(image.sweeper.pid, 0);
}

TEST(a_silent_sweeper_is_given_up)
{
	struct UnreachableMemoryInfo info = { 0 };
	pid_t pid = fork();

	if (pid == 0) {
		pause();
		_exit(0);
	}
	image.sweeper.pid = pid;
	image.sweeper.deadline_ns = mu_sys_now_ns() + MU_NS_PER_SEC / 5;
	ck_assert_int_eq(mu_leak_pipe_receive(&image, &results, &result, &info),
	    MU_ERR_TIMEOUT);
	kill(pid, SIGKILL);
	waitpid(pid, NULL, 0);
}

TEST(garbage_is_no_answer)
{
	struct UnreachableMemoryInfo info = { 0 };
	char garbage[4096];

	memset(garbage, 0xa5, sizeof(garbage));
	ck_assert_int_eq(
	    write(writing_end, garbage, sizeof(garbage)), sizeof(garbage));
	ck_assert_int_eq(mu_leak_pipe_receive(&image, &results, &result, &info),
	    MU_ERR_HELPER_DIED);
	ck_assert_ptr_null(result.entries.packed);
}

SUITE(.setup = setup, .teardown = teardown);
