/*
 * A program that lost blocks is asked from within, and then again from its
 * core: by the kernel and by gcore, whole and cut short, plain and compressed,
 * with its files at hand and without; and from outside while it runs. The same
 * blocks, address by address.
 */
#include <gnu/libc-version.h>

#include "lib/check/check.h"
#include "tests/support/answer_array.h"
#include "tests/support/core_victim.h"
#include "tests/support/suite.h"

#define CUTS 40

/* Chain, cycle, single, mmapped, guarded, and one of each further thread. */
#define PLANTED(threads) (5 + 3 + 1 + 1 + 4 + (threads)-1)

static const struct mu_core_paths usual = { NULL, NULL };
static const struct mu_core_paths nowhere = { NULL, "/nonexistent" };

static struct core_victim victim;
static char path[PATH_MAX];

static void
start(const char *threads)
{
	core_victim_start(&victim, threads);
	core_show("in the process", &victim.own);
	ck_assert_uint_eq(victim.own.num_leaks, PLANTED((size_t)atoi(threads)));
}

static void
stop(void)
{
	core_victim_clean(&victim);
}

static void
expect_same(enum mu_status status)
{
	struct core_answer answer;

	core_ask(&answer, path, &usual, NULL);
	core_show(path, &answer);
	ck_assert_int_eq(answer.opened, status);
	ck_assert(core_same(&answer, &victim.own));
	ck_assert_int_eq(answer.status, MU_OK);
}

static const char *const thread_counts[] = { "1", "4" };

START_TEST(by_the_kernel)
{
	start(thread_counts[_i]);
	if (core_by_kernel(&victim, path))
		expect_same(MU_OK);
	stop();
}
END_TEST

/*
 * gdb leaves out the closed page of the heap that was never touched; that the
 * kernel was asked to leave it out would look the same.
 */
START_TEST(by_gcore)
{
	struct core_answer answer;

	start(thread_counts[_i]);
	if (core_by_gcore(&victim, path)) {
		expect_same(MU_OK);
		core_ask(&answer, path, &usual, NULL);
		ck_assert_uint_eq(answer.untold, 4096);
	}
	stop();
}
END_TEST

/* _i: threads, and by a copy or by reading. The program knows nothing of it. */
START_TEST(by_process)
{
	struct mu_check check = { .timeout_ns = 60 * MU_NS_PER_SEC,
		.stop = _i / 2 == 0 ? MU_CHECK_STOP_FORK : MU_CHECK_STOP_READ,
		.limit = CORE_LEAKS };
	struct core_answer same = { .opened = MU_OK };
	struct mu_report answer;
	struct Leak *leak;
	size_t i;

	start(thread_counts[_i % 2]);
	check.pid = victim.pid;
	same.status = mu_check_process(&check, &answer);
	answer_array(&answer);
	same.num_leaks = answer.info.num_leaks;
	same.leak_bytes = answer.info.leak_bytes;
	same.count = answer.info.num_reported;
	for (i = 0; i < same.count; i++) {
		leak = &answer.info.leaks[i];
		same.leaks[i] = (struct core_leak) { leak->begin, leak->size,
			leak->referenced_count, leak->total_size };
	}
	core_show(answer.stop, &same);
	ck_assert_int_eq(same.status, MU_OK);
	ck_assert(core_same(&same, &victim.own));
	free(answer.info.leaks);
	mu_check_release(&answer);
	stop();
}
END_TEST

static const char *const packers[] = { "zstd", "xz", "lz4", "gzip" };

START_TEST(compressed)
{
	char command[5 * PATH_MAX];
	const char *const args[] = { "sh", "-c", command, NULL };
	struct core_answer answer;

	start("4");
	if (!core_by_kernel(&victim, path)) {
		stop();
		return;
	}
	snprintf(command, sizeof(command),
	    "%s -qc '%s' >'%s.packed' && mv '%s.packed' '%s'", packers[_i],
	    path, path, path, path);
	if (core_play_run(args) != 0) {
		printf("SKIPPED: no %s\n", packers[_i]);
		stop();
		return;
	}
	expect_same(MU_OK);
	/* A cut one unpacks to a cut core, or to nothing. */
	ck_assert_int_eq(truncate(path, 15000), 0);
	core_ask(&answer, path, &usual, NULL);
	core_show(path, &answer);
	ck_assert_int_ne(answer.opened, MU_OK);
	stop();
}
END_TEST

