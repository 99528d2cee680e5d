/* How much memory is available, by /proc and a cgroup. */
#include <sys/stat.h>

#include "heapwalk/memory/available.h"
#include "tests/support/folder.h"
#include "tests/support/suite.h"

static char folder[64], meminfo[128], mountinfo[128], own[128], cgroups[128];
static const struct mu_headroom_files files = { meminfo, mountinfo, own };

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

/* A mount of the folder ROOT of a hierarchy; NULL: version 2. */
static void
put_mount(const char *root, const char *controller)
{
	char line[512];

	snprintf(line, sizeof(line),
	    "22 1 0:21 / /proc rw,relatime - proc proc rw\n"
	    "35 31 0:32 %s %s rw,relatime shared:9 master:1 - %s cgroup rw%s%s\n",
	    root, cgroups, controller == NULL ? "cgroup2" : "cgroup",
	    controller == NULL ? "" : ",",
	    controller == NULL ? "" : controller);
	put(mountinfo, line);
}

static void
put_named(const char *name, const char *file, const char *text)
{
	char path[256];

	snprintf(path, sizeof(path), "%s%s", cgroups, name);
	mkdir(path, 0700);
	snprintf(path, sizeof(path), "%s%s/%s", cgroups, name, file);
	put(path, text);
}

static void
setup(void)
{
	folder_make(folder);
	snprintf(meminfo, sizeof(meminfo), "%s/meminfo", folder);
	snprintf(own, sizeof(own), "%s/own", folder);
	snprintf(mountinfo, sizeof(mountinfo), "%s/mountinfo", folder);
	snprintf(cgroups, sizeof(cgroups), "%s/cgroup", folder);
	ck_assert_int_eq(mkdir(cgroups, 0700), 0);
	put(meminfo,
	    "MemTotal:       999999 kB\nMemFree:          1 kB\n"
	    "MemAvailable:   1000 kB\nBuffers:    5 kB\n");
	put(own, "9:memory:/v1\n0::/a/b\n");
	put_mount("/", NULL);
}

static void
teardown(void)
{
	folder_remove(folder);
}

static void
expect(size_t kib)
{
	size_t bytes = 0;

	ck_assert(mu_available_in(&files, &bytes, NULL));
	ck_assert_uint_eq(bytes, kib * 1024);
}

TEST(machine)
{
	size_t bytes;

	expect(1000);
	unlink(own);
	expect(1000);
	put(meminfo, "MemTotal: 7 kB\nNotMemAvailable: 6 kB\n");
	ck_assert(!mu_available_in(&files, &bytes, NULL));
	put(meminfo, "MemAvailable: none\n");
	ck_assert(!mu_available_in(&files, &bytes, NULL));
	put(meminfo, "");
	ck_assert(!mu_available_in(&files, &bytes, NULL));
	unlink(meminfo);
	ck_assert(!mu_available_in(&files, &bytes, NULL));
}

