#include "tests/support/faults/causes.h"

/*
 * Alone that takes two lines of a log; the reasons of both stop methods share
 * 255 bytes.
 */
#define WORDS_MAX 150

pthread_mutex_t causes_held = PTHREAD_MUTEX_INITIALIZER;

/* A thread that has to be stopped. */
static void *
causes_wait(void *unused)
{
	pthread_mutex_lock(&causes_held);
	return unused;
}

void
causes_setup(void)
{
	pthread_t thread;

	/* Supervisors of calls end; their parent awaits that. */
	signal(SIGCHLD, unharmed_on_sigchld);
	mu_library.options.stop = MU_STOP_PTRACE;
	pthread_mutex_lock(&causes_held);
	ck_assert_int_eq(pthread_create(&thread, NULL, causes_wait, NULL), 0);
}

void
check_info(const struct UnreachableMemoryInfo *info, int status,
    const char *words, const char *cure)
{
	ck_assert_msg(info->status == status, "status %s: %s",
	    memunreachable_status_name(info->status), info->reason);
	ck_assert_msg(strstr(info->reason, words) != NULL,
	    "\"%s\" has no \"%s\"", info->reason, words);
	ck_assert_msg(strstr(info->reason, cure) != NULL,
	    "\"%s\" has no \"%s\"", info->reason, cure);
	ck_assert_uint_lt(strlen(info->reason), WORDS_MAX);
	if (getenv("CAUSES_TABLE") != NULL)
		printf("| %s | %s |\n", memunreachable_status_name(status),
		    info->reason);
}

void
must_say(int status, const char *words, const char *cure)
{
	struct UnreachableMemoryInfo info = { .leaks = NULL };
	bool checked = GetUnreachableMemory(&info, 10);

	ck_assert_int_eq(checked,
	    info.status == MEMUNREACHABLE_COMPLETE ||
		info.status == MEMUNREACHABLE_PARTIAL);
	check_info(&info, status, words, cure);
	FreeUnreachableMemoryInfo(&info);
}

void
become_nobody(void)
{
	gid_t nobody = 20000 + (gid_t)getpid() % 40000;

	if (geteuid() == 0) {
		ck_assert_int_eq(setresgid(nobody, nobody, nobody), 0);
		ck_assert_int_eq(setresuid(nobody, nobody, nobody), 0);
	}
	ck_assert_int_eq(prctl(PR_SET_DUMPABLE, 1, 0, 0, 0), 0);
}
