/*
 * /proc is missing, hidden, or that of another namespace: the answer is
 * complete where we can mount a procfs, otherwise the reason says which of
 * these it is and what helps. The mounts are those of a private namespace,
 * which needs root.
 */
#include <sys/mount.h>
#include <sys/resource.h>

#include "mu/procfs.h"
#include "tests/support/faults/causes.h"
#include "tests/support/suite.h"

/* Both stop methods read /proc. */
static void
both_must_say(int status, const char *words, const char *cure)
{
	mu_library.options.stop = MU_STOP_PTRACE;
	must_say(status, words, cure);
	mu_library.options.stop = MU_STOP_SIGNAL;
	must_say(status, words, cure);
}

static void
private_mounts(void)
{
	ck_assert_int_eq(unshare(CLONE_NEWNS), 0);
	ck_assert_int_eq(mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL), 0);
}

/* 0: nothing there, 1: something else over it. */
static void
lose_proc(int how)
{
	private_mounts();
	if (how == 0)
		ck_assert_int_eq(umount2("/proc", MNT_DETACH), 0);
	else
		ck_assert_int_eq(mount("none", "/proc", "tmpfs", 0, NULL), 0);
}

/* The lowest free one shows that none was left open. */
static int
lowest_descriptor(void)
{
	int fd = dup(0);

	close(fd);
	return fd;
}

static bool
has_fsmount(void)
{
	struct mu_why why;
	bool has = mu_procfs_enter(&why) == MU_OK;

	if (!has)
		printf("SKIPPED: no stand-in for /proc here: %s\n", why.text);
	mu_procfs_leave();
	return has;
}

START_TEST(absent)
{
	int lowest;

	lose_proc(_i);
	lowest = lowest_descriptor();
	if (!has_fsmount())
		return;
	both_must_say(MEMUNREACHABLE_COMPLETE, "", "");
	ck_assert_int_eq(lowest_descriptor(), lowest);
	ck_assert_int_eq(mu_procfs_descriptor(), -1);
	ck_assert_int_ne(access("/proc/self/maps", F_OK), 0);
	mu_library.options.stop = MU_STOP_AUTO;
	must_say(MEMUNREACHABLE_COMPLETE, "", "");
}
END_TEST

START_TEST(absent_for_good)
{
	lose_proc(_i);
	become_nobody();
	both_must_say(MEMUNREACHABLE_NO_PROC, "/proc is not there",
	    "; mount -t proc proc /proc");
	mu_library.options.stop = MU_STOP_AUTO;
	must_say(MEMUNREACHABLE_NO_PROC, "/proc is not there", "mount");
}
END_TEST

/* /proc comes and goes from one pass to the next. */
START_TEST(back_again)
{
	lose_proc(1);
	if (has_fsmount())
		must_say(MEMUNREACHABLE_COMPLETE, "", "");
	ck_assert_int_eq(umount("/proc"), 0);
	must_say(MEMUNREACHABLE_COMPLETE, "", "");
	ck_assert_int_eq(mu_procfs_descriptor(), -1);
}
END_TEST

START_TEST(no_descriptor_for_a_stand_in)
{
	struct rlimit limit = { 0, 0 };

	lose_proc(0);
	ck_assert_int_eq(setrlimit(RLIMIT_NOFILE, &limit), 0);
	must_say(MEMUNREACHABLE_NO_PROC, "/proc is not there", "; mount");
}
END_TEST

/*
 * The numbers in this /proc are those of other processes, which must not be
 * examined.
 */
static void
in_a_new_namespace(bool as_root)
{
	mu_library.options.stop = MU_STOP_PTRACE;
	pthread_mutex_init(&causes_held, NULL);
	causes_setup();
	if (!as_root)
		become_nobody();
	if (as_root && has_fsmount())
		both_must_say(MEMUNREACHABLE_COMPLETE, "", "");
	if (!as_root)
		both_must_say(MEMUNREACHABLE_NO_PROC,
		    "/proc shows another PID namespace", "; mount -t proc");
	_exit(0);
}

START_TEST(another_namespace)
{
	int status;
	pid_t pid;

	ck_assert_int_eq(unshare(CLONE_NEWPID), 0);
	pid = fork();
	if (pid == 0)
		in_a_new_namespace(_i == 0);
	ck_assert_int_eq(waitpid(pid, &status, 0), pid);
	ck_assert_int_eq(status, 0);
}
END_TEST

/*
 * After unshare(CLONE_NEWPID) the next child is the first process of the new
 * namespace: its end would be the end of that.
 */
START_TEST(children_elsewhere)
{
	int status;
	pid_t pid;

	ck_assert_int_eq(unshare(CLONE_NEWPID), 0);
	both_must_say(MEMUNREACHABLE_NO_RESOURCES, "another PID namespace",
	    "; ask before");
	pid = fork();
	if (pid == 0)
		_exit(getpid() == 1 ? 0 : 1);
	ck_assert_int_gt(pid, 0);
	ck_assert_int_eq(waitpid(pid, &status, 0), pid);
	ck_assert_int_eq(status, 0);
}
END_TEST

static const char *const hidden[] = { "hidepid=1", "hidepid=2", "hidepid=4",
	"subset=pid", "hidepid=4,subset=pid" };

/* Hidden are processes that ptrace may not read: that can be our own. */
START_TEST(hidden_from_nobody)
{
	private_mounts();
	if (mount("proc", "/proc", "proc", 0, hidden[_i]) != 0) {
		printf("SKIPPED: no %s here\n", hidden[_i]);
		return;
	}
	become_nobody();
	both_must_say(MEMUNREACHABLE_COMPLETE, "", "");
	prctl(PR_SET_DUMPABLE, 0, 0, 0, 0);
	mu_library.options.stop = MU_STOP_PTRACE;
	must_say(MEMUNREACHABLE_NOT_DUMPABLE, "is not dumpable",
	    "; set it dumpable");
	mu_library.options.stop = MU_STOP_AUTO;
	must_say(MEMUNREACHABLE_COMPLETE, "", "");
}
END_TEST

/* In a chroot "/" is no mount, and what is mounted below is everybody's. */
static bool
can_mount(void)
{
	int status = -1;
	pid_t pid = fork();

	if (pid == 0)
		_exit(unshare(CLONE_NEWNS) != 0 ||
		    mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) != 0);
	return pid > 0 && waitpid(pid, &status, 0) == pid && status == 0;
}

int
main(void)
{
	Suite *suite = suite_create("proc places");
	TCase *tc = tcase_create("proc places");

	if (!can_mount()) {
		printf("SKIPPED: proc places: no mounts of our own here\n");
		return 77;
	}
	tcase_set_timeout(tc, 240);
	tcase_add_checked_fixture(tc, causes_setup, NULL);
	if (geteuid() == 0 && unshare(CLONE_NEWNS) == 0) {
		tcase_add_loop_test(tc, absent, 0, 2);
		tcase_add_loop_test(tc, absent_for_good, 0, 2);
		tcase_add_test(tc, back_again);
		tcase_add_test(tc, no_descriptor_for_a_stand_in);
		tcase_add_loop_test(tc, another_namespace, 0, 2);
		tcase_add_test(tc, children_elsewhere);
		tcase_add_loop_test(tc, hidden_from_nobody, 0,
		    (int)(sizeof(hidden) / sizeof(hidden[0])));
	} else {
		printf("SKIPPED: proc places need root and mount namespaces\n");
	}
	suite_add_tcase(suite, tc);
	return suite_run(suite);
}
