/*
 * How much memory is to be had, as /proc and a cgroup tell it.
 */
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "heapwalk/available.h"
#include "tests/support/suite.h"

static char folder[64], meminfo[128], own[128], cgroups[128];
static const struct mu_available_files files = { meminfo, own, cgroups };

static void
put(const char *path, const char *text)
{
	FILE *file = fopen(path, "w");

	ck_assert_ptr_nonnull(file);
	fputs(text, file);
	ck_assert_int_eq(fclose(file), 0);
}

/* A cgroup below the root; NULL: the file stays as it is, or away. */
static void
put_cgroup(
    const char *name, const char *max, const char *current, const char *stat)
{
	char path[256];

	snprintf(path, sizeof(path), "%s%s", cgroups, name);
	mkdir(path, 0700);
	snprintf(path, sizeof(path), "%s%s/memory.max", cgroups, name);
	if (max != NULL)
		put(path, max);
	snprintf(path, sizeof(path), "%s%s/memory.current", cgroups, name);
	if (current != NULL)
		put(path, current);
	snprintf(path, sizeof(path), "%s%s/memory.stat", cgroups, name);
	if (stat != NULL)
		put(path, stat);
}

static void
setup(void)
{
	snprintf(folder, sizeof(folder), "/tmp/test_available.XXXXXX");
	ck_assert_ptr_nonnull(mkdtemp(folder));
	snprintf(meminfo, sizeof(meminfo), "%s/meminfo", folder);
	snprintf(own, sizeof(own), "%s/own", folder);
	snprintf(cgroups, sizeof(cgroups), "%s/cgroup", folder);
	ck_assert_int_eq(mkdir(cgroups, 0700), 0);
	put(meminfo,
	    "MemTotal:       999999 kB\nMemFree:          1 kB\n"
	    "MemAvailable:   1000 kB\nBuffers:    5 kB\n");
	put(own, "9:memory:/v1\n0::/a/b\n");
}

static void
teardown(void)
{
	char command[128];

	snprintf(command, sizeof(command), "rm -rf %s", folder);
	ck_assert_int_eq(system(command), 0);
}

static void
expect(size_t kib)
{
	size_t bytes = 0;

	ck_assert(mu_available_in(&files, &bytes));
	ck_assert_uint_eq(bytes, kib * 1024);
}

START_TEST(machine)
{
	size_t bytes;

	expect(1000);
	unlink(own);
	expect(1000);
	put(meminfo, "MemTotal: 7 kB\nNotMemAvailable: 6 kB\n");
	ck_assert(!mu_available_in(&files, &bytes));
	put(meminfo, "MemAvailable: none\n");
	ck_assert(!mu_available_in(&files, &bytes));
	put(meminfo, "");
	ck_assert(!mu_available_in(&files, &bytes));
	unlink(meminfo);
	ck_assert(!mu_available_in(&files, &bytes));
}
END_TEST

START_TEST(cgroup)
{
	put_cgroup("/a", "max\n", "999999999\n", NULL);
	put_cgroup("/a/b", "max\n", "999999999\n", NULL);
	expect(1000);
	put_cgroup("/a/b", "1048576\n", "524288\n", "anon 400000\n");
	expect(512);
	/* More than the machine has is no limit. */
	put_cgroup("/a/b", "1048576000\n", "524288\n", NULL);
	expect(1000);
	/* Taken to the last byte, and beyond. */
	put_cgroup("/a/b", "1048576\n", "1048576\n", NULL);
	expect(0);
	put_cgroup("/a/b", "1048576\n", "1050000\n", NULL);
	expect(0);
	/* The machine keeps silent. */
	unlink(meminfo);
	put_cgroup("/a/b", "1048576\n", "524288\n", NULL);
	expect(512);
}
END_TEST

/* What is in the cache of files can be had. */
START_TEST(cache)
{
	put_cgroup("/a", NULL, NULL, NULL);
	put_cgroup("/a/b", "1048576\n", "1048576\n",
	    "anon 300000\nfile 700000\ninactive_anon 1\nactive_anon 2\n"
	    "inactive_file 204800\nactive_file 102400\n");
	expect(300);
	put_cgroup("/a/b", NULL, NULL, "inactive_file 99999999999999\n");
	expect(1000);
}
END_TEST

/* Folders above set limits too; a folder without files sets none. */
START_TEST(above)
{
	put_cgroup("", "921600\n", "0\n", NULL);
	put_cgroup("/a", "1048576\n", "524288\n", NULL);
	put_cgroup("/a/b", NULL, NULL, NULL);
	expect(512);
	put_cgroup("/a", "max\n", NULL, NULL);
	put_cgroup("/a/b", "1048576\n", "946176\n", NULL);
	expect(100);
	put(own, "0::/\n");
	expect(900);
	put(own, "0::/not/there\n");
	expect(900);
}
END_TEST

START_TEST(odd_files)
{
	static char longest[6000];

	put_cgroup("/a", "1048576\n", "524288\n", NULL);
	memset(longest, 'x', sizeof(longest) - 2);
	memcpy(longest, "0::/", 4);
	longest[sizeof(longest) - 2] = '\n';
	put(own, longest);
	expect(1000);
	put(own, "0::/a"); /* no newline */
	expect(1000);
	put(own, "0:");
	expect(1000);
	put(own, "10::/a\n0:x:/a\n");
	expect(1000);
	put(own, "1:name=systemd:/\n0::/a\n");
	expect(512);
}
END_TEST

START_TEST(here)
{
	size_t bytes = 0;

	ck_assert(mu_available(&bytes));
	ck_assert_uint_gt(bytes, 0);
}
END_TEST

int
main(void)
{
	Suite *suite = suite_create("available");
	TCase *tc = tcase_create("available");

	tcase_set_timeout(tc, 60);
	tcase_add_checked_fixture(tc, setup, teardown);
	tcase_add_test(tc, machine);
	tcase_add_test(tc, cgroup);
	tcase_add_test(tc, cache);
	tcase_add_test(tc, above);
	tcase_add_test(tc, odd_files);
	tcase_add_test(tc, here);
	suite_add_tcase(suite, tc);
	return suite_run(suite);
}
