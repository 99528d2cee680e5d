/*
 * Compare the answer of a program about itself with that of a check from
 * outside and with those from its cores: written by the kernel and by gcore,
 * whole and truncated, plain and compressed, with and without the mapped files.
 * All must name the same blocks.
 */
#include <dirent.h>
#include <gnu/libc-version.h>
#include <limits.h>
#include <sys/resource.h>
#include <sys/stat.h>

#include "heapwalk/fold/fold.h"
#include "heapwalk/graph/references.h"
#include "heapwalk/heaps/glibc/banner.h"
#include "heapwalk/heaps/table/table.h"
#include "heapwalk/mark/mark.h"
#include "heapwalk/roots/roots.h"
#include "lib/check/check.h"
#include "mu/sys.h"
#include "ptrace/core/snapshot.h"
#include "tests/support/built.h"
#include "tests/support/graph/answer_array.h"
#include "tests/support/graph/unpacked.h"
#include "tests/support/suite.h"

/*
 * A victim whose core is taken, and the answer that the engine gives from it.
 */

#define CORE_LEAKS 64

/* One answer: the program's own, or one from its core. */
struct core_answer {
	enum mu_status opened, status;
	struct mu_why why;
	size_t num_leaks, leak_bytes, count, num_gaps, num_threads;
	unsigned glibc_major, glibc_minor;
	uint64_t cut;
	size_t untold; /* bytes */
	struct core_leak {
		uintptr_t begin;
		size_t size, referenced, total;
	} leaks[CORE_LEAKS];
};

struct core_victim {
	pid_t pid;
	FILE *out;
	char folder[PATH_MAX / 2];
	struct core_answer own;
};

static void
core_victim_exec(struct core_victim *victim, int out, const char *threads)
{
	struct rlimit limit = { RLIM_INFINITY, RLIM_INFINITY };
	char path[PATH_MAX];

	built_path("tests/live/victims/victim_core", path);
	if (setrlimit(RLIMIT_CORE, &limit) != 0) {
		getrlimit(RLIMIT_CORE, &limit);
		limit.rlim_cur = limit.rlim_max;
		setrlimit(RLIMIT_CORE, &limit);
	}
	if (chdir(victim->folder) != 0 || dup2(out, STDOUT_FILENO) < 0)
		_exit(1);
	execl(path, path, threads, (char *)NULL);
	_exit(1);
}

/* Start it, and read what it says of itself. */
static void
core_victim_start(struct core_victim *victim, const char *threads)
{
	struct core_answer *own = &victim->own;
	struct core_leak *leak;
	char line[512];
	int ends[2];

	memset(victim, 0, sizeof(*victim));
	snprintf(victim->folder, sizeof(victim->folder), "%s/core_play.XXXXXX",
	    getenv("TMPDIR") != NULL ? getenv("TMPDIR") : "/tmp");
	ck_assert_ptr_nonnull(mkdtemp(victim->folder));
	ck_assert_int_eq(pipe2(ends, O_CLOEXEC), 0);
	victim->pid = fork();
	if (victim->pid == 0)
		core_victim_exec(victim, ends[1], threads);
	close(ends[1]);
	victim->out = fdopen(ends[0], "r");
	while (fgets(line, sizeof(line), victim->out) != NULL &&
	    strcmp(line, "ready\n") != 0) {
		leak = &own->leaks[own->count];
		ck_assert_uint_lt(own->count, CORE_LEAKS);
		if (sscanf(line, "leak %zx %zu %zu %zu", &leak->begin,
			&leak->size, &leak->referenced, &leak->total) == 4)
			own->count++;
		else
			ck_assert_msg(
			    sscanf(line, "all %zu %zu", &own->num_leaks,
				&own->leak_bytes) == 2,
			    "%s", line);
	}
	ck_assert_str_eq(line, "ready\n");
}

static void
core_victim_end(struct core_victim *victim, int signo)
{
	int status;

	if (victim->pid > 0) {
		kill(victim->pid, signo);
		waitpid(victim->pid, &status, 0);
	}
	victim->pid = 0;
}

/* Gone, and its folder with all that is in it. */
static void
core_victim_clean(struct core_victim *victim)
{
	char path[PATH_MAX];
	struct dirent *entry;
	DIR *dir;

	core_victim_end(victim, SIGKILL);
	fclose(victim->out);
	dir = opendir(victim->folder);
	while (dir != NULL && (entry = readdir(dir)) != NULL) {
		snprintf(
		    path, sizeof(path), "%s/%s", victim->folder, entry->d_name);
		unlink(path);
	}
	closedir(dir);
	rmdir(victim->folder);
}

/* The first file in its folder; false: there is none. */
static bool
core_victim_file(struct core_victim *victim, char path[PATH_MAX])
{
	DIR *dir = opendir(victim->folder);
	struct dirent *entry;
	bool found = false;

	while (!found && dir != NULL && (entry = readdir(dir)) != NULL) {
		found = entry->d_name[0] != '.';
		if (found)
			snprintf(path, PATH_MAX, "%s/%s", victim->folder,
			    entry->d_name);
	}
	closedir(dir);
	return found;
}

