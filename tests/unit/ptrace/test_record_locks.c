/* Whether a process holds record locks, by the text of /proc/PID/fdinfo. */
#include <limits.h>
#include <sys/file.h>

#include "ptrace/live/record_locks.h"
#include "tests/support/suite.h"

#define HEAD "pos:\t0\nflags:\t02100002\nmnt_id:\t29\nino:\t1835\nlock:\t1: "

static bool
is_in(const char *text)
{
	return mu_record_locks_in(text, text + strlen(text));
}

static bool
are_held(void)
{
	return mu_record_locks_held(getpid(), UINT64_MAX);
}

TEST(by_text)
{
	ck_assert(!is_in(""));
	ck_assert(!is_in("lock:\t"));
	ck_assert(!is_in("pos:\t0\nother: POSIX \n"));
	ck_assert(!is_in(HEAD "FLOCK  ADVISORY  WRITE 17 fe:01:18 0 EOF\n"));
	ck_assert(!is_in(HEAD "OFDLCK ADVISORY  WRITE -1 fe:01:18 0 EOF\n"));
	ck_assert(!is_in(HEAD "LEASE  ACTIVE    READ 19 fe:01:18 0 EOF\n"));
	ck_assert(is_in(HEAD "FLOCK  ADVISORY  WRITE 17 fe:01:18 0 EOF\n"
			     "lock:\t2: POSIX  ADVISORY  READ 17 fe:01:18 5 5\n"
			     "tfd: 5\n"));
	/* The last line may be cut. */
	ck_assert(is_in(HEAD "POSIX  MAND"));
}

TEST(of_this_process)
{
	struct flock lock = { .l_type = F_WRLCK, .l_len = 1 };
	FILE *file = tmpfile();

	ck_assert_ptr_nonnull(file);
	ck_assert(!are_held());
	ck_assert_int_eq(flock(fileno(file), LOCK_EX), 0);
	ck_assert(!are_held());
	ck_assert_int_eq(fcntl(fileno(file), F_OFD_SETLK, &lock), 0);
	ck_assert(!are_held());
	lock.l_start = 1;
	ck_assert_int_eq(fcntl(fileno(file), F_SETLK, &lock), 0);
	ck_assert(are_held());
	fclose(file);
	ck_assert(!are_held());
}

/* Locks belong to a table of descriptors: a child's is another one. */
TEST(of_another_table)
{
	struct flock lock = { .l_type = F_WRLCK };
	FILE *file = tmpfile();
	int status;
	pid_t pid;

	ck_assert_ptr_nonnull(file);
	ck_assert_int_eq(fcntl(fileno(file), F_SETLK, &lock), 0);
	pid = fork();
	if (pid == 0)
		_exit(are_held());
	ck_assert_int_eq(waitpid(pid, &status, 0), pid);
	ck_assert_int_eq(status, 0);
	ck_assert(are_held());
	fclose(file);
}

TEST(assumed)
{
	ck_assert(mu_record_locks_held(getpid(), 0));
	ck_assert(mu_record_locks_held(INT_MAX, UINT64_MAX)); /* no process */
}
