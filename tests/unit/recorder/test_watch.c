/* Signals of the recorder. */
#include <dirent.h>
#include <sys/syscall.h>

#include "lib/malloc_debug/dumps/journal.h"
#include "lib/malloc_debug/dumps/watch.h"
#include "tests/support/captured_stderr.h"
#include "tests/support/folder.h"
#include "tests/support/recorder/recorded_blocks.h"
#include "tests/support/suite.h"

static char directory[FOLDER_SIZE];
static char prefix[128], records[128];

static void
begin(void)
{
	folder_make(directory);
	snprintf(prefix, sizeof(prefix), "%s/heap", directory);
	snprintf(records, sizeof(records), "%s/records", directory);
	made_begin();
	recorder_options.backtrace = false;
	recorder_options.dump_prefix = prefix;
	recorder_options.record_allocs_file = records;
}

static void
end(void)
{
	folder_remove(directory);
}

static int
threads(void)
{
	DIR *tasks = opendir("/proc/self/task");
	const struct dirent *entry;
	int count = 0;

	while ((entry = readdir(tasks)) != NULL)
		count += entry->d_name[0] != '.';
	closedir(tasks);
	return count;
}

static const char *
dump_name(pid_t pid)
{
	static char name[256];

	snprintf(name, sizeof(name), "%s.%d.txt", prefix, (int)pid);
	return name;
}

/* Within ten seconds. */
static bool
comes(const char *name)
{
	int i;

	for (i = 0; i < 2000; i++) {
		if (access(name, F_OK) == 0)
			return true;
		usleep(5000);
	}
	return false;
}

static bool
ends_with(const char *name, const char *word)
{
	char command[512];

	snprintf(command, sizeof(command), "grep -q -- '%s' %s", word, name);
	return system(command) == 0;
}

/* 45 to 49 with glibc, whose SIGRTMAX is 64. */
TEST(numbers)
{
	static const int from_last[] = { 19, 18, 17, 16, 15 };
	struct sigaction action;
	size_t i;

	recorder_options.backtrace = true;
	recorder_options.backtrace_on_signal = true;
	recorder_options.check_unreachable_on_signal = true;
	recorder_options.stats_on_signal = true;
	recorder_options.record_allocs = 10;
	watch_start();
	for (i = 0; i < 5; i++) {
		ck_assert_int_eq(
		    sigaction(SIGRTMAX - from_last[i], NULL, &action), 0);
		ck_assert_ptr_ne(action.sa_handler, SIG_DFL);
		ck_assert_int_eq(
		    action.sa_flags & (SA_RESTART | SA_SIGINFO | SA_ONSTACK),
		    SA_RESTART | SA_SIGINFO | SA_ONSTACK);
	}
	ck_assert_int_eq(sigaction(SIGRTMAX - 14, NULL, &action), 0);
	ck_assert_ptr_eq(action.sa_handler, SIG_DFL);
	ck_assert_int_eq(sigaction(SIGRTMAX - 20, NULL, &action), 0);
	ck_assert_ptr_eq(action.sa_handler, SIG_DFL);
}

TEST(none_without_options)
{
	struct sigaction action;
	int i;

	watch_start();
	for (i = 15; i < 20; i++) {
		sigaction(SIGRTMAX - i, NULL, &action);
		ck_assert_ptr_eq(action.sa_handler, SIG_DFL);
	}
	ck_assert_int_eq(threads(), 1);
}

TEST(toggle_is_immediate)
{
	recorder_options.backtrace = true;
	recorder_options.backtrace_on_signal = true;
	recorder_capturing = false;
	watch_start();
	raise(SIGRTMAX - 19);
	ck_assert(recorder_capturing);
	raise(SIGRTMAX - 19);
	ck_assert(!recorder_capturing);
	recorder_capturing = true;
	raise(SIGRTMAX - 19);
	ck_assert(!recorder_capturing);
	ck_assert_int_eq(threads(), 1);
}

/* The program stays single-threaded before and behind it. */
TEST(dump_of_an_idle_process)
{
	int i;

	recorder_options.backtrace = true;
	made(40, 0xabc0, 1, 0);
	watch_start();
	ck_assert_int_eq(threads(), 1);
	for (i = 0; i < 3; i++) {
		raise(SIGRTMAX - 17);
		ck_assert(comes(dump_name(getpid())));
		ck_assert(ends_with(dump_name(getpid()), "num    1  bt abc0$"));
		ck_assert_int_eq(unlink(dump_name(getpid())), 0);
		while (threads() > 1)
			usleep(1000);
	}
}

__attribute__((noinline, visibility("default"))) void
a_named_function(void)
{
	__asm__ volatile("nop; nop");
}

TEST(dump_of_names)
{
	recorder_options.backtrace = true;
	recorder_options.backtrace_full = true;
	made(40, (uintptr_t)a_named_function, 1, 0);
	watch_start();
	raise(SIGRTMAX - 17);
	ck_assert(comes(dump_name(getpid())));
	ck_assert(ends_with(
	    dump_name(getpid()), "  bt_info {.* \"a_named_function\" 0}"));
}

