/*
 * lib/malloc_debug/leaktracer/: from the allocation of a block to its line in
 * the report. The words of the blocks are a list here.
 */
#include <limits.h>
#include <sys/stat.h>

#include "lib/malloc_debug/leaktracer/late.h"
#include "lib/malloc_debug/leaktracer/leaktracer.h"
#include "lib/malloc_debug/leaktracer/reach.h"
#include "lib/malloc_debug/leaktracer/report.h"
#include "lib/malloc_debug/shadow/recorder.h"
#include "lib/malloc_debug/shadow/recording.h"
#include "lib/malloc_debug/unwind/stack_depot.h"
#include "mu/sys.h"
#include "tests/support/suite.h"

struct mu_recorded memunreachable_recorded;

static struct recorded_block live[64];
static size_t num_live;

void
recorder_say(const char *format, ...)
{
	(void)format;
}

void
recorder_each(
    bool (*visit)(void *ctx, const struct recorded_block *block), void *ctx)
{
	size_t i;

	for (i = 0; i < num_live; i++)
		if (!visit(ctx, &live[i]))
			return;
}

bool
recorder_find(const void *pointer, struct recorded_block *block)
{
	size_t i;

	for (i = 0; i < num_live; i++) {
		if (live[i].begin == (uintptr_t)pointer) {
			*block = live[i];
			return true;
		}
	}
	return false;
}

/* As an entry does it: the newest first, so that time is not their order. */
static void
allocated(const void *pointer, size_t size)
{
	static const uintptr_t frames[] = { 0x401000, 0x402000 };
	uint32_t unit = leaktracer_tag(stack_depot_put(frames, 2, 0));

	memmove(live + 1, live, num_live++ * sizeof(*live));
	live[0] = (struct recorded_block) { (uintptr_t)pointer, size,
		unit == 0 ? MU_STACK_OFF : unit, MU_BLOCK_MALLOC, false };
}

static void
freed(const void *pointer)
{
	struct recorded_block block;
	size_t i;

	ck_assert(recorder_find(pointer, &block));
	for (i = 0; live[i].begin != block.begin; i++)
		continue;
	memmove(live + i, live + i + 1, (--num_live - i) * sizeof(*live));
	leaktracer_untag(block.stack, pointer, block.size);
}

static char text[1 << 18];

static void
into_text(void *ctx, const char *line, size_t length)
{
	size_t *used = ctx;

	if (strncmp(line, "# module ", 9) == 0)
		return;
	memcpy(text + *used, line, length);
	*used += length;
	text[*used] = '\0';
}

/* The sizes of the reported blocks, in the order of the lines. */
static const char *
sizes(void)
{
	static char list[1024];
	struct leaktracer_report report;
	size_t used = 0;
	const char *at = text;

	leaktracer_report_begin(&report, false);
	leaktracer_report_print(&report, into_text, &used);
	leaktracer_report_end(&report);
	list[0] = '\0';
	while ((at = strstr(at, ", size=")) != NULL) {
		at += 7;
		strncat(list, at, strcspn(at, ","));
		strcat(list, " ");
	}
	return list;
}

static void
setup(void)
{
	ck_assert(stack_depot_init());
	leaktracer_active = true;
}

TEST(life_cycle)
{
	char before[10] = "", late[128] = "", kept[256] = "", after[512] = "";

	allocated(before, 10);
	leaktracer_monitor_all();
	allocated(kept, 256);
	allocated(late, 128);
	freed(before);
	leaktracer_stop_allocations();
	freed(late);
	leaktracer_stop();
	allocated(after, 512);
	ck_assert_str_eq(sizes(), "256 ");
}

TEST(lines_by_time)
{
	char blocks[8];
	size_t i;

	leaktracer_monitor_all();
	for (i = 0; i < sizeof(blocks); i++)
		allocated(blocks + i, i + 1);
	ck_assert_str_eq(sizes(), "1 2 3 4 5 6 7 8 ");
	ck_assert_ptr_nonnull(strstr(text, "stack=0x40100"));
	ck_assert_int_eq(strncmp(text, "# LeakTracer report ", 20), 0);
}

