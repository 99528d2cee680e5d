/*
 * The thread of memunreachable_watch_start(); also where the heap cannot be
 * checked, as under a sanitizer.
 */
#include <dirent.h>

#include "memunreachable/memunreachable.h"
#include "tests/support/suite.h"

static size_t looks; /* atomic */

static void
tell(void *ctx, const struct MemunreachableLook *look)
{
	size_t *count = ctx;

	ck_assert_ptr_nonnull(look->reason);
	__atomic_store_n(count, look->number, __ATOMIC_RELEASE);
}

/* Of the threads but the calling one, those that do not block SIGTERM; and how
 * many there are. */
static size_t
open_threads(size_t *others)
{
	char path[64], line[256];
	unsigned long long blocked;
	DIR *folder = opendir("/proc/self/task");
	struct dirent *entry;
	size_t open = 0;
	FILE *file;

	*others = 0;
	while ((entry = readdir(folder)) != NULL) {
		if (atoi(entry->d_name) == 0 || atoi(entry->d_name) == getpid())
			continue;
		snprintf(path, sizeof(path), "/proc/self/task/%d/status",
		    atoi(entry->d_name));
		file = fopen(path, "r");
		while (file != NULL && fgets(line, sizeof(line), file) != NULL)
			if (sscanf(line, "SigBlk: %llx", &blocked) == 1) {
				++*others;
				open += (blocked >> (SIGTERM - 1) & 1) == 0;
			}
		if (file != NULL)
			fclose(file);
	}
	closedir(folder);
	return open;
}

TEST(one_thread_that_blocks_signals)
{
	size_t others;

	ck_assert_uint_eq(open_threads(&others), 0);
	ck_assert_uint_eq(others, 0);
	ck_assert(memunreachable_watch_start(60000, tell, &looks));
	ck_assert_uint_eq(open_threads(&others), 0);
	ck_assert_uint_eq(others, 1);
	ck_assert(!memunreachable_watch_start(60000, tell, &looks));
	ck_assert_int_eq(errno, EBUSY);
	ck_assert(memunreachable_watch_stop());
	ck_assert(!memunreachable_watch_stop());
	ck_assert(!memunreachable_watch_start(0, tell, &looks));
	ck_assert_int_eq(errno, EINVAL);
	ck_assert(memunreachable_watch_start(60000, NULL, NULL));
	ck_assert(memunreachable_watch_stop());
	ck_assert_uint_eq(looks, 0);
	ck_assert_int_eq(
	    memunreachable_watch_verdict(), MEMUNREACHABLE_VERDICT_UNCHECKED);
}

TEST(looks_until_it_is_stopped)
{
	size_t before;

	ck_assert(memunreachable_watch_start(1, tell, &looks));
	while (__atomic_load_n(&looks, __ATOMIC_ACQUIRE) < 3)
		sched_yield();
	ck_assert(memunreachable_watch_stop());
	before = looks;
	ck_assert_uint_ge(before, 3);
	usleep(20000);
	ck_assert_uint_eq(looks, before);
}

TEST(names_of_verdicts)
{
	ck_assert_str_eq(
	    memunreachable_verdict_name(MEMUNREACHABLE_VERDICT_LEAK), "leak");
	ck_assert_str_eq(
	    memunreachable_verdict_name(MEMUNREACHABLE_VERDICT_UNCHECKED),
	    "unchecked");
	ck_assert_str_eq(memunreachable_verdict_name(6), "unknown");
	ck_assert_str_eq(memunreachable_verdict_name(-1), "unknown");
}

SUITE();