TEST(cgroup)
{
	put_cgroup("/a", "max\n", "999999999\n", NULL);
	put_cgroup("/a/b", "max\n", "999999999\n", NULL);
	expect(1000);
	put_cgroup("/a/b", "1048576\n", "524288\n", "anon 400000\n");
	expect(512);
	/* A limit above the machine's memory is no limit. */
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

/* What is in the cache of files can be had. */
TEST(cache)
{
	put_cgroup("/a", NULL, NULL, NULL);
	put_cgroup("/a/b", "1048576\n", "1048576\n",
	    "anon 300000\nfile 700000\ninactive_anon 1\nactive_anon 2\n"
	    "inactive_file 204800\nactive_file 102400\n");
	expect(300);
	put_cgroup("/a/b", NULL, NULL, "inactive_file 99999999999999\n");
	expect(1000);
}

/* Folders above set limits too; a folder without files sets none. */
TEST(above)
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

TEST(odd_files)
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

/* Written back first, or mapped by a process: not there at once. */
TEST(cache_in_use)
{
	put_cgroup("/a", NULL, NULL, NULL);
	put_cgroup("/a/b", "1048576\n", "1048576\n",
	    "inactive_file 204800\nactive_file 102400\nfile_dirty 51200\n"
	    "file_writeback 51200\nfile_mapped 40960\nshmem 20480\n");
	expect(180);
	put_cgroup("/a/b", NULL, NULL,
	    "inactive_file 4096\nactive_file 0\nfile_dirty 51200\n");
	expect(0);
}

/* Beyond memory.high the program is throttled. */
TEST(high)
{
	put_cgroup("/a", NULL, NULL, NULL);
	put_cgroup("/a/b", "1048576\n", "524288\n", NULL);
	put_named("/a/b", "memory.high", "655360\n");
	expect(128);
	put_named("/a/b", "memory.high", "max\n");
	expect(512);
}

TEST(version_1)
{
	put_mount("/", "cpu,memory");
	put_named("", "memory.limit_in_bytes", "9223372036854771712\n");
	put_named("", "memory.usage_in_bytes", "7000000000\n");
	put_named("/v1", "memory.limit_in_bytes", "1048576\n");
	put_named("/v1", "memory.usage_in_bytes", "524288\n");
	expect(512);
	/* With swap there is less left. */
	put_named("/v1", "memory.memsw.limit_in_bytes", "1048576\n");
	put_named("/v1", "memory.memsw.usage_in_bytes", "786432\n");
	expect(256);
	put_named("/v1", "memory.stat",
	    "inactive_file 1\nactive_file 1\ndirty 0\nmapped_file 0\n"
	    "total_inactive_file 102400\ntotal_active_file 51200\n"
	    "total_dirty 10240\ntotal_writeback 0\ntotal_shmem 4096\n"
	    "total_mapped_file 14336\n");
	expect(256 + 130);
	/* The limit of a group above. */
	put(own, "9:cpuacct,memory:/v1/b\n0::/\n");
	put_named("/v1/b", "memory.limit_in_bytes", "9223372036854771712\n");
	put_named("/v1/b", "memory.usage_in_bytes", "4096\n");
	expect(256 + 130);
	put(own, "9:cpuacct,memoryx:/v1/b\n0::/\n");
	expect(1000);
}

/* Containers see their own group as the mount's, by a namespace or a bind. */
TEST(mounts)
{
	put_mount("/docker/c1", NULL);
	put_cgroup("", "1048576\n", "524288\n", NULL);
	put_cgroup("/a", "1048576\n", "786432\n", NULL);
	put(own, "0::/docker/c1\n");
	expect(512);
	put(own, "0::/docker/c1/a\n");
	expect(256);
	put(own, "0::/docker/c11\n");
	expect(1000);
	put(own, "0::/\n");
	expect(1000);
	put_mount("/", NULL);
	put(own, "0::/../c2\n");
	expect(1000);
	put(mountinfo, "35 31 0:32 / ");
	expect(1000);
	put(mountinfo, "\n\n - cgroup2\n");
	expect(1000);
	unlink(mountinfo);
	expect(1000);
}

/* A reader that stays open sees each change. */
TEST(watched)
{
	struct mu_headroom headroom;

	put_cgroup("/a", NULL, NULL, NULL);
	put_cgroup("/a/b", "1048576\n", "524288\n",
	    "inactive_file 204800\nactive_file 0\n");
	mu_headroom_open_files(&headroom, &files, NULL);
	ck_assert_uint_eq(mu_headroom_left(&headroom, 1), 512 << 10);
	ck_assert_uint_eq(mu_headroom_left(&headroom, SIZE_MAX), 712 << 10);
	put_cgroup("/a/b", NULL, "1048575\n", NULL);
	ck_assert_uint_eq(mu_headroom_left(&headroom, 1), 1);
	put(meminfo, "MemAvailable: 2 kB\n");
	ck_assert_uint_eq(mu_headroom_left(&headroom, SIZE_MAX), 2 << 10);
	ck_assert_uint_eq(
	    mu_headroom_left_in_groups(&headroom, SIZE_MAX), (200 << 10) + 1);
	mu_headroom_close(&headroom);
}

/* memory.oom.group holds for all that is below, and of version 2 only. */
TEST(kills_all)
{
	struct mu_headroom headroom;

	put_cgroup("/a", NULL, NULL, NULL);
	put_cgroup("/a/b", "1048576\n", "524288\n", NULL);
	mu_headroom_open_files(&headroom, &files, NULL);
	ck_assert(!headroom.kills_all);
	mu_headroom_close(&headroom);
	put_named("/a/b", "memory.oom.group", "0\n");
	put_named("/a", "memory.oom.group", "1\n");
	mu_headroom_open_files(&headroom, &files, NULL);
	ck_assert(headroom.kills_all);
	mu_headroom_close(&headroom);
	put_named("/a", "memory.oom.group", "0\n");
	mu_headroom_open_files(&headroom, &files, NULL);
	ck_assert(!headroom.kills_all);
	mu_headroom_close(&headroom);
}

/* Mounts that show other groups only; version 1 decides, if it is there. */
TEST(unseen)
{
	struct mu_headroom headroom;

	put_mount("/", NULL);
	put(own, "0::/../b\n");
	mu_headroom_open_files(&headroom, &files, NULL);
	ck_assert(headroom.unseen);
	mu_headroom_close(&headroom);
	put(own, "4:memory:/a\n0::/../b\n");
	mu_headroom_open_files(&headroom, &files, NULL);
	ck_assert(!headroom.unseen);
	mu_headroom_close(&headroom);
	put_mount("/docker/1", "memory");
	put(own, "4:memory:/docker/2\n0::/\n");
	mu_headroom_open_files(&headroom, &files, NULL);
	ck_assert(headroom.unseen);
	mu_headroom_close(&headroom);
	put(own, "4:memory:/docker/1\n0::/\n");
	mu_headroom_open_files(&headroom, &files, NULL);
	ck_assert(!headroom.unseen);
	mu_headroom_close(&headroom);
	put(mountinfo, "22 1 0:21 / /proc rw,relatime - proc proc rw\n");
	mu_headroom_open_files(&headroom, &files, NULL);
	ck_assert(!headroom.unseen);
	mu_headroom_close(&headroom);
}

/* How many threads may be started yet: the least of the groups decides. */
TEST(tasks)
{
	put_mount("/", "pids");
	put(own, "5:pids:/a/b\n4:memory:/\n");
	put_cgroup("/a", NULL, NULL, NULL);
	put_cgroup("/a/b", NULL, NULL, NULL);
	ck_assert_uint_eq(mu_headroom_tasks(&files, NULL), SIZE_MAX);
	put_named("/a/b", "pids.max", "max\n");
	put_named("/a/b", "pids.current", "3\n");
	ck_assert_uint_eq(mu_headroom_tasks(&files, NULL), SIZE_MAX);
	put_named("/a", "pids.max", "100\n");
	put_named("/a", "pids.current", "93\n");
	ck_assert_uint_eq(mu_headroom_tasks(&files, NULL), 7);
	put_named("/a/b", "pids.max", "3\n");
	ck_assert_uint_eq(mu_headroom_tasks(&files, NULL), 0);
	put_mount("/", NULL);
	put(own, "0::/a\n");
	ck_assert_uint_eq(mu_headroom_tasks(&files, NULL), 7);
}

/* One reading of the mounts is enough for memory and tasks. */
TEST(remembered)
{
	struct mu_cgroups_known known = { 0 };
	size_t bytes = 0;

	put(own, "0::/a/b\n");
	put_cgroup("/a", NULL, NULL, NULL);
	put_cgroup("/a/b", "1048576\n", "524288\n", NULL);
	put_named("/a/b", "pids.max", "9\n");
	put_named("/a/b", "pids.current", "2\n");
	ck_assert(mu_available_in(&files, &bytes, &known));
	ck_assert_uint_eq(bytes, 512 * 1024);
	put(mountinfo, "");
	ck_assert(mu_available_in(&files, &bytes, &known));
	ck_assert_uint_eq(bytes, 512 * 1024);
	ck_assert_uint_eq(mu_headroom_tasks(&files, &known), 7);
	ck_assert_uint_eq(mu_headroom_tasks(&files, NULL), SIZE_MAX);
	/* Another group is looked for. */
	put(own, "0::/a\n");
	ck_assert_uint_eq(mu_headroom_tasks(&files, &known), SIZE_MAX);
}

/* The same of version 1, where tasks have a hierarchy for themselves. */
TEST(remembered_of_version_1)
{
	struct mu_cgroups_known known = { 0 };
	size_t bytes = 0;

	put(own, "5:pids:/a/b\n4:memory:/\n");
	put_mount("/", "memory,pids");
	put_cgroup("/a", NULL, NULL, NULL);
	put_named("/a/b", "pids.max", "9\n");
	put_named("/a/b", "pids.current", "2\n");
	ck_assert(mu_available_in(&files, &bytes, &known));
	put(mountinfo, "");
	ck_assert_uint_eq(mu_headroom_tasks(&files, &known), 7);
}

/* Groups side by side share the limit of the one above. */
TEST(shared)
{
	struct mu_headroom one, other;

	put_cgroup("/a", NULL, NULL, NULL);
	put_cgroup("/a/b", "1048576\n", "524288\n", NULL);
	put_cgroup("/a/c", "1048576\n", "524288\n", NULL);
	mu_headroom_open_files(&one, &files, NULL);
	put(own, "0::/a/c\n");
	mu_headroom_open_files(&other, &files, NULL);
	ck_assert(mu_headroom_shares(&one, &one));
	ck_assert(!mu_headroom_shares(&one, &other));
	mu_headroom_close(&one);
	mu_headroom_close(&other);
	put_cgroup("/a", "1048576\n", "524288\n", NULL);
	mu_headroom_open_files(&other, &files, NULL);
	put(own, "0::/a/b\n");
	mu_headroom_open_files(&one, &files, NULL);
	ck_assert(mu_headroom_shares(&one, &other));
	mu_headroom_close(&one);
	mu_headroom_close(&other);
}

TEST(here)
{
	size_t bytes = 0;

	ck_assert(mu_available(&bytes, NULL));
	ck_assert_uint_gt(bytes, 0);
}

SUITE(.setup = setup, .teardown = teardown);
