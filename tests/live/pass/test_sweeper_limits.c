/*
 * The priority, memory and files that a pass takes from a busy machine, seen
 * from outside and in the answer.
 */
#include <dirent.h>
#include <sys/resource.h>

#include "lib/state/library.h"
#include "memunreachable/memunreachable.h"
#include "tests/support/hide.h"
#include "tests/support/scenario.h"
#include "tests/support/suite.h"

#define BLOCKS ((size_t)1000000)
#define RING ((size_t)10) /* blocks that are lost together */
#define MIB ((size_t)1 << 20)

/* What the kernel tells about a process. */
struct rank {
	char name[32], state;
	int parent, nice, policy, oom;
	char core[64]; /* its line in limits */
};

static struct child child;

/* BLOCKS of 24 bytes in rings, each block in the one after it. */
static __attribute__((noinline)) void
lose_rings(void)
{
	void **first, **block, **last;
	size_t i, j;

	for (i = 0; i < BLOCKS / RING; i++) {
		first = last = calloc(1, 24);
		for (j = 1; j < RING; j++) {
			block = calloc(1, 24);
			*block = last;
			last = block;
		}
		*first = last;
		/* The compiler would do without all of them. */
		__asm__ volatile("" : : "r"(first) : "memory");
	}
}

static int
large_heap(void)
{
	struct UnreachableMemoryInfo info = { 0 };
	char byte;

	lose_rings();
	scrub_stack();
	dprintf(1, "ready\n");
	while (read(0, &byte, 1) != 1)
		continue;
	GetUnreachableMemory(&info, 10);
	dprintf(1, "status %d\n", info.status);
	while (read(0, &byte, 1) > 0)
		continue;
	return 0;
}

static const struct scenario scenarios[] = {
	{ "large_heap", large_heap },
	{ NULL, NULL },
};

static bool
read_text(int pid, const char *name, char *text, size_t size)
{
	char path[64];
	FILE *file;
	size_t n;

	snprintf(path, sizeof(path), "/proc/%d/%s", pid, name);
	file = fopen(path, "r");
	if (file == NULL)
		return false;
	n = fread(text, 1, size - 1, file);
	text[n] = '\0';
	fclose(file);
	return n > 0;
}

/* False if PID is gone. */
static bool
look_at(struct rank *rank, int pid)
{
	char text[4096], *at;

	memset(rank, 0, sizeof(*rank));
	if (!read_text(pid, "stat", text, sizeof(text)))
		return false;
	at = strrchr(text, ')');
	ck_assert_ptr_nonnull(at);
	*at = '\0';
	snprintf(rank->name, sizeof(rank->name), "%s", strchr(text, '(') + 1);
	ck_assert_int_eq(sscanf(at + 2,
			     "%c %d %*d %*d %*d %*d %*u %*u %*u %*u %*u %*u "
			     "%*u %*d %*d %*d %d",
			     &rank->state, &rank->parent, &rank->nice),
	    3);
	rank->policy = sched_getscheduler(pid);
	if (!read_text(pid, "oom_score_adj", text, sizeof(text)))
		return false;
	rank->oom = atoi(text);
	if (!read_text(pid, "limits", text, sizeof(text)))
		return false;
	at = strstr(text, "Max core file size");
	ck_assert_ptr_nonnull(at);
	at[strcspn(at, "\n")] = '\0';
	snprintf(rank->core, sizeof(rank->core), "%s", at);
	return true;
}

static bool
has_answered(void)
{
	struct pollfd wait = { child.out, POLLIN, 0 };

	while (wait.fd >= 0 && poll(&wait, 1, 0) > 0) {
		child_take(&child.out, child.out_text, &child.out_length);
		wait.fd = child.out;
	}
	return child.out < 0 || strstr(child.out_text, "status") != NULL;
}

