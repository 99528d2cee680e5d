/*
 * Kill command, keeper and watchdog, one or several, in the middle of a check,
 * with a copy and without. The checked process must get the right results of
 * its system calls, keep registers and signal masks, have no tracer, and no
 * process or descriptor may remain. Its signal handlers must not run in a copy.
 */
#include <dirent.h>
#include <stdatomic.h>
#include <sys/prctl.h>
#include <sys/syscall.h>

#include "lib/check/check.h"
#include "tests/support/clock.h"
#include "tests/support/suite.h"

#define KILLS 8   /* or TESTS_KILLS; of each kind */
#define LEFT_S 90 /* keeper and watchdog try for 70 s: keeper_drop.c */
#define LEFT_NAP_US 5000
#define BLOCKS 20000

/* How long a kill waits once the target is seen to stand still. */
#define STOPPED_US 4000

enum who { COMMAND = 1, KEEPER = 2, WATCHDOG = 4, ALL = 7 };

static const struct kind {
	const char *name;
	unsigned who;
} kinds[] = {
	{ "command", COMMAND },
	{ "keeper", KEEPER },
	{ "watchdog", WATCHDOG },
	{ "command and keeper", COMMAND | KEEPER },
	{ "keeper and watchdog", KEEPER | WATCHDOG },
	{ "command and watchdog", COMMAND | WATCHDOG },
	{ "all", ALL },
};

#define KINDS ((int)(sizeof(kinds) / sizeof(kinds[0])))

/* What the first thread does: in a call, in its own code, or it has ended. */
enum first { WAITS, COMPUTES, ENDED, FIRSTS };

/* Shared with the child that is looked at. */
struct victim {
	_Atomic unsigned wrong, calls, signals;
	_Atomic bool ready, over;
	char words[200];
};

static struct victim *victim;
static pid_t victim_pid; /* for itself */
static pid_t target;
static pid_t keeper, watchdog; /* of the last check */
static int requests[2], replies[2];

static void
complain(const char *what, long got, long expected)
{
	if (atomic_fetch_add(&victim->wrong, 1) == 0)
		snprintf(victim->words, sizeof(victim->words),
		    "%s gave %ld, not %ld", what, got, expected);
}

static void
count_signal(int signo)
{
	(void)signo;
	atomic_fetch_add(&victim->signals, 1);
	if (getpid() != victim_pid)
		complain("a handler: getpid()", getpid(), victim_pid);
}

/* One byte at a time, the next number each time. */
static void *
answer_requests(void *arg)
{
	unsigned char byte = 0, next = 0;
	ssize_t got;

	(void)arg;
	while ((got = read(requests[0], &byte, 1)) != 0) {
		if (got != 1 || byte != next)
			complain("read()", got == 1 ? byte : got, next);
		next = (unsigned char)(byte + 1);
		got = write(replies[1], &byte, 1);
		if (got != 1)
			complain("write()", got, 1);
		atomic_fetch_add(&victim->calls, 1);
	}
	return NULL;
}

static void *
sleep_and_ask(void *arg)
{
	long pid = getpid(), got;
	sigset_t mask;

	(void)arg;
	while (!victim->over) {
		nap_us(1000);
		got = syscall(SYS_getpid);
		if (got != pid)
			complain("getpid()", got, pid);
		pthread_sigmask(SIG_BLOCK, NULL, &mask);
		if (sigismember(&mask, SIGUSR1))
			complain("the mask", 1, 0);
	}
	return NULL;
}

/* Each turn is long enough to be stopped in, and leaves the CPU to others. */
static void *
compute(void *arg)
{
	unsigned long a = 1, b = 2, c = 3, i;
	double d;

	(void)arg;
	while (!victim->over) {
		for (i = 0, d = 0.5; i < 10000; i++) {
			a += 3;
			b += 5;
			c += 7;
			d += 0.25;
		}
		if (d != 2500.5)
			complain("arithmetic", (long)(d * 4), 10002);
		if (b - 2 != (a - 1) / 3 * 5 || c - 3 != (a - 1) / 3 * 7)
			complain("arithmetic", (long)b, (long)a);
		nap_us(500);
	}
	return NULL;
}

