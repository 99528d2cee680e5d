/*
 * Whether a copy has room, by what is left and what it may need.
 */
#include <check.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "lib/room.h"
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
		.page_tables = MIB,
		.private = 512 * MIB,
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

START_TEST(enough)
{
	have(1024);
	ck_assert_int_eq(mu_room_judge(&room, true, &why), MU_OK);
	ck_assert(!room.tight);
	ck_assert_int_eq(mu_room_judge(&room, false, &why), MU_OK);
	ck_assert(!mu_room_is_short(&room));
}
END_TEST

/* Not for everything that the process may write: the copy must be preferred. */
START_TEST(tight)
{
	have(256);
	ck_assert_int_eq(mu_room_judge(&room, true, &why), MU_OK);
	ck_assert(room.tight);
	ck_assert(!mu_room_is_short(&room));
	ck_assert_uint_gt(room.next_ns, 0);
	ck_assert_int_eq(mu_room_judge(&room, false, &why), MU_ERR_NO_MEMORY);
}
END_TEST

START_TEST(none)
{
	have(20);
	ck_assert_int_eq(mu_room_judge(&room, true, &why), MU_ERR_NO_MEMORY);
	ck_assert_msg(strstr(why.words, "machine has 20 MiB left") != NULL,
	    "%s", why.words);
	ck_assert_msg(
	    strstr(why.words, "needs about 613 MiB") != NULL, "%s", why.words);
	ck_assert(mu_room_is_short(&room));
}
END_TEST

/* What is mirrored in the same group, and shared memory, count, too. */
START_TEST(more)
{
	have(1024);
	room.mirror = 512 * MIB;
	ck_assert_int_eq(mu_room_judge(&room, true, &why), MU_OK);
	ck_assert(room.tight);
	have(1024);
	room.shared = 512 * MIB;
	ck_assert_int_eq(mu_room_judge(&room, true, &why), MU_OK);
	ck_assert(room.tight);
}
END_TEST

int
main(void)
{
	Suite *suite = suite_create("room");
	TCase *tcase = tcase_create("room");

	tcase_add_checked_fixture(tcase, setup, teardown);
	tcase_add_test(tcase, enough);
	tcase_add_test(tcase, tight);
	tcase_add_test(tcase, none);
	tcase_add_test(tcase, more);
	suite_add_tcase(suite, tcase);
	return suite_run(suite);
}
