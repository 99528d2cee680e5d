/* Which processes hold record locks, by the text of /proc/locks. */
#include "ptrace/live/record_locks.h"
#include "tests/support/suite.h"

static bool
is_in(const char *text, pid_t pid)
{
	return mu_record_locks_in(text, text + strlen(text), pid);
}

TEST(by_text)
{
	static const char text[] =
	    "1: FLOCK  ADVISORY  WRITE 17 fe:01:1835 0 EOF\n"
	    "2: POSIX  ADVISORY  READ  4711 fe:01:1835 128 128\n"
	    "2: -> POSIX  ADVISORY  WRITE 18 fe:01:1835 128 128\n"
	    "3: OFDLCK ADVISORY  WRITE -1 fe:01:1836 0 EOF\n"
	    "4: LEASE  ACTIVE    READ 19 fe:01:1837 0 EOF\n"
	    "5: POSIX  MANDATORY WRITE 20 fe:01:1835 5 9";

	ck_assert(is_in(text, 4711));
	ck_assert(is_in(text, 20));
	ck_assert(!is_in(text, 17));
	ck_assert(!is_in(text, 18));
	ck_assert(!is_in(text, 19));
	ck_assert(!is_in(text, 471));
	ck_assert(!is_in(text, 1835));
	ck_assert(!is_in("", 1));
	ck_assert(!is_in(": POSIX ", 1));
	ck_assert(!is_in(": POSIX  ADVISORY  WRITE", 1));
	ck_assert(!is_in("1: POSIX  ADVISORY  WRITE x", 1));
}

TEST(of_this_process)
{
	struct flock lock = { .l_type = F_WRLCK, .l_len = 1 };
	FILE *file = tmpfile();

	ck_assert_ptr_nonnull(file);
	ck_assert(!mu_record_locks_held(getpid()));
	ck_assert_int_eq(fcntl(fileno(file), F_OFD_SETLK, &lock), 0);
	ck_assert(!mu_record_locks_held(getpid()));
	lock.l_start = 1;
	ck_assert_int_eq(fcntl(fileno(file), F_SETLK, &lock), 0);
	ck_assert(mu_record_locks_held(getpid()));
	fclose(file);
	ck_assert(!mu_record_locks_held(getpid()));
}