/* Wherever it ends: never a complete answer, and never a crash. */
START_TEST(cut_short)
{
	struct core_answer answer;
	off_t size, length;
	struct stat about;
	unsigned i;

	start("4");
	if (core_by_kernel(&victim, path)) {
		ck_assert_int_eq(stat(path, &about), 0);
		size = about.st_size;
		srand(7);
		for (i = 0; i < CUTS; i++) {
			/* From the end on; the last ones in the headers. */
			length = size / CUTS * (CUTS - i) - rand() % 70000 - 1;
			if (i + 5 > CUTS)
				length = rand() % 60000;
			if (length < 0)
				length = 0;
			ck_assert_int_eq(truncate(path, length), 0);
			core_ask(&answer, path, &usual, NULL);
			if (answer.opened == MU_PARTIAL)
				ck_assert_uint_gt(answer.cut, 0);
			else
				ck_assert_int_eq(
				    answer.opened, MU_ERR_ARGUMENT);
			ck_assert_int_ne(answer.why.words[0], 0);
		}
	}
	stop();
}
END_TEST

/* On another machine: nothing is lost with the files but the release. */
START_TEST(without_files)
{
	struct core_answer answer;

	start("4");
	if (core_by_kernel(&victim, path)) {
		core_ask(&answer, path, &nowhere, gnu_get_libc_version());
		core_show(path, &answer);
		ck_assert_int_eq(answer.opened, MU_PARTIAL);
		ck_assert_uint_gt(answer.num_gaps, 0);
		ck_assert(core_same(&answer, &victim.own));
	}
	stop();
}
END_TEST

/* A sysroot: with its files, and then with another libc. */
START_TEST(from_a_sysroot)
{
	static char root[PATH_MAX], command[3 * PATH_MAX];
	const char *const args[] = { "sh", "-c", command, NULL };
	const struct mu_core_paths there = { NULL, root };
	struct mu_snapshot_core core;
	struct core_answer answer;
	struct mu_snapshot snap;
	struct mu_arena arena;
	size_t i;

	start("1");
	snprintf(root, sizeof(root), "%s/root", victim.folder);
	mu_arena_open(&arena, (size_t)1 << 30);
	if (core_by_kernel(&victim, path)) {
		ck_assert_int_eq(mu_snapshot_core_open(
				     &snap, &core, path, &usual, &arena, NULL),
		    MU_OK);
		ck_assert_uint_ge(core.modules.count, 3);
		for (i = 0; i < core.modules.count; i++) {
			snprintf(command, sizeof(command),
			    "mkdir -p '%s' && cp -L --parents '%s' '%s'", root,
			    core.modules.items[i].path, root);
			ck_assert_int_eq(core_play_run(args), 0);
		}
		core_ask(&answer, path, &there, NULL);
		ck_assert_int_eq(answer.opened, MU_OK);
		ck_assert(core_same(&answer, &victim.own));
		snprintf(command, sizeof(command),
		    "cp /bin/sh \"$(find '%s' -name 'libc[.-]*')\"", root);
		ck_assert_int_eq(core_play_run(args), 0);
		core_ask(&answer, path, &there, gnu_get_libc_version());
		ck_assert_int_eq(answer.opened, MU_PARTIAL);
		/* Up to 2.33 the name of libc's file says it. */
		if (strverscmp(gnu_get_libc_version(), "2.34") >= 0)
			ck_assert_uint_eq(answer.glibc_major, 0);
		ck_assert(core_same(&answer, &victim.own));
		mu_snapshot_core_close(&core);
		snprintf(command, sizeof(command), "rm -rf '%s'", root);
		core_play_run(args);
	}
	mu_arena_close(&arena);
	stop();
}
END_TEST

START_TEST(another_program)
{
	static const struct mu_core_paths other = { "/bin/sh", NULL };
	struct mu_snapshot_core core;
	struct mu_snapshot snap;
	struct mu_arena arena;
	struct mu_why why;

	start("1");
	if (core_by_kernel(&victim, path)) {
		mu_arena_open(&arena, (size_t)1 << 30);
		ck_assert_int_eq(mu_snapshot_core_open(
				     &snap, &core, path, &other, &arena, &why),
		    MU_PARTIAL);
		fprintf(stderr, "%s\n", why.words);
		ck_assert_ptr_nonnull(
		    strstr(why.words, "victim_core: its file is another"));
		ck_assert_str_eq(core.process.program, "victim_core");
		ck_assert_int_eq(core.process.signal, SIGABRT);
		ck_assert_int_eq(snap.num_threads, 1);
		ck_assert_int_eq(snap.threads[0].tid, snap.pid);
		mu_snapshot_core_close(&core);
		mu_arena_close(&arena);
	}
	stop();
}
END_TEST

int
main(void)
{
	Suite *suite = suite_create("core_files");
	TCase *tc = tcase_create("core_files");

	tcase_set_timeout(tc, 240);
	tcase_add_loop_test(tc, by_the_kernel, 0, 2);
	tcase_add_loop_test(tc, by_gcore, 0, 2);
	tcase_add_loop_test(tc, by_process, 0, 4);
	tcase_add_loop_test(tc, compressed, 0, 4);
	tcase_add_test(tc, cut_short);
	tcase_add_test(tc, without_files);
	tcase_add_test(tc, from_a_sysroot);
	tcase_add_test(tc, another_program);
	suite_add_tcase(suite, tc);
	return suite_run(suite);
}