static int
core_play_run(const char *const *args)
{
	pid_t pid = fork();
	int status = -1;

	if (pid == 0) {
		dup2(open("/dev/null", O_RDWR), STDOUT_FILENO);
		dup2(STDOUT_FILENO, STDERR_FILENO);
		execvp(args[0], (char *const *)args);
		_exit(127);
	}
	waitpid(pid, &status, 0);
	return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

/*
 * Returns false, and prints why, if the kernel writes no core into the folder.
 */
static bool
core_by_kernel(struct core_victim *victim, char path[PATH_MAX])
{
	char pattern[256] = "";
	FILE *file = fopen("/proc/sys/kernel/core_pattern", "r");

	if (file == NULL || fgets(pattern, sizeof(pattern), file) == NULL)
		pattern[0] = '\0';
	if (file != NULL)
		fclose(file);
	core_victim_end(victim, SIGABRT);
	if (strchr("|/@", pattern[0]) == NULL && core_victim_file(victim, path))
		return true;
	printf("SKIPPED: no core of the kernel's (core_pattern %s)\n", pattern);
	return false;
}

static bool
core_by_gcore(struct core_victim *victim, char path[PATH_MAX])
{
	char prefix[PATH_MAX], pid[16];
	const char *const args[] = { "gcore", "-o", prefix, pid, NULL };

	snprintf(prefix, sizeof(prefix), "%s/gcore", victim->folder);
	snprintf(pid, sizeof(pid), "%d", (int)victim->pid);
	if (core_play_run(args) == 0 && core_victim_file(victim, path))
		return true;
	printf("SKIPPED: no core by gcore\n");
	return false;
}

/* Search as lib/helpers/sweeper.c does. */
static void
core_search(struct core_answer *answer, struct mu_snapshot *snap,
    struct mu_snapshot_core *core, struct mu_arena *arena)
{
	const struct mu_fold_wanted wanted = { .limit = CORE_LEAKS };
	uint64_t deadline = mu_sys_now_ns() + 60 * MU_NS_PER_SEC;
	enum mu_status status, *worst = &answer->status;
	struct mu_heap heap;
	struct mu_roots roots = { .ranges = NULL };
	struct mu_leaks leaks = { .entries = NULL };
	struct mu_leak *entries;
	struct mu_graph graph;
	size_t i;

	*worst = mu_heaps_list(&heap, snap, arena, &answer->why);
	if (*worst != MU_OK && *worst != MU_PARTIAL)
		return;
	mu_snapshot_core_unlock(core, snap);
	status = mu_roots_find(&roots, snap, &heap, arena, &answer->why);
	if (!mu_references_find_code(&heap.blocks, snap, arena))
		status = MU_ERR_NO_MEMORY;
	if (status == MU_OK || status == MU_PARTIAL)
		status = mu_graph_make(&graph, &heap.blocks, &roots,
		    &snap->memory, arena, deadline);
	if (status == MU_OK)
		status = mu_mark(&graph, deadline);
	if (status == MU_OK)
		status =
		    mu_fold(&leaks, &graph, &wanted, deadline, &answer->why);
	if (status != MU_OK)
		*worst = status;
	answer->num_leaks = leaks.num_leaks;
	answer->leak_bytes = leaks.leak_bytes;
	answer->count = leaks.entries.count;
	entries = unpack(&leaks.entries);
	for (i = 0; i < answer->count; i++)
		answer->leaks[i] = (struct core_leak) { entries[i].range.begin,
			mu_range_size(entries[i].range),
			entries[i].referenced_count, entries[i].total_size };
	free(entries);
}

/* RELEASE: take glibc to be of it where the core does not tell; or NULL. */
static void
core_ask(struct core_answer *answer, const char *path,
    const struct mu_core_paths *places, const char *release)
{
	struct mu_snapshot snap;
	struct mu_snapshot_core core;
	struct mu_arena arena;

	memset(answer, 0, sizeof(*answer));
	mu_arena_open(&arena, (size_t)1 << 30);
	answer->opened = mu_snapshot_core_open(
	    &snap, &core, path, places, &arena, &answer->why);
	answer->num_gaps = core.num_gaps;
	answer->cut = core.file.cut;
	answer->num_threads = snap.num_threads;
	mu_glibc_banner_find(&snap, &snap.glibc_major, &snap.glibc_minor);
	answer->glibc_major = snap.glibc_major;
	answer->glibc_minor = snap.glibc_minor;
	answer->status = answer->opened;
	if (release != NULL && snap.glibc_major == 0)
		sscanf(release, "%u.%u", &snap.glibc_major, &snap.glibc_minor);
	if (answer->opened == MU_OK || answer->opened == MU_PARTIAL)
		core_search(answer, &snap, &core, &arena);
	answer->untold = core.undumped_bytes;
	mu_snapshot_core_close(&core);
	mu_arena_close(&arena);
}

static bool
core_same(const struct core_answer *a, const struct core_answer *b)
{
	return a->num_leaks == b->num_leaks && a->leak_bytes == b->leak_bytes &&
	    a->count == b->count &&
	    memcmp(a->leaks, b->leaks, a->count * sizeof(*a->leaks)) == 0;
}

static void
core_show(const char *who, const struct core_answer *answer)
{
	size_t i;

	fprintf(stderr, "%s: %s: %zu leaks, %zu bytes: %s\n", who,
	    mu_status_name(answer->status), answer->num_leaks,
	    answer->leak_bytes, answer->why.text);
	for (i = 0; i < answer->count; i++)
		fprintf(stderr, "  %zx %zu %zu %zu\n",
		    (size_t)answer->leaks[i].begin, answer->leaks[i].size,
		    answer->leaks[i].referenced, answer->leaks[i].total);
}

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

TEST_LOOP(by_the_kernel, 0, 2)
{
	start(thread_counts[_i]);
	if (core_by_kernel(&victim, path))
		expect_same(MU_OK);
	stop();
}

/*
 * gdb leaves out the closed page of the heap that was never touched; that the
 * kernel was asked to leave it out would look the same.
 */
TEST_LOOP(by_gcore, 0, 2)
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

/* _i: threads, and by a copy or by reading. The program knows nothing of it. */
TEST_LOOP(by_process, 0, 4)
{
	struct mu_check check = { .timeout_ns = 60 * MU_NS_PER_SEC,
		.stop = _i / 2 == 0 ? MU_CHECK_STOP_FORK : MU_CHECK_STOP_READ,
		.limit = CORE_LEAKS,
		.max_pause_ns = 20 * MU_NS_PER_SEC };
	struct core_answer same = { .opened = MU_OK };
	struct mu_report answer;
	struct Leak *leak;
	size_t i;

	if (check.stop == MU_CHECK_STOP_FORK && suite_is_filtered()) {
		printf("SKIPPED: core_files: no copy under a seccomp filter\n");
		return;
	}
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

static const char *const packers[] = { "zstd", "xz", "lz4", "gzip" };

TEST_LOOP(compressed, 0, 4)
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
	/* A truncated compressed core gives a truncated core, or none. */
	ck_assert_int_eq(truncate(path, 15000), 0);
	core_ask(&answer, path, &usual, NULL);
	core_show(path, &answer);
	ck_assert_int_ne(answer.opened, MU_OK);
	stop();
}

/* A core that ends anywhere gives no complete answer, and no crash. */
TEST(cut_short)
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
			/*
			 * Truncate from the end on; the last cuts are in the
			 * headers.
			 */
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
			ck_assert_int_ne(answer.why.text[0], 0);
		}
	}
	stop();
}

