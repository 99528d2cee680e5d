/*
 * include/mu/report_file.c: which files may take a report, by owner and mode,
 * and how they are written.
 */
#include "include/mu/report_file.h"

#include <sys/resource.h>

#include "mu/sys.h"
#include "tests/support/suite.h"

#define NOBODY 65534

struct kind {
	mode_t mode;
	uid_t user; /* less the effective one: 0 = ours */
	nlink_t names;
	const char *fault; /* how it begins; NULL: none */
};

#define OTHER "it belongs to another user"
#define WRITE "other users may write to it"

/* A file of user 1000, who is neither root nor NOBODY. */
static const struct kind kinds[] = {
	{ S_IFREG | 0600, 1000, 1, NULL },
	{ S_IFREG | 0644, 1000, 1, NULL },
	{ S_IFREG | 0644, 0, 1, NULL },
	{ S_IFREG | 0600, NOBODY, 1, OTHER },
	{ S_IFREG | 0666, NOBODY, 1, OTHER },
	{ S_IFREG | 0620, 1000, 1, WRITE },
	{ S_IFREG | 0602, 1000, 1, WRITE },
	{ S_IFREG | 0666, 0, 1, WRITE },
	{ S_IFREG | 0600, 1000, 2, "it has another name" },
	{ S_IFIFO | 0600, 1000, 1, NULL },
	{ S_IFIFO | 0644, 1000, 1, NULL },
	{ S_IFIFO | 0622, 1000, 1, WRITE },
	{ S_IFIFO | 0600, 0, 1, OTHER },
	{ S_IFIFO | 0600, NOBODY, 1, OTHER },
	{ S_IFCHR | 0666, 0, 1, NULL },
	{ S_IFCHR | 0620, 1000, 1, NULL },
	{ S_IFCHR | 0620, NOBODY, 1, OTHER },
	{ S_IFLNK | 0777, 1000, 1, "it is a symbolic link" },
	{ S_IFDIR | 0700, 1000, 2, "Is a directory" },
	{ S_IFSOCK | 0700, 1000, 1, "it is neither" },
	{ S_IFBLK | 0600, 0, 1, "it is neither" },
};

TEST_LOOP(whose_it_may_be, 0, (int)(sizeof(kinds) / sizeof(kinds[0])))
{
	const struct kind *kind = &kinds[_i];
	struct stat status = {
		.st_mode = kind->mode,
		.st_uid = kind->user,
		.st_nlink = kind->names,
	};
	const char *fault;

	if (geteuid() != 0) {
		puts("SKIPPED: only root can be another user");
		return;
	}
	ck_assert_int_eq(seteuid(1000), 0);
	fault = mu_report_file_fault(&status);
	if (kind->fault == NULL)
		ck_assert_ptr_null(fault);
	else
		ck_assert_int_eq(
		    strncmp(fault, kind->fault, strlen(kind->fault)), 0);
}

static void
fill(int fd)
{
	static const char zeros[4096];

	while (write(fd, zeros, sizeof(zeros)) > 0)
		continue;
	ck_assert_int_eq(errno, EAGAIN);
}

TEST(full_pipe_is_not_waited_for_long)
{
	int ends[2];

	ck_assert_int_eq(pipe2(ends, O_NONBLOCK), 0);
	fill(ends[1]);
	ck_assert_int_eq(mu_report_file_write(ends[1], "text", 4,
			     mu_sys_now_ns() + MU_NS_PER_SEC / 10),
	    ETIMEDOUT);
	ck_assert_int_eq(
	    mu_report_file_write(ends[1], "text", 4, 0), ETIMEDOUT);
}

TEST(none_is_killed)
{
	struct rlimit small = { 100, RLIM_INFINITY }, old;
	char text[100] = "", name[] = "/tmp/test_report_file.XXXXXX";
	int ends[2], fd, full, over;
	sigset_t pending;

	ck_assert_int_eq(pipe(ends), 0);
	close(ends[0]);
	ck_assert_int_eq(mu_report_file_write(ends[1], "text", 4, 0), EPIPE);
	fd = mkstemp(name);
	unlink(name);
	/* check's own files are longer. */
	getrlimit(RLIMIT_FSIZE, &old);
	small.rlim_max = old.rlim_max;
	setrlimit(RLIMIT_FSIZE, &small);
	full = mu_report_file_write(fd, text, sizeof(text), 0);
	over = mu_report_file_write(fd, text, 1, 0);
	setrlimit(RLIMIT_FSIZE, &old);
	ck_assert_int_eq(full, 0);
	ck_assert_int_eq(over, EFBIG);
	sigpending(&pending);
	ck_assert_int_eq(sigismember(&pending, SIGPIPE), 0);
	ck_assert_int_eq(sigismember(&pending, SIGXFSZ), 0);
}
