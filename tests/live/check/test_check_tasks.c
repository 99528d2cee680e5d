/*
 * A program whose cgroup has hardly room for another task (pids.max). A copy
 * would use that room, and the program could not start a thread; so the process
 * is read without a copy.
 */
#include <sys/prctl.h>
#include <sys/stat.h>

#include "lib/check/check.h"
#include "tests/support/suite.h"

static char group[128];
static pid_t target;

static bool
put(const char *name, const char *text)
{
	char path[192];
	ssize_t n;
	int fd;

	snprintf(path, sizeof(path), "%s/%s", group, name);
	fd = open(path, O_WRONLY | O_CLOEXEC);
	if (fd < 0)
		return false;
	n = write(fd, text, strlen(text));
	close(fd);
	return n == (ssize_t)strlen(text);
}

/* A cgroup of version 1 or 2. */
static bool
make_group(const char *limit)
{
	static const char *const roots[] = { "/sys/fs/cgroup/pids",
		"/sys/fs/cgroup" };
	size_t i;

	for (i = 0; i < 2; i++) {
		snprintf(group, sizeof(group), "%s/mu-tasks-%d", roots[i],
		    (int)getpid());
		if (mkdir(group, 0700) == 0 && put("pids.max", limit))
			return true;
		rmdir(group);
	}
	printf("SKIPPED: no group with a limit of threads can be made here\n");
	return false;
}

static void
start(void)
{
	char number[16];

	target = fork();
	ck_assert_int_ge(target, 0);
	if (target == 0) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		for (;;)
			pause();
	}
	snprintf(number, sizeof(number), "%d", (int)target);
	ck_assert(put("cgroup.procs", number));
}

static void
end(void)
{
	int i;

	kill(target, SIGKILL);
	ck_assert_int_eq(waitpid(target, NULL, 0), target);
	for (i = 0; i < 1000 && rmdir(group) != 0; i++)
		usleep(1000);
}

static enum mu_status
look(enum mu_check_stop stop, struct mu_report *answer)
{
	struct mu_check check = {
		.pid = target,
		.stop = stop,
		.timeout_ns = 60ull * 1000 * 1000 * 1000,
		.max_pause_ns = 10ull * 1000 * 1000 * 1000,
		.limit = 10,
	};

	return mu_check_process(&check, answer);
}

TEST(few)
{
	struct mu_report answer;

	if (!make_group("4"))
		return;
	start();
	ck_assert_int_eq(look(MU_CHECK_STOP_AUTO, &answer), MU_OK);
	ck_assert_str_eq(answer.stop, "read");
	mu_check_release(&answer);
	ck_assert_int_eq(look(MU_CHECK_STOP_FORK, &answer), MU_ERR_RESOURCES);
	ck_assert_msg(strstr(answer.info.reason, "only 3 more") != NULL, "%s",
	    answer.info.reason);
	mu_check_release(&answer);
	end();
}

TEST(enough)
{
	struct mu_report answer;

	if (!make_group("100"))
		return;
	start();
	ck_assert_int_eq(look(MU_CHECK_STOP_AUTO, &answer), MU_OK);
	ck_assert_str_eq(answer.stop, "fork");
	mu_check_release(&answer);
	end();
}
