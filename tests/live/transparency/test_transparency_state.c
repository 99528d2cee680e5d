/*
 * Compare all that the kernel shows of a process and each of its threads before
 * and after a pass: status and stat, line by line, attributes of prctl() and
 * other calls, pending signals.
 */
#include <sys/personality.h>
#include <sys/resource.h>
#include <sys/stat.h>

#include "tests/support/faults/transparency.h"
#include "tests/support/suite.h"

#define PASSES 10
#define THREADS 5
#define TEXT_SIZE 16384
#define NUMBERS 80

/* Fields that a running program changes by itself. */
static const char *const moving[] = { "State:", "SigQ:", "VmPeak:", "VmSize:",
	"VmHWM:", "VmRSS:", "RssAnon:", "RssFile:", "VmData:", "VmPTE:",
	"VmLib:", "voluntary_ctxt_switches:", "nonvoluntary_ctxt_switches:" };

static bool
moves(const char *line)
{
	size_t i;

	for (i = 0; i < sizeof(moving) / sizeof(moving[0]); i++)
		if (strncmp(line, moving[i], strlen(moving[i])) == 0)
			return true;
	return false;
}

static void
read_status(pid_t tid, char *text)
{
	static __thread char whole[TEXT_SIZE];
	char path[64], *line, *next;
	size_t used = 0;

	snprintf(path, sizeof(path), "/proc/self/task/%d/status", tid);
	ck_assert_uint_gt(transparency_read(path, whole, sizeof(whole)), 0);
	for (line = whole; *line != '\0'; line = next) {
		next = line + strcspn(line, "\n");
		next += *next == '\n';
		if (!moves(line)) {
			memcpy(text + used, line, (size_t)(next - line));
			used += (size_t)(next - line);
		}
	}
	text[used] = '\0';
}

/*
 * Fields of stat as proc(5) counts them, from ppid (4) on: what is no time, no
 * count of faults, no address of the moment.
 */
static void
read_stat(pid_t tid, char *text)
{
	static const unsigned char fixed[] = { 4, 5, 6, 7, 8, 9, 18, 19, 20, 21,
		22, 25, 26, 27, 28, 31, 32, 33, 34, 38, 40, 41, 45, 46, 47, 48,
		49, 50, 51 };
	static __thread char whole[TEXT_SIZE];
	char path[64], *field, *save;
	size_t used = 0, number = 3, i = 0;

	snprintf(path, sizeof(path), "/proc/self/task/%d/stat", tid);
	ck_assert_uint_gt(transparency_read(path, whole, sizeof(whole)), 0);
	field = strtok_r(strrchr(whole, ')') + 1, " \n", &save);
	for (; field != NULL && i < sizeof(fixed);
	     field = strtok_r(NULL, " \n", &save), number++) {
		if (number != fixed[i])
			continue;
		used += (size_t)snprintf(text + used, TEXT_SIZE - used,
		    "stat field %zu: %s\n", number, field);
		i++;
	}
	ck_assert_uint_eq(i, sizeof(fixed));
}

/* Attributes that only the thread itself can read. */
struct own {
	long numbers[NUMBERS];
	sigset_t mask, pending;
	void *robust;
	char name[16];
};

static void
ask_rseq(struct own *own, size_t *n)
{
	/*
	 * Registering again gives EBUSY if it is the same area, EINVAL if it is
	 * another or its length is: nothing, if none was registered.
	 */
	own->numbers[(*n)++] =
	    syscall(SYS_rseq, 0, 32, 0, 0x53053053) == 0 ? 0 : errno;
}

static void
look_at_self(struct own *own)
{
	static const int options[] = { PR_GET_DUMPABLE, PR_GET_KEEPCAPS,
		PR_GET_TIMING, PR_GET_SECUREBITS, PR_GET_NO_NEW_PRIVS,
		PR_GET_TIMERSLACK, PR_GET_THP_DISABLE, PR_GET_SECCOMP,
		PR_MCE_KILL_GET, PR_GET_IO_FLUSHER };
	static const int pointers[] = { PR_GET_PDEATHSIG, PR_GET_TSC,
		PR_GET_CHILD_SUBREAPER };
	struct rlimit limit;
	size_t n = 0, i, length;
	int value;

	memset(own, 0, sizeof(*own));
	for (i = 0; i < sizeof(options) / sizeof(options[0]); i++)
		own->numbers[n++] = prctl(options[i], 0, 0, 0, 0);
	for (i = 0; i < sizeof(pointers) / sizeof(pointers[0]); i++) {
		value = -1;
		prctl(pointers[i], &value, 0, 0, 0);
		own->numbers[n++] = value;
	}
	for (i = 0; i < RLIM_NLIMITS; i++) {
		getrlimit((int)i, &limit);
		own->numbers[n++] = (long)limit.rlim_cur;
		own->numbers[n++] = (long)limit.rlim_max;
	}
	own->numbers[n++] = personality(0xffffffff);
	own->numbers[n++] = getpriority(PRIO_PROCESS, 0);
	own->numbers[n++] = syscall(SYS_ioprio_get, 1, 0);
	own->numbers[n++] = sched_getscheduler(0);
	ask_rseq(own, &n);
	ck_assert_uint_le(n, NUMBERS);
	prctl(PR_GET_NAME, own->name);
	pthread_sigmask(SIG_SETMASK, NULL, &own->mask);
	sigpending(&own->pending);
	syscall(SYS_get_robust_list, 0, &own->robust, &length);
}

