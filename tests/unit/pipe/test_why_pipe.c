/*
 * References through the pipe: what was sent arrives, with the names that the
 * original knows; damaged data is refused as a whole.
 */
#include "lib/pipe/answer.h"
#include "lib/state/library.h"
#include "memunreachable/memunreachable.h"
#include "mu/arch/register_names.h"
#include "mu/sys.h"
#include "tests/support/pass/sweeper_pipe.h"
#include "tests/support/suite.h"

#define ENTRIES 20000 /* 1.6 MB: many times the pipe's 64 KiB */

static struct mu_result result;
static struct mu_references references;
static struct mu_image image;
static struct mu_thread threads[2] = { { .tid = 11 }, { .tid = 12 } };
static struct mu_mapping mappings[3] = {
	{ .range = { 0x1000, 0x2000 }, .name = "/usr/bin/a program" },
	{ .range = { 0x2000, 0x3000 }, .name = "" },
	{ .range = { 0x3000, 0x4000 }, .name = "[stack]" },
};
static int writing_end;

static void
setup(void)
{
	references = (struct mu_references) { .hidden = 77 };
	result = (struct mu_result) { .num_more = 0 };
	image = (struct mu_image) { .snap = { .threads = threads,
					.num_threads = 2,
					.mappings = mappings,
					.num_mappings = 3 } };
	writing_end = sweeper_pipe_open(&image, (size_t)1 << 30);
	ck_assert_int_ge(writing_end, 0);
}

static void
teardown(void)
{
	sweeper_pipe_close(&image, writing_end);
}

static struct mu_referrer
good_entry(size_t i)
{
	return (struct mu_referrer) { .kind = MU_REFERRER_GLOBAL,
		.thread = MU_NO_INDEX,
		.mapping = (uint32_t)(i % 3),
		.reachable = 1,
		.address = 0x1000 + 8 * i,
		.value = i,
		.into = -16,
		.base = 0x800,
		.begin = 0x1000,
		.size = 0x1000 };
}

struct sender {
	enum mu_status status;
	struct mu_referrers referrers;
};

static void *
send_all(void *arg)
{
	const struct sender *sender = arg;
	struct mu_heap heap = { .blocks = { .count = 5, .bytes = 50 },
		.transient = true };
	struct mu_why why = { .text = "because" };

	mu_why_pipe_send(
	    writing_end, sender->status, &why, &heap, &sender->referrers);
	close(writing_end);
	writing_end = -1;
	return NULL;
}

static enum mu_status
send_and_receive(struct sender *sender, struct UnreachableMemoryInfo *info)
{
	enum mu_status status;
	pthread_t thread;

	memset(info, 0, sizeof(*info));
	ck_assert_int_eq(pthread_create(&thread, NULL, send_all, sender), 0);
	status = mu_why_pipe_receive(&image, &references, &result, info);
	pthread_join(thread, NULL);
	return status;
}

TEST(all_arrives)
{
	struct sender sender = { MU_PARTIAL, { .total = ENTRIES + 5 } };
	struct UnreachableMemoryInfo info;
	const struct MemunreachableReference *item;
	size_t i;

	sender.referrers.count = ENTRIES;
	sender.referrers.items = calloc(ENTRIES, sizeof(struct mu_referrer));
	for (i = 0; i < ENTRIES; i++)
		sender.referrers.items[i] = good_entry(i);
	ck_assert_int_eq(send_and_receive(&sender, &info), MU_PARTIAL);
	ck_assert_str_eq(image.job.why.text, "because");
	ck_assert(result.transient);
	ck_assert_uint_eq(info.num_allocations, 5);
	ck_assert_uint_eq(references.total, ENTRIES + 5);
	ck_assert_uint_eq(references.count, ENTRIES);
	for (i = 0; i < ENTRIES; i++) {
		item = &references.items[i];
		ck_assert_uint_eq(item->address, 0x1000 + 8 * i);
		ck_assert_uint_eq(item->value, i);
		ck_assert_int_eq(item->into, -16);
		ck_assert_int_eq(item->offset, (ptrdiff_t)(0x800 + 8 * i));
		ck_assert_uint_eq(item->size, 0x1000);
		ck_assert(item->reachable);
		ck_assert_int_eq(item->thread, 0);
		ck_assert_str_eq(item->path, mappings[i % 3].name);
		/* A copy: the pass's memory goes. */
		ck_assert_ptr_ne(item->path, mappings[i % 3].name);
	}
	mu_references_drop(&references);
	ck_assert_ptr_null(references.items);
	ck_assert_ptr_null(mu_library.results.first);
	ck_assert_uint_eq(references.hidden, 77);
	free(sender.referrers.items);
}

