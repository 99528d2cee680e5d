/*
 * lib/types/index_file.h, lib/symbolize/cache.h: what is written is read again;
 * numbers that lead out of the index, as an attacker would write them with a
 * right sum, are refused.
 */
#include <sys/stat.h>

#include "lib/symbolize/cache.h"
#include "lib/types/index_file.h"
#include "tests/support/suite.h"

#define TYPES 3u
#define SEEN (1u << 20)

static char folder[32];
static struct mu_cache cache;
static struct mu_debug_id id;
static struct mu_indexed_type types[TYPES];
static uint32_t slots[8];
static struct mu_indexed_die dies[TYPES];
static char texts[] = "\0shop\0Order";
static struct mu_debug_index index_;

static void
set_up(void)
{
	size_t i;

	strcpy(folder, "/tmp/mu-index-file.XXXXXX");
	ck_assert_ptr_nonnull(mkdtemp(folder));
	setenv("XDG_CACHE_HOME", folder, 1);
	memset(&id, 0, sizeof(id));
	memset(slots, 0, sizeof(slots));
	strcpy(id.build_id, "0123abcd");
	id.size = 4711;
	for (i = 0; i < TYPES; i++) {
		types[i] = (struct mu_indexed_type) { .hash = i + 1,
			.size = 8 * (i + 1),
			.around = 1,
			.name = 6,
			.ref = 100 * (i + 1) };
		slots[i + 1] = (uint32_t)i + 1;
		dies[i] = (struct mu_indexed_die) { types[i].ref, i };
	}
	index_ = (struct mu_debug_index) { .asked = true,
		.seen = SEEN,
		.types = types,
		.num_types = TYPES,
		.slots = slots,
		.num_slots = 8,
		.dies = dies,
		.num_dies = TYPES,
		.texts = texts,
		.num_texts = sizeof(texts) };
	mu_cache_open(&cache);
	ck_assert(cache.open);
	ck_assert_uint_gt(cache.num_files, 0);
}

static void
tear_down(void)
{
	char command[128];

	mu_cache_close(&cache);
	snprintf(command, sizeof(command), "rm -rf %s", folder);
	ck_assert_int_eq(system(command), 0);
}

/* Write the index, and read it as the next command does. */
static bool
write_and_read(struct mu_debug_index *read)
{
	*read = (struct mu_debug_index) { .asked = false };
	mu_index_file_write(&index_, &cache, &id);
	mu_cache_close(&cache);
	mu_cache_open(&cache);
	return mu_index_file_read(read, &cache, &id);
}

TEST(what_is_written_is_read)
{
	struct mu_debug_index read;
	const struct mu_indexed_type *type;

	ck_assert(write_and_read(&read));
	ck_assert(read.asked && !read.failed && !read.deep);
	ck_assert_uint_eq(read.num_types, TYPES);
	type = mu_debug_index_at(&read, 200);
	ck_assert_ptr_nonnull(type);
	ck_assert_uint_eq(type->size, 16);
	ck_assert_str_eq(mu_debug_index_text(&read, type->around), "shop");
	ck_assert_str_eq(mu_debug_index_text(&read, type->name), "Order");
	ck_assert_str_eq(mu_debug_index_text(&read, UINT32_MAX), "");
}

TEST(small_or_incomplete_ones_are_not_kept)
{
	struct mu_debug_index read;

	index_.seen = 1000;
	ck_assert(!write_and_read(&read));
	index_.seen = SEEN;
	index_.failed = true;
	ck_assert(!write_and_read(&read));
}

TEST(of_another_file)
{
	struct mu_debug_index read;

	ck_assert(write_and_read(&read));
	id.changed_ns++;
	ck_assert(!mu_index_file_read(&read, &cache, &id));
}

TEST(any_byte_is_damaged)
{
	struct mu_debug_index read;
	struct stat about;
	char path[128], byte;
	off_t at;
	int fd;

	ck_assert(write_and_read(&read));
	snprintf(
	    path, sizeof(path), "%s/memunreachable/0123abcd.types-2", folder);
	fd = open(path, O_RDWR);
	ck_assert_int_eq(fstat(fd, &about), 0);
	for (at = 0; at < about.st_size; at++) {
		ck_assert_int_eq(pread(fd, &byte, 1, at), 1);
		byte ^= 1;
		ck_assert_int_eq(pwrite(fd, &byte, 1, at), 1);
		ck_assert_msg(!mu_index_file_read(&read, &cache, &id),
		    "byte %lld", (long long)at);
		byte ^= 1;
		ck_assert_int_eq(pwrite(fd, &byte, 1, at), 1);
	}
	close(fd);
	ck_assert(mu_index_file_read(&read, &cache, &id));
}

TEST_LOOP(names_that_are_no_build_ids, 0, 5)
{
	static const char *const names[] = { "", "../0123", "01/23", "ABCD",
		"0123." };
	struct mu_debug_index read;

	memset(id.build_id, 0, sizeof(id.build_id));
	strcpy(id.build_id, names[_i]);
	ck_assert(!write_and_read(&read));
}

TEST(a_slot_leads_out)
{
	struct mu_debug_index read;

	slots[5] = TYPES + 1;
	ck_assert(!write_and_read(&read));
	ck_assert(!read.asked);
}

/* A search in it would have no end. */
TEST(no_slot_is_unused)
{
	struct mu_debug_index read;
	size_t i;

	for (i = 0; i < 8; i++)
		slots[i] = 1;
	ck_assert(!write_and_read(&read));
}

TEST(slots_are_no_power_of_two)
{
	struct mu_debug_index read;

	index_.num_slots = 7;
	ck_assert(!write_and_read(&read));
}

TEST(a_die_leads_out)
{
	struct mu_debug_index read;

	dies[1].type = TYPES;
	ck_assert(!write_and_read(&read));
}

TEST(texts_without_an_end)
{
	struct mu_debug_index read;

	index_.num_texts = sizeof(texts) - 1;
	ck_assert(!write_and_read(&read));
	index_.num_texts = 0;
	ck_assert(!write_and_read(&read));
}

/* A count that the file does not have, as a whole and in bytes. */
TEST_LOOP(counts_that_are_too_large, 0, 2)
{
	struct mu_debug_index read;
	const uint64_t count = _i == 0 ? UINT64_MAX : 1 << 20;
	const off_t counts = sizeof(uint64_t);
	char path[128];
	int fd;

	ck_assert(write_and_read(&read));
	snprintf(
	    path, sizeof(path), "%s/memunreachable/0123abcd.types-2", folder);
	fd = open(path, O_WRONLY);
	ck_assert_int_ge(fd, 0);
	ck_assert_int_eq(pwrite(fd, &count, sizeof(count), counts), 8);
	close(fd);
	ck_assert(!mu_index_file_read(&read, &cache, &id));
}

TEST(others_may_write_the_folder)
{
	struct mu_debug_index read;
	char path[128];

	snprintf(path, sizeof(path), "%s/memunreachable", folder);
	ck_assert_int_eq(chmod(path, 0770), 0);
	ck_assert(!write_and_read(&read));
	ck_assert(!cache.open);
}

SUITE(.setup = set_up, .teardown = tear_down);