/* Each is different, and asks itself before and after. */
struct thread {
	pthread_t thread;
	pid_t tid;
	int number, ready, go;
	struct own before, after;
	char status[TEXT_SIZE], stat[TEXT_SIZE];
};

static void
be_different(int number)
{
	char name[16];
	sigset_t set;

	snprintf(name, sizeof(name), "transparency %d", number);
	prctl(PR_SET_NAME, name);
	prctl(PR_SET_TIMERSLACK, 60000 + number);
	prctl(PR_SET_PDEATHSIG, number % 2 == 0 ? 0 : SIGTERM);
	setpriority(PRIO_PROCESS, 0, number);
	sigemptyset(&set);
	sigaddset(&set, SIGRTMIN + number);
	sigaddset(&set, SIGUSR2);
	pthread_sigmask(SIG_BLOCK, &set, NULL);
	/* Pending twice, for it alone. */
	pthread_kill(pthread_self(), SIGRTMIN + number);
	pthread_kill(pthread_self(), SIGRTMIN + number);
	pthread_kill(pthread_self(), SIGUSR2);
}

static void *
live(void *arg)
{
	struct thread *thread = arg;
	siginfo_t info;
	sigset_t set;

	thread->tid = gettid();
	be_different(thread->number);
	look_at_self(&thread->before);
	transparency_set(&thread->ready, 1);
	while (!transparency_get(&thread->go))
		sched_yield();
	look_at_self(&thread->after);
	/* Both can be received. */
	sigemptyset(&set);
	sigaddset(&set, SIGRTMIN + thread->number);
	if (sigwaitinfo(&set, &info) > 0 && sigwaitinfo(&set, &info) > 0)
		transparency_set(&thread->ready, 2);
	return NULL;
}

/* The first line that differs is shown. */
static void
expect_same(const char *now, const char *before, const char *what)
{
	const char *a = now, *b = before;

	for (; *now == *before && *now != '\0'; now++, before++)
		if (*now == '\n') {
			a = now + 1;
			b = before + 1;
		}
	ck_assert_msg(*now == *before, "%s: now \"%.*s\", once \"%.*s\"", what,
	    (int)strcspn(a, "\n"), a, (int)strcspn(b, "\n"), b);
}

/*
 * A pass by signal waits until a thread has reached the end of its handler;
 * sigreturn(2), which restores the mask, may still be outstanding.
 */
static void
read_settled_status(pid_t tid, char *status)
{
	static const char handler[] = "\nSigBlk:\tfffffffffffbfeff\n";
	const struct timespec nap = { .tv_nsec = 1000000 };

	for (read_status(tid, status); strstr(status, handler) != NULL;
	     read_status(tid, status))
		nanosleep(&nap, NULL);
}

static void
expect_same_thread(const struct thread *thread)
{
	static char status[TEXT_SIZE], stat[TEXT_SIZE];

	read_settled_status(thread->tid, status);
	expect_same(status, thread->status, "status");
	read_stat(thread->tid, stat);
	expect_same(stat, thread->stat, "stat");
}

static void
expect_same_own(const struct own *now, const struct own *before)
{
	size_t i;

	for (i = 0; i < NUMBERS; i++)
		ck_assert_msg(now->numbers[i] == before->numbers[i],
		    "number %zu: now %ld, once %ld", i, now->numbers[i],
		    before->numbers[i]);
	ck_assert_mem_eq(now, before, sizeof(*now));
}