static int
find_sweeper(void)
{
	DIR *dir = opendir("/proc");
	struct dirent *entry;
	struct rank rank;
	int found = 0;

	while (found == 0 && (entry = readdir(dir)) != NULL) {
		if (atoi(entry->d_name) > 0 &&
		    look_at(&rank, atoi(entry->d_name)) &&
		    rank.parent == child.pid &&
		    strcmp(rank.name, "mu-sweeper") == 0)
			found = atoi(entry->d_name);
	}
	closedir(dir);
	return found;
}

/*
 * Hold the sweeper of a program with rank BEFORE while it is looked at, once it
 * has its own rank: the policy is set before the nice value, which cannot rise
 * above 19.
 */
static bool
catch_sweeper(struct rank *rank, const struct rank *before)
{
	bool there, ranked;
	int pid;

	do {
		pid = find_sweeper();
		if (pid == 0)
			continue;
		kill(pid, SIGSTOP);
		do
			there = look_at(rank, pid);
		while (there && rank->state != 'T' && rank->state != 'Z');
		kill(pid, SIGCONT);
		ranked = there &&
		    (before->nice == 19 ? rank->policy != SCHED_OTHER
					: rank->nice != before->nice);
		if (ranked && rank->state == 'T')
			return true;
	} while (!has_answered());
	return false;
}

TEST_LOOP(rank_of_the_sweeper, 0, 2)
{
	static const struct rlimit no_core = { 1, 1 };
	struct rank before, after, sweeper;
	int lower;

	/* By signal no collector exists whose limits it could inherit. */
	child_start(
	    &child, "large_heap", _i == 0 ? "stop=ptrace" : "stop=signal");
	child_await(&child, child.out_text, "ready", 1);
	ck_assert(look_at(&before, child.pid));
	child_say(&child, "x");
	ck_assert(catch_sweeper(&sweeper, &before));
	child_await(&child, child.out_text, "status 0\n", 1);
	ck_assert(look_at(&after, child.pid));

	lower = before.nice + 5 < 19 ? before.nice + 5 : 19;
	ck_assert_int_eq(sweeper.nice, lower);
	if (before.policy != SCHED_IDLE)
		ck_assert_int_eq(sweeper.policy, SCHED_BATCH);
	ck_assert_int_eq(sweeper.oom, 1000);
	/* Only a privileged process can raise a hard limit of 0. */
	ck_assert_msg(
	    strstr(sweeper.core, " 1                    1 ") != NULL ||
		setrlimit(RLIMIT_CORE, &no_core) != 0,
	    "%s", sweeper.core);

	ck_assert_int_eq(after.nice, before.nice);
	ck_assert_int_eq(after.policy, before.policy);
	ck_assert_int_eq(after.oom, before.oom);
	ck_assert_str_eq(after.core, before.core);
	child_finish(&child);
	child_assert_exit(&child, 0);
}

static void
pass(struct UnreachableMemoryInfo *info, size_t max_memory)
{
	FreeUnreachableMemoryInfo(info);
	mu_library.options.max_memory = max_memory;
	GetUnreachableMemory(info, 10);
}

static void
assert_checked(
    const struct UnreachableMemoryInfo *info, int status, size_t referenced)
{
	size_t i;

	ck_assert_msg(info->status == status, "status %d, %s", info->status,
	    info->reason);
	ck_assert_uint_eq(info->num_reported, 10);
	for (i = 0; i < info->num_reported; i++)
		ck_assert_uint_eq(info->leaks[i].referenced_count, referenced);
}

/*
 * With less and less memory: folded, not folded but counted, not checked; and
 * after each of them everything again.
 */
