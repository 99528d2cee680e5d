/*
 * Whether there is room for a copy, by what is left and what the copy may need.
 */
#include <pthread.h>
#include <sys/prctl.h>

#include "lib/state/copy_budget.h"
#include "ptrace/live/proc.h"
#include "tests/support/suite.h"

#define MIB ((size_t)1 << 20)

static char meminfo[64];
static struct mu_copy_budget budget;
static struct mu_why why;

/* A machine with MIB left, and a process of 512 MiB. */
static void
have(size_t mib)
{
	static const struct mu_headroom_files none = { meminfo, "/none",
		"/none" };
	FILE *file = fopen(meminfo, "w");

	ck_assert_ptr_nonnull(file);
	fprintf(file, "MemAvailable: %zu kB\n", mib * 1024);
	ck_assert_int_eq(fclose(file), 0);
	mu_copy_budget_close(&budget);
	budget = (struct mu_copy_budget) {
		.tables = MIB,
		.private = 512 * MIB,
		.traced = true,
		.active = MU_COPY_ACTIVE,
		.tasks = SIZE_MAX,
	};
	mu_headroom_open_files(&budget.headroom, &none, NULL);
}

static void
setup(void)
{
	snprintf(meminfo, sizeof(meminfo), "/tmp/test_copy_budget.XXXXXX");
	close(mkstemp(meminfo));
	budget.headroom.meminfo = -1;
	why.text[0] = '\0';
}

static void
teardown(void)
{
	mu_copy_budget_close(&budget);
	unlink(meminfo);
}

TEST(enough)
{
	have(1024);
	ck_assert_int_eq(mu_copy_budget_check(&budget, true, &why), MU_OK);
	ck_assert(!budget.tight);
	ck_assert_int_eq(mu_copy_budget_check(&budget, false, &why), MU_OK);
	ck_assert(!mu_copy_budget_is_short(&budget));
}

/*
 * There is no room for everything that the process may write, so the OOM killer
 * must prefer the copy.
 */
TEST(tight)
{
	have(256);
	ck_assert_int_eq(mu_copy_budget_check(&budget, true, &why), MU_OK);
	ck_assert(budget.tight);
	ck_assert(!mu_copy_budget_is_short(&budget));
	ck_assert_uint_gt(budget.next_ns, 0);
	ck_assert_int_eq(
	    mu_copy_budget_check(&budget, false, &why), MU_ERR_NO_MEMORY);
}

TEST(none)
{
	have(20);
	ck_assert_int_eq(
	    mu_copy_budget_check(&budget, true, &why), MU_ERR_NO_MEMORY);
	ck_assert_msg(strstr(why.text, "machine has 20 MiB left") != NULL, "%s",
	    why.text);
	ck_assert_msg(
	    strstr(why.text, "needs about 609 MiB") != NULL, "%s", why.text);
	ck_assert(mu_copy_budget_is_short(&budget));
}

/* What is read in the same group, and shared memory, count, too. */
TEST(more)
{
	have(1024);
	budget.reader = 512 * MIB;
	ck_assert_int_eq(mu_copy_budget_check(&budget, true, &why), MU_OK);
	ck_assert(budget.tight);
	have(1024);
	budget.shared = 512 * MIB;
	ck_assert_int_eq(mu_copy_budget_check(&budget, true, &why), MU_OK);
	ck_assert(budget.tight);
}

/* The OOM killer would take the process with the copy. */
TEST(kills_all)
{
	have(256);
	budget.headroom.kills_all = true;
	ck_assert_int_eq(
	    mu_copy_budget_check(&budget, true, &why), MU_ERR_NO_MEMORY);
	have(1024);
	budget.headroom.kills_all = true;
	ck_assert_int_eq(mu_copy_budget_check(&budget, true, &why), MU_OK);
}