TEST(case_journal)
{
	recorder_options.record_allocs = 10;
	ck_assert(journal_start(10));
	journal_end(journal_begin(), JOURNAL_MALLOC, (void *)16, 5, 0);
	watch_start();
	raise(SIGRTMAX - 18);
	ck_assert(comes(records));
	ck_assert(ends_with(records, ": malloc 0x10 5 "));
}

static int runs;

static void
slow_job(void)
{
	__atomic_fetch_add(&runs, 1, __ATOMIC_ACQ_REL);
	usleep(200000);
}

static int
runs_are(int wanted)
{
	int i;

	for (i = 0;
	     i < 1000 && __atomic_load_n(&runs, __ATOMIC_ACQUIRE) < wanted; i++)
		usleep(5000);
	usleep(300000);
	return __atomic_load_n(&runs, __ATOMIC_ACQUIRE);
}

/* _i: which kind of watcher. */
TEST_LOOP(repeats_count_once, 0, 2)
{
	int i;

	ck_assert(watch_signal_job(
	    SIGUSR1, slow_job, _i == 0 ? WATCH_BARE : WATCH_THREAD));
	watch_start();
	raise(SIGUSR1);
	usleep(50000);
	for (i = 0; i < 20; i++)
		raise(SIGUSR1);
	ck_assert_int_eq(runs_are(2), 2);
	raise(SIGUSR1);
	ck_assert_int_eq(runs_are(3), 3);
}

/* The work continues while the interrupted code does, with all signals blocked.
 */
static void
look_at_mask(void)
{
	sigset_t mask;

	sigprocmask(SIG_SETMASK, NULL, &mask);
	runs = sigismember(&mask, SIGUSR1) && sigismember(&mask, SIGTERM) &&
		sigismember(&mask, SIGRTMAX)
	    ? 1
	    : -1;
}

TEST(watcher_takes_no_signals)
{
	ck_assert(watch_signal_job(SIGUSR1, look_at_mask, WATCH_THREAD));
	watch_start();
	raise(SIGUSR1);
	ck_assert_int_eq(runs_are(1), 1);
}

TEST(signals_that_are_none)
{
	struct captured_stderr captured;
	int i;

	ck_assert(!watch_signal_job(0, slow_job, WATCH_THREAD));
	ck_assert(!watch_signal_job(-1, slow_job, WATCH_THREAD));
	ck_assert(!watch_signal_job(SIGRTMAX + 1, slow_job, WATCH_THREAD));
	ck_assert(watch_signal_job(SIGKILL, slow_job, WATCH_THREAD));
	captured_stderr_begin(&captured);
	watch_start();
	ck_assert_str_eq(captured_stderr_end(&captured),
	    "malloc_debug: signal 9 cannot be used\n");
	for (i = 1; i < 16; i++)
		ck_assert(
		    watch_signal_job(SIGRTMIN + i, slow_job, WATCH_THREAD));
	ck_assert(!watch_signal_job(SIGUSR2, slow_job, WATCH_THREAD));
	ck_assert(watch_signal_job(SIGRTMIN + 1, slow_job, WATCH_THREAD));
}

/* EINTR would be seen by a program that knows of no signal. */
TEST(calls_are_restarted)
{
	int ends[2], status;
	pid_t child;
	char byte = 0;

	recorder_options.backtrace = true;
	watch_start();
	ck_assert_int_eq(pipe(ends), 0);
	child = fork();
	if (child == 0) {
		usleep(100000);
		kill(getppid(), SIGRTMAX - 17);
		usleep(300000);
		_exit(write(ends[1], "x", 1) != 1);
	}
	ck_assert_int_eq(read(ends[0], &byte, 1), 1);
	ck_assert_int_eq(byte, 'x');
	waitpid(child, &status, 0);
	ck_assert_int_eq(status, 0);
	ck_assert(comes(dump_name(getpid())));
}

/* _i: without names, with. */
TEST_LOOP(fork_child_has_its_own, 0, 2)
{
	pid_t child, grandchild;
	int status;

	recorder_options.backtrace = true;
	recorder_options.backtrace_full = _i == 1;
	watch_start();
	child = fork();
	if (child == 0) {
		watch_fork_child();
		recorder_child = true;
		made(40, 0xabc0, 1, MU_STACK_CHILD);
		grandchild = fork();
		if (grandchild == 0) {
			watch_fork_child();
			raise(SIGRTMAX - 17);
			_exit(!comes(dump_name(getpid())));
		}
		raise(SIGRTMAX - 17);
		waitpid(grandchild, &status, 0);
		_exit(!comes(dump_name(getpid())) || status != 0);
	}
	raise(SIGRTMAX - 17);
	ck_assert(comes(dump_name(getpid())));
	ck_assert_int_eq(waitpid(child, &status, 0), child);
	ck_assert_int_eq(status, 0);
	ck_assert(comes(dump_name(child)));
	ck_assert(ends_with(dump_name(child), "^z 1 .* bt abc0$"));
}

