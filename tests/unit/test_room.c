/*
 * Whether a copy has room, by what is left and what it may need.
 */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "lib/state/room.h"
#include "tests/support/suite.h"

#define MIB ((size_t)1 << 20)

static char meminfo[64];
static struct mu_room room;
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
	mu_room_close(&room);
	room = (struct mu_room) {
		.tables = MIB,
		.private = 512 * MIB,
		.traced = true,
		.active = MU_ROOM_ACTIVE,
	};
	mu_headroom_open_files(&room.headroom, &none);
}

static void
setup(void)
{
	snprintf(meminfo, sizeof(meminfo), "/tmp/test_room.XXXXXX");
	close(mkstemp(meminfo));
	room.headroom.meminfo = -1;
	why.words[0] = '\0';
}

static void
teardown(void)
{
	mu_room_close(&room);
	unlink(meminfo);
}

TEST(enough)
{
	have(1024);
	ck_assert_int_eq(mu_room_judge(&room, true, &why), MU_OK);
	ck_assert(!room.tight);
	ck_assert_int_eq(mu_room_judge(&room, false, &why), MU_OK);
	ck_assert(!mu_room_is_short(&room));
}

/* Not for everything that the process may write: the copy must be preferred. */
TEST(tight)
{
	have(256);
	ck_assert_int_eq(mu_room_judge(&room, true, &why), MU_OK);
	ck_assert(room.tight);
	ck_assert(!mu_room_is_short(&room));
	ck_assert_uint_gt(room.next_ns, 0);
	ck_assert_int_eq(mu_room_judge(&room, false, &why), MU_ERR_NO_MEMORY);
}

TEST(none)
{
	have(20);
	ck_assert_int_eq(mu_room_judge(&room, true, &why), MU_ERR_NO_MEMORY);
	ck_assert_msg(strstr(why.words, "machine has 20 MiB left") != NULL,
	    "%s", why.words);
	ck_assert_msg(
	    strstr(why.words, "needs about 609 MiB") != NULL, "%s", why.words);
	ck_assert(mu_room_is_short(&room));
}

/* What is read in the same group, and shared memory, count, too. */
TEST(more)
{
	have(1024);
	room.reader = 512 * MIB;
	ck_assert_int_eq(mu_room_judge(&room, true, &why), MU_OK);
	ck_assert(room.tight);
	have(1024);
	room.shared = 512 * MIB;
	ck_assert_int_eq(mu_room_judge(&room, true, &why), MU_OK);
	ck_assert(room.tight);
}

/* The OOM killer would take the process with the copy. */
TEST(kills_all)
{
	have(256);
	room.headroom.kills_all = true;
	ck_assert_int_eq(mu_room_judge(&room, true, &why), MU_ERR_NO_MEMORY);
	have(1024);
	room.headroom.kills_all = true;
	ck_assert_int_eq(mu_room_judge(&room, true, &why), MU_OK);
}

/* Of another process: nothing is risked there. */
TEST(unseen)
{
	have(1024);
	room.headroom.unseen = true;
	ck_assert_int_eq(mu_room_judge(&room, true, &why), MU_ERR_NO_MEMORY);
	ck_assert_msg(
	    strstr(why.words, "cannot be seen") != NULL, "%s", why.words);
	room.traced = false;
	ck_assert_int_eq(mu_room_judge(&room, true, &why), MU_OK);
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
	room.pid = child;
	ck_assert_int_eq(mu_room_judge(&room, true, &why), MU_OK);
	ck_assert(room.tight);
	ck_assert(!mu_room_is_short(&room));
	have(1);
	room.pid = child;
	ck_assert_int_eq(mu_room_judge(&room, true, &why), MU_ERR_NO_MEMORY);
	ck_assert_msg(strstr(why.words,
			  "has 1 MiB left, a check needs about 4 MiB") != NULL,
	    "%s", why.words);
	end_child(child);
}

TEST(busy)
{
	pid_t child = start_child(true);

	have(8);
	room.pid = child;
	ck_assert_int_eq(mu_room_judge(&room, true, &why), MU_ERR_NO_MEMORY);
	end_child(child);
}

/* Without a tracer the OOM killer may take the process. */
TEST(untraced)
{
	pid_t child = start_child(false);

	usleep(50000);
	have(256);
	room.traced = false;
	ck_assert_int_eq(mu_room_judge(&room, true, &why), MU_ERR_NO_MEMORY);
	have(8);
	room.traced = false;
	room.pid = child;
	ck_assert_int_eq(mu_room_judge(&room, true, &why), MU_ERR_NO_MEMORY);
	have(32);
	room.traced = false;
	room.pid = child;
	ck_assert_int_eq(mu_room_judge(&room, true, &why), MU_OK);
	end_child(child);
}

/* A reader in another group uses the machine's memory only. */
TEST(apart)
{
	have(512);
	room.reader = 512 * MIB;
	room.apart = true;
	ck_assert_int_eq(mu_room_judge(&room, true, &why), MU_ERR_NO_MEMORY);
	have(1536);
	room.reader = 512 * MIB;
	room.apart = true;
	ck_assert_int_eq(mu_room_judge(&room, true, &why), MU_OK);
	ck_assert(!room.tight);
}

SUITE(.setup = setup, .teardown = teardown);