static void
run_target(enum first first)
{
	static void *(*const bodies[])(
	    void *) = { answer_requests, sleep_and_ask, compute };
	struct sigaction action = { .sa_handler = count_signal,
		.sa_flags = SA_RESTART };
	static void *blocks[BLOCKS];
	pthread_t threads[3];
	size_t i;

	prctl(PR_SET_PDEATHSIG, SIGKILL);
	close(requests[1]);
	close(replies[0]);
	setpgid(0, 0);
	victim_pid = getpid();
	sigaction(SIGUSR1, &action, NULL);
	for (i = 0; i < BLOCKS; i++)
		blocks[i] = malloc(100);
	for (i = 0; i < 3; i++)
		pthread_create(&threads[i], NULL, bodies[i], NULL);
	victim->ready = true;
	if (first == ENDED)
		pthread_exit(NULL);
	if (first == COMPUTES)
		compute(NULL);
	pthread_join(threads[0], NULL);
	victim->over = true;
	for (i = 1; i < 3; i++)
		pthread_join(threads[i], NULL);
	_exit(blocks[BLOCKS - 1] == NULL);
}

static void
start_target(enum first first)
{
	victim = mmap(NULL, sizeof(*victim), PROT_READ | PROT_WRITE,
	    MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	ck_assert_ptr_ne(victim, MAP_FAILED);
	ck_assert(pipe(requests) == 0 && pipe(replies) == 0);
	target = fork();
	ck_assert_int_ge(target, 0);
	if (target == 0)
		run_target(first);
	close(requests[0]);
	close(replies[1]);
	while (!victim->ready)
		nap_us(1000);
}

static void
teardown(void)
{
	kill(target, SIGKILL);
	waitpid(target, NULL, 0);
}

static void
ask(void)
{
	static unsigned char byte;
	unsigned char got = 0;

	ck_assert_int_eq(write(requests[1], &byte, 1), 1);
	ck_assert_int_eq(read(replies[0], &got, 1), 1);
	ck_assert_uint_eq(got, byte);
	byte++;
}

/* "17 (a name) S 4711 ...": state and parent. */
static bool
read_stat(const char *pid, char *name, char *state, pid_t *parent)
{
	char path[300], line[512] = "", *end;
	FILE *file;

	snprintf(path, sizeof(path), "/proc/%s/stat", pid);
	file = fopen(path, "r");
	if (file == NULL)
		return false;
	end =
	    fgets(line, sizeof(line), file) != NULL ? strrchr(line, ')') : NULL;
	fclose(file);
	if (end == NULL || sscanf(end, ") %c %d", state, parent) != 2)
		return false;
	*end = '\0';
	snprintf(name, 32, "%.31s", strchr(line, '(') + 1);
	return true;
}

/* A child of PARENT called NAME (NULL: any), or 0. */
static pid_t
find_child(pid_t parent, const char *name)
{
	char path[64], found_name[32], state;
	pid_t found = 0, pid, its;
	FILE *file;

	snprintf(
	    path, sizeof(path), "/proc/%d/task/%d/children", parent, parent);
	file = fopen(path, "r");
	while (file != NULL && found == 0 && fscanf(file, "%d", &pid) == 1) {
		snprintf(path, sizeof(path), "%d", pid);
		if (name == NULL ||
		    (read_stat(path, found_name, &state, &its) &&
			strcmp(name, found_name) == 0))
			found = pid;
	}
	if (file != NULL)
		fclose(file);
	return found;
}

/* Does every thread run untraced? */
static bool
is_free(void)
{
	char path[300], line[256], state;
	struct dirent *entry;
	bool all = true;
	int tracer;
	DIR *tasks;
	FILE *file;

	snprintf(path, sizeof(path), "/proc/%d/task", target);
	tasks = opendir(path);
	ck_assert_ptr_nonnull(tasks);
	while ((entry = readdir(tasks)) != NULL) {
		snprintf(path, sizeof(path), "/proc/%d/task/%s/status", target,
		    entry->d_name);
		file = fopen(path, "r");
		while (file != NULL && fgets(line, sizeof(line), file)) {
			if (sscanf(line, "State: %c", &state) == 1)
				all &= state != 't' && state != 'T';
			if (sscanf(line, "TracerPid: %d", &tracer) == 1)
				all &= tracer == 0;
		}
		if (file != NULL)
			fclose(file);
	}
	closedir(tasks);
	return all;
}

/* Has it ended, whether or not init has reaped it yet? */
static bool
has_ended(pid_t pid)
{
	char path[32], name[32], state;
	pid_t parent;

	snprintf(path, sizeof(path), "%d", pid);
	return pid == 0 || !read_stat(path, name, &state, &parent) ||
	    state == 'Z' || strncmp(name, "mu-", 3) != 0;
}

/*
 * With ZOMBIES copies that have ended may not have been reaped: when all three
 * are killed at once while they read one, no process is left to do that before
 * the next look.
 */
static void
expect_nothing_left(const char *when, bool zombies)
{
	char path[32], name[32] = "", state = 0;
	pid_t child = 0, parent;
	time_t end = time(NULL) + LEFT_S;

	while (time(NULL) < end) {
		child = find_child(target, NULL);
		snprintf(path, sizeof(path), "%d", child);
		if (has_ended(keeper) && has_ended(watchdog) && is_free() &&
		    (child == 0 ||
			(zombies && read_stat(path, name, &state, &parent) &&
			    state == 'Z')))
			return;
		nap_us(LEFT_NAP_US);
	}
	read_stat(path, name, &state, &parent);
	ck_abort_msg("%s: left: child %d (%s, %c); keeper %d ended: %d, "
		     "watchdog %d: %d; free: %d",
	    when, child, name, state == 0 ? '-' : state, (int)keeper,
	    has_ended(keeper), (int)watchdog, has_ended(watchdog), is_free());
}

static pid_t
start_command(enum mu_check_stop stop)
{
	struct mu_check check = {
		.pid = target,
		.stop = stop,
		.timeout_ns = 60ull * 1000 * 1000 * 1000,
		.max_pause_ns = 10ull * 1000 * 1000 * 1000,
		.limit = 1000,
	};
	struct mu_report answer;
	pid_t pid = fork();

	ck_assert_int_ge(pid, 0);
	if (pid == 0)
		_exit((int)mu_check_process(&check, &answer));
	return pid;
}

/* In us, from the start of the keeper. */
static long
length_of_a_check(enum mu_check_stop stop)
{
	struct timespec begin, end;
	pid_t pid;

	clock_gettime(CLOCK_MONOTONIC, &begin);
	pid = start_command(stop);
	waitpid(pid, NULL, 0);
	clock_gettime(CLOCK_MONOTONIC, &end);
	return (end.tv_sec - begin.tv_sec) * 1000000 +
	    (end.tv_nsec - begin.tv_nsec) / 1000;
}

static bool
is_stopped(void)
{
	char path[64], name[32], state;
	pid_t parent;

	snprintf(path, sizeof(path), "%d/task/%d", target, target);
	return read_stat(path, name, &state, &parent) && state == 't';
}

/* Each second time when the target has just been stopped. */
static void
await_moment(int round, long us)
{
	int tries;

	if (round % 2 == 0) {
		nap_us(rand() % us);
		return;
	}
	for (tries = 0; tries < 5000 && !is_stopped(); tries++)
		nap_us(20);
	nap_us(rand() % STOPPED_US);
}

static void
kill_some(unsigned who, enum mu_check_stop stop, int round, long us)
{
	pid_t command = start_command(stop);
	int tries;

	keeper = 0;

	for (tries = 0; tries < 5000 && keeper == 0; tries++) {
		nap_us(20);
		keeper = find_child(command, "mu-keeper");
	}
	watchdog = find_child(command, "mu-watchdog");
	await_moment(round, us);
	kill(-target, SIGUSR1);
	if ((who & WATCHDOG) != 0 && watchdog != 0)
		kill(watchdog, SIGKILL);
	if ((who & KEEPER) != 0 && keeper != 0)
		kill(keeper, SIGKILL);
	if ((who & COMMAND) != 0)
		kill(command, SIGKILL);
	kill(-target, SIGUSR1);
	ck_assert_int_eq(waitpid(command, NULL, 0), command);
}

static void
check_once_more(enum mu_check_stop stop)
{
	int status;

	ck_assert_int_gt(waitpid(start_command(stop), &status, 0), 0);
	ck_assert_int_eq(status, MU_OK << 8);
}

/* _i: which way, what the first thread does, and who is killed. */
TEST_LOOP(at_any_moment, 0, 2 * KINDS * FIRSTS)
{
	const struct kind *kind = &kinds[_i % KINDS];
	enum first first = (enum first)(_i / KINDS % FIRSTS);
	enum mu_check_stop stop =
	    _i < KINDS * FIRSTS ? MU_CHECK_STOP_FORK : MU_CHECK_STOP_READ;
	int i, kills = (int)suite_rounds("TESTS_KILLS", KILLS);
	long us;

	start_target(first);
	us = length_of_a_check(stop) + 1;
	srand((unsigned)_i);
	for (i = 0; i < kills; i++) {
		kill_some(kind->who, stop, i, us);
		expect_nothing_left(
		    kind->name, kind->who == ALL && stop == MU_CHECK_STOP_FORK);
		ask();
		ck_assert_msg(victim->wrong == 0, "%s, kill %d of %d: %s",
		    kind->name, i, kills, victim->words);
	}
	ck_assert_int_eq(waitpid(target, NULL, WNOHANG), 0);
	check_once_more(stop);
	expect_nothing_left("after one more look", false);
	ck_assert_uint_gt(victim->signals, 0);
}

/* True: there is a copy of the target, and all that could end it are stopped.
 */
static bool
stop_at_copy(pid_t command)
{
	siginfo_t info;
	int tries;

	keeper = watchdog = 0;
	for (tries = 0; tries < 100000; tries++) {
		if (keeper == 0)
			keeper = find_child(command, "mu-keeper");
		if (watchdog == 0)
			watchdog = find_child(command, "mu-watchdog");
		if (keeper != 0 && watchdog != 0 &&
		    find_child(target, "mu-copy") != 0) {
			kill(keeper, SIGSTOP);
			kill(watchdog, SIGSTOP);
			kill(command, SIGSTOP);
			return true;
		}
		info.si_pid = 0;
		waitid(
		    P_PID, (id_t)command, &info, WEXITED | WNOHANG | WNOWAIT);
		if (info.si_pid != 0)
			break;
	}
	return false;
}

/*
 * No process is left that could make the target reap the copy; only the target
 * can wait for it, and the next check makes it do so.
 */
TEST(all_beside_a_copy)
{
	unsigned left = 0, i;
	pid_t command;

	start_target(WAITS);
	for (i = 0; i < 40 && left < 3; i++) {
		command = start_command(MU_CHECK_STOP_FORK);
		if (stop_at_copy(command)) {
			kill(watchdog, SIGKILL);
			kill(keeper, SIGKILL);
			kill(command, SIGKILL);
		}
		ck_assert_int_eq(waitpid(command, NULL, 0), command);
		expect_nothing_left("all, beside a copy", true);
		left += find_child(target, "mu-copy") != 0;
		check_once_more(MU_CHECK_STOP_FORK);
		expect_nothing_left("after one more look", false);
	}
	ck_assert_msg(victim->wrong == 0, "%s", victim->words);
}

SUITE(.unfiltered = SUITE_INJECTS, .timeout = 1200, .teardown = teardown);