TEST(what_is_freed_unseen_stays_for_the_report)
{
	char one[] = "one", two[] = "two and more";

	leaktracer_monitor_all();
	allocated(one, sizeof(one));
	allocated(two, sizeof(two));
	leaktracer_stop();
	freed(one);
	strcpy(one, "xxx");
	ck_assert_str_eq(sizes(), "4 13 ");
	ck_assert_ptr_nonnull(strstr(text, "data=one.\n"));
	ck_assert_ptr_nonnull(strstr(text, "data=two and more.\n"));
	leaktracer_monitor_all();
	ck_assert_str_eq(sizes(), "");
}

TEST(start_drops_old_records_only_if_releases_went_unseen)
{
	char one[1], two[2], three[3];

	leaktracer_monitor_thread();
	allocated(one, 1);
	leaktracer_stop_allocations();
	leaktracer_monitor_all();
	allocated(two, 2);
	ck_assert_str_eq(sizes(), "1 2 ");
	leaktracer_stop();
	leaktracer_monitor_thread();
	allocated(three, 3);
	ck_assert_str_eq(sizes(), "3 ");
	/* Harmless: it is none any more. */
	freed(one);
	leaktracer_stop();
	freed(two);
	ck_assert_str_eq(sizes(), "3 ");
}

static void
count_pages(size_t *pages)
{
	unsigned long size;
	FILE *file = fopen("/proc/self/statm", "r");

	ck_assert_ptr_nonnull(file);
	ck_assert_int_eq(fscanf(file, "%lu", &size), 1);
	fclose(file);
	*pages = size;
}

TEST(cells_of_dropped_records_are_used_again)
{
	static char block[50];
	size_t before = 0, after, i, round;

	for (round = 0; round < 40; round++) {
		leaktracer_monitor_all();
		for (i = 0; i < 20000; i++) {
			uint32_t unit = leaktracer_tag(MU_STACK_EMPTY);

			/* Freed without a record while recording is on. */
			leaktracer_state &= ~LEAKTRACER_RELEASES;
			leaktracer_untag(unit, block, sizeof(block));
			leaktracer_state |= LEAKTRACER_RELEASES;
		}
		leaktracer_stop();
		if (round == 3)
			count_pages(&before);
	}
	count_pages(&after);
	ck_assert_uint_le(after, before + 64);
}

static void *
frees_unseen(void *arg)
{
	char block[50];
	int i;

	for (i = 0; i < 20000; i++)
		leaktracer_untag(
		    leaktracer_tag(MU_STACK_EMPTY), block, sizeof(block));
	return arg;
}

TEST(threads_that_free_unseen_while_others_start_and_report)
{
	struct leaktracer_report report;
	pthread_t threads[3];
	int i;

	leaktracer_monitor_all();
	for (i = 0; i < 3; i++)
		pthread_create(&threads[i], NULL, frees_unseen, NULL);
	for (i = 0; i < 300; i++) {
		leaktracer_stop();
		leaktracer_report_begin(&report, false);
		leaktracer_monitor_all();
		leaktracer_report_end(&report);
	}
	for (i = 0; i < 3; i++)
		pthread_join(threads[i], NULL);
}

TEST(realloc_keeps_or_renews_the_record)
{
	char one[1], two[2];

	leaktracer_monitor_all();
	allocated(one, 1);
	allocated(two, 2);
	live[0].size = 22;
	live[0].stack = leaktracer_retag(live[0].stack, MU_STACK_EMPTY);
	ck_assert_str_eq(sizes(), "1 22 ");
	live[1].size = 11;
	live[1].stack = leaktracer_retag(live[1].stack, MU_STACK_EMPTY);
	ck_assert_str_eq(sizes(), "22 11 ");
	/* A record made before stays one when the block grows later. */
	leaktracer_stop_allocations();
	live[0].size = 23;
	live[0].stack = leaktracer_retag(live[0].stack, MU_STACK_EMPTY);
	ck_assert_str_eq(sizes(), "23 11 ");
}

TEST(what_is_no_record_is_left_alone)
{
	char block[1];

	leaktracer_monitor_all();
	leaktracer_untag(0, block, 1);
	leaktracer_untag(MU_STACK_OFF, block, 1);
	leaktracer_untag(0x0fffffff, block, 1);
	leaktracer_stop();
	leaktracer_untag(MU_STACK_EMPTY, block, 1);
	ck_assert_uint_eq(leaktracer_retag(MU_STACK_OFF, 0), MU_STACK_OFF);
	ck_assert_uint_eq(leaktracer_tag(MU_STACK_EMPTY), 0);
	ck_assert_str_eq(sizes(), "");
}