/* Overwrite the memory of the last thread. */
static void
zero_thread(void)
{
	struct mu_snapshot snap;
	struct mu_snapshot_core core;
	const struct mu_core_segment *segment;
	struct mu_arena arena;
	char *zeros;
	uintptr_t tp;
	int file = open(path, O_WRONLY);

	mu_arena_open(&arena, (size_t)1 << 30);
	ck_assert_int_eq(
	    mu_snapshot_core_open(&snap, &core, path, &usual, &arena, NULL),
	    MU_OK);
	tp = snap.threads[snap.num_threads - 1].tp;
	segment = core.file.segments;
	while (!mu_range_has(segment->range, tp))
		segment++;
	zeros = calloc(1, segment->dumped);
	ck_assert_int_eq(
	    pwrite(file, zeros, segment->dumped, (off_t)segment->offset),
	    (ssize_t)segment->dumped);
	free(zeros);
	close(file);
	mu_snapshot_core_close(&core);
	mu_arena_close(&arena);
}

/* gdb does that if it cannot read one of its pages. */
TEST(without_a_stack)
{
	struct core_answer answer;

	start("4");
	if (core_by_kernel(&victim, path)) {
		zero_thread();
		core_ask(&answer, path, &usual, NULL);
		core_show(path, &answer);
		ck_assert_int_eq(answer.opened, MU_PARTIAL);
	}
	stop();
}

/* On another machine without the files only the release of glibc is unknown. */
TEST(without_files)
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

/* A sysroot: with its files, and then with another libc. */
TEST(from_a_sysroot)
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

TEST(another_program)
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
		fprintf(stderr, "%s\n", why.text);
		ck_assert_ptr_nonnull(
		    strstr(why.text, "victim_core: its file is another"));
		ck_assert_str_eq(core.process.program, "victim_core");
		ck_assert_int_eq(core.process.signal, SIGABRT);
		ck_assert_int_eq(snap.num_threads, 1);
		ck_assert_int_eq(snap.threads[0].tid, snap.pid);
		mu_snapshot_core_close(&core);
		mu_arena_close(&arena);
	}
	stop();
}