TEST(max_memory)
{
	static const size_t folded[] = { 0, 256 * MIB, 64 * MIB };
	static const size_t counted[] = { 6 * MIB, 4 * MIB, 3 * MIB };
	static const size_t failed[] = { MIB / 2, 65536, 4096, 1 };
	struct UnreachableMemoryInfo info = { 0 };
	size_t i, num_leaks, leak_bytes;

	lose_rings();
	scrub_stack();
	pass(&info, 0);
	assert_checked(&info, MEMUNREACHABLE_COMPLETE, RING - 1);
	num_leaks = info.num_leaks;
	leak_bytes = info.leak_bytes;
	ck_assert_uint_ge(num_leaks, BLOCKS - RING);
	for (i = 0; i < 3; i++) {
		pass(&info, folded[i]);
		assert_checked(&info, MEMUNREACHABLE_COMPLETE, RING - 1);
		ck_assert_uint_eq(info.num_leaks, num_leaks);

		pass(&info, counted[i]);
		assert_checked(&info, MEMUNREACHABLE_PARTIAL, 0);
		ck_assert_uint_eq(info.num_leaks, num_leaks);
		ck_assert_uint_eq(info.leak_bytes, leak_bytes);
		ck_assert_ptr_nonnull(strstr(info.reason, "one block"));
		ck_assert_ptr_nonnull(strstr(info.reason, "max_memory is "));
		ck_assert_ptr_nonnull(strstr(info.reason, "m would do"));
	}
	for (i = 0; i < 4; i++) {
		pass(&info, failed[i]);
		ck_assert_int_eq(info.status, MEMUNREACHABLE_NO_MEMORY);
		ck_assert_uint_eq(info.num_leaks, 0);
		ck_assert_msg(strstr(info.reason, "max_memory is ") != NULL &&
			strstr(info.reason, "m or more") != NULL,
		    "%s", info.reason);
	}
	pass(&info, 0);
	assert_checked(&info, MEMUNREACHABLE_COMPLETE, RING - 1);
	ck_assert_uint_eq(info.num_leaks, num_leaks);
	FreeUnreachableMemoryInfo(&info);
}

/* What the reason says would do does. */
TEST(advice)
{
	struct UnreachableMemoryInfo info = { 0 };
	const char *at;
	size_t mib;

	lose_rings();
	scrub_stack();
	pass(&info, 3 * MIB);
	assert_checked(&info, MEMUNREACHABLE_PARTIAL, 0);
	at = strstr(info.reason, "max_memory is 3m, ");
	ck_assert_ptr_nonnull(at);
	ck_assert_int_eq(
	    sscanf(at, "max_memory is 3m, %zum would do", &mib), 1);
	pass(&info, mib * MIB);
	assert_checked(&info, MEMUNREACHABLE_COMPLETE, RING - 1);
	FreeUnreachableMemoryInfo(&info);
}

static size_t
address_space(void)
{
	char text[256];

	ck_assert(read_text(getpid(), "statm", text, sizeof(text)));
	return strtoull(text, NULL, 10) * (size_t)sysconf(_SC_PAGESIZE);
}

/* The kernel's refusal is not put down to the option. */
TEST(no_address_space)
{
	struct UnreachableMemoryInfo info = { 0 };
	struct rlimit limit, old;
	size_t extra, refused = 0;

	lose_rings();
	scrub_stack();
	getrlimit(RLIMIT_AS, &old);
	for (extra = 65536; extra < 512 * MIB; extra = extra * 3 / 2) {
		limit = old;
		limit.rlim_cur = address_space() + extra;
		ck_assert_int_eq(setrlimit(RLIMIT_AS, &limit), 0);
		pass(&info, 0);
		setrlimit(RLIMIT_AS, &old);
		if (info.status == MEMUNREACHABLE_COMPLETE)
			break;
		refused++;
		ck_assert_ptr_null(strstr(info.reason, "max_memory"));
		if (info.status == MEMUNREACHABLE_PARTIAL)
			assert_checked(&info, MEMUNREACHABLE_PARTIAL, 0);
		else
			ck_assert_int_eq(info.status, MEMUNREACHABLE_NO_MEMORY);
	}
	ck_assert_int_eq(info.status, MEMUNREACHABLE_COMPLETE);
	ck_assert_uint_gt(refused, 0);
	FreeUnreachableMemoryInfo(&info);
}

SCENARIO_SUITE(scenarios, .timeout = 0);