static void
read_process(char *text)
{
	static const char *const files[] = { "oom_score_adj", "coredump_filter",
		"personality", "timerslack_ns", "cgroup", "limits", "uid_map",
		"loginuid", "comm", "cmdline", "auxv" };
	static char one[TEXT_SIZE];
	char path[64];
	size_t used = 0, i;

	for (i = 0; i < sizeof(files) / sizeof(files[0]); i++) {
		snprintf(path, sizeof(path), "/proc/self/%s", files[i]);
		transparency_read(path, one, sizeof(one));
		used += (size_t)snprintf(
		    text + used, TEXT_SIZE - used, "%s: %s\n", files[i], one);
		ck_assert_uint_lt(used, TEXT_SIZE);
	}
}

static void
nothing(int signo)
{
	(void)signo;
}

/* A sample of every kind of setting. */
static void
dress_up(void)
{
	struct sigaction action = { .sa_handler = nothing,
		.sa_flags = SA_RESTART | SA_ONSTACK };
	FILE *file;
	sigset_t set;

	signal(SIGUSR1, SIG_IGN);
	sigaction(SIGHUP, &action, NULL);
	sigaction(SIGRTMIN + 20, &action, NULL);
	sigemptyset(&set);
	sigaddset(&set, SIGHUP);
	sigaddset(&set, SIGRTMIN + 20);
	sigprocmask(SIG_BLOCK, &set, NULL);
	kill(getpid(), SIGHUP);
	sigqueue(getpid(), SIGRTMIN + 20, (union sigval) { 1 });
	umask(0117);
	prctl(PR_SET_CHILD_SUBREAPER, 1);
	personality(0x0040000 /* ADDR_NO_RANDOMIZE */);
	file = fopen("/proc/self/oom_score_adj", "we");
	fputs("123", file);
	fclose(file);
	file = fopen("/proc/self/coredump_filter", "we");
	fputs("0x51", file);
	fclose(file);
}

TEST_LOOP(state, 0, TRANSPARENCY_METHODS)
{
	static char process[2][TEXT_SIZE];
	static struct thread threads[THREADS], main_thread;
	static struct own before, after;
	int i;

	dress_up();
	for (i = 0; i < THREADS; i++) {
		threads[i].number = i + 1;
		transparency_spawn(&threads[i].thread, live, &threads[i]);
		transparency_await(&threads[i].ready, 1);
	}
	transparency_pass(_i); /* whatever happens at the first one only */
	main_thread.tid = getpid();
	read_settled_status(main_thread.tid, main_thread.status);
	read_stat(main_thread.tid, main_thread.stat);
	for (i = 0; i < THREADS; i++) {
		read_settled_status(threads[i].tid, threads[i].status);
		read_stat(threads[i].tid, threads[i].stat);
	}
	read_process(process[0]);
	look_at_self(&before);
	transparency_passes(_i, PASSES);
	look_at_self(&after);
	expect_same_own(&after, &before);
	read_process(process[1]);
	expect_same(process[1], process[0], "process");
	expect_same_thread(&main_thread);
	for (i = 0; i < THREADS; i++)
		expect_same_thread(&threads[i]);
	for (i = 0; i < THREADS; i++) {
		transparency_set(&threads[i].go, 1);
		pthread_join(threads[i].thread, NULL);
		expect_same_own(&threads[i].after, &threads[i].before);
		ck_assert_int_eq(threads[i].ready, 2);
	}
}

/* The handlers are the program's, flags, masks and all: each signal's. */
TEST_LOOP(handlers, 0, TRANSPARENCY_METHODS)
{
	static unsigned char before[65][32], after[65][32];
	pthread_t thread;
	struct thread other = { .number = 1 };
	int signo;

	dress_up();
	transparency_spawn(&thread, live, &other);
	transparency_await(&other.ready, 1);
	for (signo = 1; signo <= 64; signo++)
		syscall(SYS_rt_sigaction, signo, NULL, before[signo], 8);
	transparency_passes(_i, PASSES);
	for (signo = 1; signo <= 64; signo++) {
		syscall(SYS_rt_sigaction, signo, NULL, after[signo], 8);
		ck_assert_msg(memcmp(before[signo], after[signo], 32) == 0,
		    "signal %d", signo);
	}
	transparency_set(&other.go, 1);
	pthread_join(thread, NULL);
}

/* A program that may not read the time stamp counter is not killed for it. */
TEST_LOOP(no_time_stamps, 0, TRANSPARENCY_METHODS)
{
#if defined(__x86_64__)
	pthread_t thread;
	struct thread other = { .number = 1 };

	transparency_spawn(&thread, live, &other);
	transparency_await(&other.ready, 1);
	ck_assert_int_eq(prctl(PR_SET_TSC, PR_TSC_SIGSEGV), 0);
	transparency_passes(_i, PASSES);
	ck_assert_int_eq(prctl(PR_SET_TSC, PR_TSC_ENABLE), 0);
	transparency_set(&other.go, 1);
	pthread_join(thread, NULL);
#endif
}