TEST(none_and_a_failure)
{
	struct sender none = { MU_OK, { .total = 0 } };
	struct sender failed = { MU_ERR_ARGUMENT, { .total = 3, .count = 3 } };
	struct UnreachableMemoryInfo info;

	ck_assert_int_eq(send_and_receive(&none, &info), MU_OK);
	ck_assert_uint_eq(references.total, 0);
	ck_assert_ptr_null(references.items);
	teardown();
	setup();
	ck_assert_int_eq(send_and_receive(&failed, &info), MU_ERR_ARGUMENT);
	ck_assert_str_eq(image.job.why.text, "because");
	ck_assert_uint_eq(references.total, 0);
	ck_assert_ptr_null(references.items);
}

static struct mu_pipe_header
good_header(void)
{
	return (struct mu_pipe_header) {
		.magic = MU_PIPE_MAGIC,
		.version = MU_PIPE_VERSION,
		.header_size = sizeof(struct mu_pipe_header),
		.kind = MU_PIPE_REFERENCES,
		.entries_size = 2 * sizeof(struct mu_referrer),
		.num_allocations = 10,
		.num_total = 3,
		.num_entries = 2,
	};
}

TEST(damaged_headers_are_refused)
{
	struct mu_pipe_header header = good_header();

	ck_assert(mu_why_pipe_check(&header));
#define REFUSED(field, bad)                             \
	do {                                            \
		header = good_header();                 \
		header.field = bad;                     \
		ck_assert(!mu_why_pipe_check(&header)); \
	} while (0)
	REFUSED(magic, 0);
	REFUSED(version, 2);
	REFUSED(header_size, 8);
	REFUSED(kind, MU_PIPE_LEAKS);
	REFUSED(entries_size, sizeof(struct mu_referrer));
	REFUSED(status, MU_STATUS_COUNT);
	REFUSED(status, MU_ERR_TIMEOUT); /* a failure that has figures */
	REFUSED(num_total, 1);
	REFUSED(num_total, (uint64_t)1 << 63);
	REFUSED(num_entries, 4);
	REFUSED(num_entries, UINT64_MAX);
#undef REFUSED
	header = good_header();
	header.num_total = header.num_entries = MU_MAX_REFERRERS + 1;
	header.entries_size = header.num_entries * sizeof(struct mu_referrer);
	ck_assert(!mu_why_pipe_check(&header));
	header = good_header();
	memset(header.why.text, 'x', sizeof(header.why.text));
	ck_assert(!mu_why_pipe_check(&header));
}

static void
receive_damaged(const struct mu_referrer *entry)
{
	struct mu_pipe_header header = good_header();
	struct mu_referrer entries[2] = { good_entry(0), *entry };
	struct UnreachableMemoryInfo info = { 0 };

	ck_assert_int_eq(
	    write(writing_end, &header, sizeof(header)), sizeof(header));
	ck_assert_int_eq(
	    write(writing_end, entries, sizeof(entries)), sizeof(entries));
	ck_assert_int_eq(
	    mu_why_pipe_receive(&image, &references, &result, &info),
	    MU_ERR_HELPER_DIED);
	ck_assert_ptr_null(references.items);
	ck_assert_ptr_null(mu_library.results.first);
	teardown();
	setup();
}

TEST(damaged_entries_are_refused)
{
	struct mu_referrer entry;

#define REFUSED(field, bad)              \
	do {                             \
		entry = good_entry(1);   \
		entry.field = bad;       \
		receive_damaged(&entry); \
	} while (0)
	REFUSED(kind, 0);
	REFUSED(kind, MU_REFERRER_KINDS);
	REFUSED(thread, 2);
	REFUSED(thread, MU_NO_INDEX - 1);
	REFUSED(mapping, 3);
	REFUSED(mapping, MU_NO_INDEX - 1);
	REFUSED(regno, MU_REGNO_END + 1);
	REFUSED(reachable, 2);
#undef REFUSED
}

TEST(end_of_file_at_every_step)
{
	struct mu_pipe_header header = good_header();
	struct mu_referrer entry = good_entry(0);
	struct UnreachableMemoryInfo info = { 0 };
	size_t sizes[] = { 0, 1, sizeof(header) - 1, sizeof(header),
		sizeof(header) + sizeof(entry) + 5 };
	char bytes[sizeof(header) + 2 * sizeof(entry)];
	size_t i;

	memcpy(bytes, &header, sizeof(header));
	memcpy(bytes + sizeof(header), &entry, sizeof(entry));
	memcpy(bytes + sizeof(header) + sizeof(entry), &entry, sizeof(entry));
	for (i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
		ck_assert_int_eq(
		    write(writing_end, bytes, sizes[i]), (ssize_t)sizes[i]);
		close(writing_end);
		writing_end = -1;
		ck_assert_int_eq(
		    mu_why_pipe_receive(&image, &references, &result, &info),
		    MU_ERR_HELPER_DIED);
		ck_assert_ptr_null(references.items);
		teardown();
		setup();
	}
}

SUITE(.setup = setup, .teardown = teardown);