/* As in a process made by a bare clone(), which runs no handlers. */
TEST(unannounced_child)
{
	pid_t child;
	int status;

	ck_assert(watch_signal_job(SIGUSR1, slow_job, WATCH_BARE));
	watch_start();
	raise(SIGUSR1);
	usleep(50000);
	/* While the watcher is at work. */
	child = (pid_t)syscall(SYS_clone, SIGCHLD, 0, 0, 0, 0);
	if (child == 0) {
		runs = 0;
		raise(SIGUSR1);
		_exit(runs_are(1) != 1);
	}
	ck_assert_int_eq(waitpid(child, &status, 0), child);
	ck_assert_int_eq(status, 0);
	ck_assert_int_eq(runs_are(1), 1);
}

static int inside, most_inside;

static void
counted_job(void)
{
	int now = __atomic_add_fetch(&inside, 1, __ATOMIC_ACQ_REL);

	if (now > most_inside)
		most_inside = now;
	slow_job();
	__atomic_fetch_sub(&inside, 1, __ATOMIC_ACQ_REL);
}

/*
 * A handler that runs in a child of vfork() runs in its parent's memory, where
 * the watcher, at work (_i: 1) or not, is the parent's.
 */
TEST_LOOP(child_of_vfork, 0, 2)
{
	pid_t child;
	int status;

	ck_assert(watch_signal_job(SIGUSR1, counted_job, WATCH_BARE));
	watch_start();
	if (_i == 1) {
		raise(SIGUSR1);
		usleep(50000);
	}
	child = vfork();
	if (child == 0) {
		kill(getpid(), SIGUSR1);
		usleep(50000);
		_exit(0);
	}
	ck_assert_int_eq(waitpid(child, &status, 0), child);
	ck_assert_int_eq(status, 0);
	runs_are(1 + _i);
	ck_assert_int_eq(most_inside, _i);
	runs = 0;
	raise(SIGUSR1);
	ck_assert_int_ge(runs_are(1), 1);
	ck_assert_int_eq(most_inside, 1);
}

static void *
last_thread(void *arg)
{
	usleep(200000);
	return arg;
}

/* _i: the kind. libc ends a program with its last thread's end. */
TEST_LOOP(main_thread_ends_first, 0, 2)
{
	pthread_t thread;
	pid_t child = fork();
	int status;

	if (child == 0) {
		alarm(10);
		watch_signal_job(
		    SIGUSR1, slow_job, _i == 0 ? WATCH_BARE : WATCH_THREAD);
		watch_start();
		pthread_create(&thread, NULL, last_thread, NULL);
		pthread_exit(NULL);
	}
	ck_assert_int_eq(waitpid(child, &status, 0), child);
	ck_assert_msg(status == 0, "status %#x", (unsigned)status);
}

TEST(hints)
{
	struct captured_stderr captured;
	char text[1024];
	int pid = getpid();

	recorder_options = (struct debug_options) {
		.verbose = true,
		.backtrace = true,
		.backtrace_on_signal = true,
		.check_unreachable_on_signal = true,
		.stats_on_signal = true,
		.record_allocs = 10,
	};
	captured_stderr_begin(&captured);
	watch_start();
#define HINT "malloc_debug: %s: Run: 'kill -%d %d' to "
#define ARGS(n) program_invocation_short_name, SIGRTMAX - n, pid
	snprintf(text, sizeof(text),
	    HINT "enable backtracing.\n" HINT "dump the backtrace.\n" HINT
		 "dump the allocation records.\n" HINT
		 "check for unreachable memory.\n" HINT
		 "log allocator stats.\n",
	    ARGS(19), ARGS(17), ARGS(18), ARGS(16), ARGS(15));
	ck_assert_str_eq(captured_stderr_end(&captured), text);
}

TEST(no_hints_unless_verbose)
{
	struct captured_stderr captured;

	recorder_options.backtrace = true;
	captured_stderr_begin(&captured);
	watch_start();
	ck_assert_str_eq(captured_stderr_end(&captured), "");
}

TEST(allocator_stats)
{
	struct captured_stderr captured;
	int i;

	recorder_options.stats_on_signal = true;
	watch_start();
	captured_stderr_begin(&captured);
	raise(SIGRTMAX - 15);
	for (i = 0; i < 1000; i++) {
		ssize_t n = pread(captured.file, captured.text, 4096, 0);

		captured.text[n < 0 ? 0 : n] = '\0';
		if (strstr(captured.text, "max mmap bytes") != NULL)
			break;
		usleep(5000);
	}
	captured_stderr_end(&captured);
	ck_assert_ptr_nonnull(strstr(captured.text,
	    "malloc_debug: Logging allocator stats...\nArena 0:\n"));
	ck_assert_ptr_nonnull(strstr(captured.text, "in use bytes"));
}

SUITE(.setup = begin, .teardown = end);