/*
 * What libc would show: errno of every thread, also of the one that asks and
 * of those that are in a call; handlers of fork() and of exit(), which must
 * not run in the helper processes; stdio's buffers, written once.
 */

#define LIBC_PASSES 20
#define MAGIC 4242

static int *counts; /* shared with every process that ever comes of this */
enum { PREPARED, IN_PARENT, IN_CHILD, EXITED, DESTROYED, COUNTS };

struct watcher {
	pthread_t thread;
	int end, stop, wrong, ready;
	long rounds;
};

static void *
spin(void *arg)
{
	struct watcher *watcher = arg;

	errno = MAGIC;
	transparency_set(&watcher->ready, 1);
	while (!transparency_get(&watcher->stop)) {
		watcher->wrong += *(volatile int *)&errno != MAGIC;
		watcher->rounds++;
	}
	return NULL;
}

/* A call that succeeds leaves errno alone. */
static void *
sit_in_read(void *arg)
{
	struct watcher *watcher = arg;
	char byte;

	errno = MAGIC + 1;
	transparency_set(&watcher->ready, 1);
	watcher->wrong += read(watcher->end, &byte, 1) != 1;
	watcher->wrong += errno != MAGIC + 1;
	return NULL;
}

TEST_LOOP(error_numbers, 0, TRANSPARENCY_METHODS)
{
	struct watcher spinner = { .stop = 0 }, sitter = { .stop = 0 };
	int ends[2], error, k;

	ck_assert_int_eq(pipe2(ends, O_CLOEXEC), 0);
	sitter.end = ends[0];
	transparency_spawn(&spinner.thread, spin, &spinner);
	transparency_spawn(&sitter.thread, sit_in_read, &sitter);
	transparency_await(&spinner.ready, 1);
	transparency_await(&sitter.ready, 1);
	for (k = 0; k < LIBC_PASSES; k++) {
		errno = MAGIC + 2;
		transparency_pass(_i);
		error = errno;
		ck_assert_int_eq(error, MAGIC + 2);
	}
	ck_assert_int_eq(write(ends[1], "x", 1), 1);
	transparency_set(&spinner.stop, 1);
	pthread_join(spinner.thread, NULL);
	pthread_join(sitter.thread, NULL);
	ck_assert_int_eq(spinner.wrong, 0);
	ck_assert_int_eq(sitter.wrong, 0);
	ck_assert_int_gt(spinner.rounds, 0);
}

static void
count(int which)
{
	__atomic_add_fetch(&counts[which], 1, __ATOMIC_SEQ_CST);
}

static void
prepare(void)
{
	count(PREPARED);
}

static void
in_parent(void)
{
	count(IN_PARENT);
}

static void
in_child(void)
{
	count(IN_CHILD);
}

static void
at_end(void)
{
	count(EXITED);
}

static void
destroyed(void *value)
{
	(void)value;
	count(DESTROYED);
}

static void *
own_a_value(void *arg)
{
	static pthread_key_t key;

	ck_assert_int_eq(pthread_key_create(&key, destroyed), 0);
	pthread_setspecific(key, arg);
	return spin(arg);
}

TEST_LOOP(no_handler_runs, 0, TRANSPARENCY_METHODS)
{
	struct watcher other = { .stop = 0 };
	int ends[2], i;
	char text[64];
	FILE *file;

	counts = mmap(NULL, COUNTS * sizeof(*counts), PROT_READ | PROT_WRITE,
	    MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	ck_assert_ptr_ne(counts, MAP_FAILED);
	ck_assert_int_eq(pthread_atfork(prepare, in_parent, in_child), 0);
	ck_assert_int_eq(atexit(at_end), 0);
	ck_assert_int_eq(pipe2(ends, O_CLOEXEC | O_NONBLOCK), 0);
	file = fdopen(ends[1], "w");
	fputs("not yet", file);
	transparency_spawn(&other.thread, own_a_value, &other);
	transparency_await(&other.ready, 1);
	transparency_passes(_i, LIBC_PASSES);
	for (i = 0; i < COUNTS; i++)
		ck_assert_msg(counts[i] == 0, "count %d", i);
	ck_assert_int_eq(read(ends[0], text, sizeof(text)), -1);
	fclose(file);
	ck_assert_int_eq(read(ends[0], text, sizeof(text)), 7);
	transparency_set(&other.stop, 1);
	pthread_join(other.thread, NULL);
	ck_assert_int_eq(counts[DESTROYED], 1);
}