TEST(records_of_blocks_whose_memory_is_gone)
{
	size_t page = (size_t)sysconf(_SC_PAGESIZE);
	char *block = mmap(NULL, page, PROT_READ | PROT_WRITE,
	    MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	leaktracer_monitor_all();
	allocated(block, 100);
	/* Not unmapped: the report's own memory might have the address then. */
	ck_assert_ptr_eq(mmap(block, page, PROT_NONE,
			     MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0),
	    block);
	ck_assert_str_eq(sizes(), "100 ");
	ck_assert_ptr_nonnull(strstr(text, "size=100, data=\n"));
}

TEST(memory_that_was_short_is_told)
{
	memunreachable_recorded.flags |= MU_RECORDED_STOPPED;
	sizes();
	ck_assert_ptr_nonnull(strstr(text, "\n# memory was short:"));
}

TEST(unreachable_ones_only)
{
	struct mu_range blocks[] = { { 0x1000, 0x1020 }, { 0x3000, 0x3100 } };
	struct leaktracer_reach reach = {
		.blocks = { .items = blocks, .count = 2 }, .checked = true
	};
	struct leaktracer_rows rows;

	ck_assert(!leaktracer_reach_lost(&reach, 0xfff));
	ck_assert(leaktracer_reach_lost(&reach, 0x1000));
	ck_assert(!leaktracer_reach_lost(&reach, 0x1020));
	/* With a guard in front it begins inside malloc's block. */
	ck_assert(leaktracer_reach_lost(&reach, 0x3010));
	ck_assert(!leaktracer_reach_lost(&reach, 0x4000));
	leaktracer_monitor_all();
	allocated((void *)0x1000, 16);
	allocated((void *)0x2000, 17);
	allocated((void *)0x3010, 18);
	leaktracer_rows_find(&rows, &reach);
	ck_assert_uint_eq(rows.count, 2);
	ck_assert_uint_eq(rows.rows[0].size, 16);
	ck_assert_uint_eq(rows.rows[1].size, 18);
	leaktracer_rows_free(&rows);
	leaktracer_rows_free(&rows);
}

TEST(a_leak_finder_that_is_not_there_is_told)
{
	struct leaktracer_report report;
	size_t used = 0;
	char block[7];

	leaktracer_monitor_all();
	allocated(block, 7);
	leaktracer_report_begin(&report, true);
	leaktracer_report_print(&report, into_text, &used);
	leaktracer_report_end(&report);
	ck_assert_ptr_nonnull(strstr(text, "\n# not filtered: "));
	ck_assert_ptr_nonnull(strstr(text, "size=7,"));
}

static char directory[] = "/tmp/leaktracer.XXXXXX";

TEST(files)
{
	struct leaktracer_report report;
	char name[PATH_MAX], other[PATH_MAX], line[64] = "";
	struct stat status;
	FILE *file;

	ck_assert_ptr_nonnull(mkdtemp(directory));
	snprintf(name, sizeof(name), "%s/leaks.out", directory);
	snprintf(other, sizeof(other), "%s/link", directory);
	leaktracer_report_begin(&report, false);
	umask(0);
	ck_assert(leaktracer_report_write(&report, name));
	ck_assert_int_eq(stat(name, &status), 0);
	ck_assert_uint_eq(status.st_mode & 0777, 0600);
	ck_assert(leaktracer_report_write(&report, name));
	file = fopen(name, "r");
	ck_assert_ptr_nonnull(file);
	ck_assert_ptr_nonnull(fgets(line, sizeof(line), file));
	ck_assert_int_eq(
	    strncmp(line, "# LeakTracer report diff_utc_mono=", 34), 0);
	fclose(file);
	ck_assert_int_eq(symlink(name, other), 0);
	ck_assert(leaktracer_report_write(&report, other));
	ck_assert_int_eq(lstat(other, &status), 0);
	ck_assert(S_ISLNK(status.st_mode));
	strcat(other, ".1");
	ck_assert_int_eq(unlink(other), 0);
	other[strlen(other) - 2] = '\0';
	ck_assert(!leaktracer_report_write(&report, NULL));
	ck_assert(leaktracer_report_write(&report, "/dev/null"));
	ck_assert(!leaktracer_report_write(&report, "/dev/full"));
	leaktracer_report_end(&report);
	unlink(other);
	unlink(name);
	rmdir(directory);
}

SUITE(.setup = setup);