/* Of another process: nothing is risked there. */
TEST(unseen)
{
	have(1024);
	budget.headroom.unseen = true;
	ck_assert_int_eq(
	    mu_copy_budget_check(&budget, true, &why), MU_ERR_NO_MEMORY);
	ck_assert_msg(
	    strstr(why.text, "cannot be seen") != NULL, "%s", why.text);
	budget.traced = false;
	ck_assert_int_eq(mu_copy_budget_check(&budget, true, &why), MU_OK);
}

static pid_t
start_child(bool busy)
{
	pid_t child = fork();

	ck_assert_int_ge(child, 0);
	if (child > 0)
		return child;
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	for (;;)
		if (!busy)
			pause();
}

static void
end_child(pid_t child)
{
	kill(child, SIGKILL);
	waitpid(child, NULL, 0);
}

/* What hardly runs hardly writes. */
TEST(quiet)
{
	pid_t child = start_child(false);

	usleep(50000);
	have(8);
	budget.pid = child;
	ck_assert_int_eq(mu_copy_budget_check(&budget, true, &why), MU_OK);
	ck_assert(budget.tight);
	ck_assert(!mu_copy_budget_is_short(&budget));
	have(1);
	budget.pid = child;
	ck_assert_int_eq(
	    mu_copy_budget_check(&budget, true, &why), MU_ERR_NO_MEMORY);
	ck_assert_msg(strstr(why.text,
			  "has 1 MiB left, a check needs about 4 MiB") != NULL,
	    "%s", why.text);
	end_child(child);
}

TEST(busy)
{
	pid_t child = start_child(true);

	have(8);
	budget.pid = child;
	ck_assert_int_eq(
	    mu_copy_budget_check(&budget, true, &why), MU_ERR_NO_MEMORY);
	end_child(child);
}

/* Without a tracer the OOM killer may take the process. */
TEST(untraced)
{
	pid_t child = start_child(false);

	usleep(50000);
	have(256);
	budget.traced = false;
	ck_assert_int_eq(
	    mu_copy_budget_check(&budget, true, &why), MU_ERR_NO_MEMORY);
	have(8);
	budget.traced = false;
	budget.pid = child;
	ck_assert_int_eq(
	    mu_copy_budget_check(&budget, true, &why), MU_ERR_NO_MEMORY);
	have(32);
	budget.traced = false;
	budget.pid = child;
	ck_assert_int_eq(mu_copy_budget_check(&budget, true, &why), MU_OK);
	end_child(child);
}

static void *
rest(void *unused)
{
	for (;;)
		pause();
	return unused;
}

static bool
has_ended(pid_t pid)
{
	return mu_proc_ended(mu_proc_state(pid, pid));
}

/* The status file of the first thread tells no memory then. */
TEST(first_thread_has_ended)
{
	pid_t child = fork();
	pthread_t thread;
	char *memory;

	if (child == 0) {
		memory = malloc(64 * MIB);
		memset(memory, 1, 64 * MIB);
		__asm__ volatile("" : : "r"(memory) : "memory");
		pthread_create(&thread, NULL, rest, NULL);
		pthread_exit(NULL);
	}
	while (!has_ended(child))
		usleep(1000);
	mu_copy_budget_open(&budget, child, NULL);
	ck_assert_uint_ge(budget.private, 64 * MIB);
	ck_assert_uint_gt(budget.tables, 0);
	end_child(child);
}

/* A reader in another group uses the machine's memory only. */
TEST(apart)
{
	have(512);
	budget.reader = 512 * MIB;
	budget.apart = true;
	ck_assert_int_eq(
	    mu_copy_budget_check(&budget, true, &why), MU_ERR_NO_MEMORY);
	have(1536);
	budget.reader = 512 * MIB;
	budget.apart = true;
	ck_assert_int_eq(mu_copy_budget_check(&budget, true, &why), MU_OK);
	ck_assert(!budget.tight);
}

SUITE(.setup = setup, .teardown = teardown);
