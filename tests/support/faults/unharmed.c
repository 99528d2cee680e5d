#include "tests/support/faults/unharmed.h"

/*
 * SIGRTMIN signals, each with a number, of which every one must arrive exactly
 * once, and SIGUSR1, which may be merged but not lost.
 *
 * The sender is not a child of the program, so that there is nothing to wait
 * for, and ends when the program does.
 */

#define STEADY_MAX (1u << 22)
#define STEADY_MS 1 /* between two signals */
#define STEADY_USR1 4
#define STEADY_SIGNAL (SIGRTMIN + 7)

/* Counted by the sender, once the kernel has it. */
struct steady_sent {
	unsigned numbers, usr1;
};

/*
 * The program reads SENT from a file: for shared memory, which may have moved
 * pointers, each pass naps for 63 ms (heapwalk/refer/moved.c), and a walk makes
 * thousands of passes.
 */
struct steady {
	int sent;
	unsigned received, usr1_received, strays;
	unsigned checked; /* numbers below were seen once */
	unsigned char seen[STEADY_MAX];
};

/* Handlers have no other way to it. */
static struct steady steady;

static void
steady_on_number(int signo, siginfo_t *info, void *context)
{
	unsigned number = (unsigned)info->si_value.sival_int;

	(void)signo;
	(void)context;
	if (info->si_code != SI_QUEUE || number >= STEADY_MAX) {
		__atomic_add_fetch(&steady.strays, 1, __ATOMIC_SEQ_CST);
		return;
	}
	__atomic_add_fetch(&steady.seen[number], 1, __ATOMIC_SEQ_CST);
	__atomic_add_fetch(&steady.received, 1, __ATOMIC_SEQ_CST);
}

static void
steady_on_usr1(int signo)
{
	(void)signo;
	__atomic_add_fetch(&steady.usr1_received, 1, __ATOMIC_SEQ_CST);
}

static _Noreturn void
steady_send(pid_t to, int alive)
{
	struct pollfd end = { alive, POLLIN, 0 };
	struct steady_sent sent = { 0, 0 };
	union sigval value = { 0 };

	while (poll(&end, 1, STEADY_MS) == 0 && sent.numbers < STEADY_MAX) {
		value.sival_int = (int)sent.numbers;
		if (sigqueue(to, STEADY_SIGNAL, value) == 0)
			sent.numbers++;
		if (sent.numbers % STEADY_USR1 == 0 && kill(to, SIGUSR1) == 0)
			sent.usr1++;
		if (pwrite(steady.sent, &sent, sizeof(sent), 0) < 0)
			break;
	}
	_exit(0);
}

static void
steady_begin(void)
{
	struct sigaction action = { .sa_flags = SA_SIGINFO | SA_RESTART };
	pid_t pid, self = getpid();
	int alive[2];

	steady.sent = memfd_create("sent", MFD_CLOEXEC);
	ck_assert_int_ge(steady.sent, 0);
	action.sa_sigaction = steady_on_number;
	ck_assert_int_eq(sigaction(STEADY_SIGNAL, &action, NULL), 0);
	action.sa_flags = SA_RESTART;
	action.sa_handler = steady_on_usr1;
	ck_assert_int_eq(sigaction(SIGUSR1, &action, NULL), 0);
	ck_assert_int_eq(pipe2(alive, O_CLOEXEC), 0);
	pid = fork();
	ck_assert_int_ge(pid, 0);
	if (pid == 0) {
		close(alive[1]);
		if (fork() == 0)
			steady_send(self, alive[0]);
		_exit(0);
	}
	ck_assert_int_eq(waitpid(pid, NULL, 0), pid);
	close(alive[0]);
}

static struct steady_sent
steady_sent(void)
{
	struct steady_sent sent = { 0, 0 };

	ck_assert_int_ge(pread(steady.sent, &sent, sizeof(sent), 0), 0);
	return sent;
}

/* All that were sent until now have come, none of them twice. */
static void
steady_check(void)
{
	struct steady_sent sent = steady_sent();
	unsigned usr1 =
	    __atomic_load_n(&steady.usr1_received, __ATOMIC_SEQ_CST);
	unsigned once;

	for (; steady.checked < sent.numbers; steady.checked++) {
		while ((once = __atomic_load_n(&steady.seen[steady.checked],
			    __ATOMIC_SEQ_CST)) == 0)
			usleep(100); /* for ever: the test's time-out */
		ck_assert_msg(
		    once == 1, "signal %u came %u times", steady.checked, once);
	}
	ck_assert_uint_eq(__atomic_load_n(&steady.strays, __ATOMIC_SEQ_CST), 0);
	/* One that was pending has come, or one that was sent since. */
	while (usr1 == __atomic_load_n(&steady.usr1_received, __ATOMIC_SEQ_CST))
		usleep(100);
	ck_assert_uint_le(usr1, steady_sent().usr1 + 1);
}

/*
 * A worker's load is the same in every round, so that its heap stands still. A
 * nap now and then leaves room for whom it is all about, and for other tests: a
 * few long ones, as the end of each may take 20 us of CPU time.
 */
#define ROUNDS_A_NAP 64
#define WORKER_NAP_NS 500000

static int unharmed_sigchlds;
static int unharmed_tracer; /* before the pass; 0 = none */

void
unharmed_on_sigchld(int signo)
{
	(void)signo;
	__atomic_add_fetch(&unharmed_sigchlds, 1, __ATOMIC_SEQ_CST);
}

void
thread_state_look(struct thread_state *state)
{
	memset(state, 0, sizeof(*state));
	state->error = errno;
	syscall(SYS_rt_sigprocmask, SIG_BLOCK, NULL, &state->mask,
	    sizeof(state->mask));
	sigaltstack(NULL, &state->stack);
}

bool
thread_state_same(const struct thread_state *was)
{
	struct thread_state now;

	thread_state_look(&now);
	return now.mask == was->mask && now.error == was->error &&
	    now.stack.ss_sp == was->stack.ss_sp &&
	    now.stack.ss_size == was->stack.ss_size &&
	    now.stack.ss_flags == was->stack.ss_flags;
}

static void *
worker_body(void *arg)
{
	struct worker *worker = arg;
	stack_t stack = { .ss_sp = worker->stack,
		.ss_size = sizeof(worker->stack) };
	struct thread_state state;
	char *small, *big;

	sigaltstack(&stack, NULL);
	errno = 4711;
	thread_state_look(&state);
	while (!__atomic_load_n(&worker->stop, __ATOMIC_ACQUIRE)) {
		small = malloc(40);
		big = malloc(3000); /* too big for the tcache */
		if (small == NULL || big == NULL)
			worker->wrong = true;
		else {
			memset(small, 0x11, 40);
			memset(big, 0x22, 3000);
			worker->wrong |= small[39] != 0x11 || big[2999] != 0x22;
		}
		free(big);
		free(small);
		if (worker->rounds % ROUNDS_A_NAP == 0) {
			worker->wrong |= !thread_state_same(&state);
			mu_sys_sleep_ns(WORKER_NAP_NS); /* without errno */
		}
		__atomic_add_fetch(&worker->rounds, 1, __ATOMIC_RELEASE);
	}
	return NULL;
}

static size_t
count_descriptors(void)
{
	DIR *dir = opendir("/proc/self/fd");
	size_t count = 0;

	ck_assert_ptr_nonnull(dir);
	while (readdir(dir) != NULL)
		count++;
	closedir(dir);
	return count;
}

void
unharmed_expect_sigchld(void)
{
	while (__atomic_load_n(&unharmed_sigchlds, __ATOMIC_SEQ_CST) == 0)
		mu_sys_sleep_ns(NAP_NS);
	__atomic_sub_fetch(&unharmed_sigchlds, 1, __ATOMIC_SEQ_CST);
}

/* All mappings but the program's own heap and stack, which may grow. */
static void
read_mappings(char *text, size_t size)
{
	FILE *maps = fopen("/proc/self/maps", "re");
	char line[512];
	size_t used = 0;

	ck_assert_ptr_nonnull(maps);
	text[0] = '\0';
	while (fgets(line, sizeof(line), maps) != NULL) {
		if (strstr(line, "[heap]") != NULL ||
		    strstr(line, "[stack]") != NULL)
			continue;
		ck_assert_uint_lt(used + strlen(line), size);
		used += (size_t)snprintf(text + used, size - used, "%s", line);
	}
	fclose(maps);
}

/* Every worker does another WORK rounds. */
static void
await_workers(struct unharmed *before)
{
	unsigned long work = 3 * ROUNDS_A_NAP, from[WORKERS];
	size_t i;

	for (i = 0; i < WORKERS; i++)
		from[i] = __atomic_load_n(
		    &before->workers[i].rounds, __ATOMIC_ACQUIRE);
	for (i = 0; i < WORKERS; i++)
		while (__atomic_load_n(&before->workers[i].rounds,
			   __ATOMIC_ACQUIRE) < from[i] + work)
			mu_sys_sleep_ns(NAP_NS); /* for ever: the time-out */
}

static void
read_dispositions(struct disposition *all)
{
	int signo;

	memset(all, 0, KERNEL_SIGNALS * sizeof(*all));
	for (signo = 1; signo <= KERNEL_SIGNALS; signo++)
		ck_assert_int_eq(syscall(SYS_rt_sigaction, signo, NULL,
				     &all[signo - 1], sizeof(uint64_t)),
		    0);
}

static void
assert_same_dispositions(const struct disposition *was)
{
	struct disposition now[KERNEL_SIGNALS];
	int i;

	read_dispositions(now);
	for (i = 0; i < KERNEL_SIGNALS; i++)
		ck_assert_msg(memcmp(&now[i], &was[i], sizeof(now[i])) == 0,
		    "signal %d: handler %#lx flags %#lx, once %#lx %#lx", i + 1,
		    (unsigned long)now[i].handler, now[i].flags,
		    (unsigned long)was[i].handler, was[i].flags);
}

void
unharmed_look(struct unharmed *before)
{
	await_workers(before);
	unharmed_sigchlds = 0;
	thread_state_look(&before->main);
	read_dispositions(before->dispositions);
	count_descriptors(); /* opendir() allocates: once before we look */
	before->num_descriptors = count_descriptors();
	read_mappings(before->mappings, sizeof(before->mappings));
	read_mappings(before->mappings, sizeof(before->mappings));
}

/* A debugger that all of it is run under. */
static int
read_tracer(void)
{
	FILE *status = fopen("/proc/self/status", "re");
	char line[256];
	int tracer = 0;

	ck_assert_ptr_nonnull(status);
	while (fgets(line, sizeof(line), status) != NULL)
		sscanf(line, "TracerPid: %d", &tracer);
	fclose(status);
	return tracer;
}

void
unharmed_begin(struct unharmed *before)
{
	struct sigaction action = { .sa_handler = unharmed_on_sigchld,
		.sa_flags = SA_RESTART | SA_NOCLDSTOP };
	size_t i;

	memset(before, 0, sizeof(*before));
	unharmed_tracer = read_tracer();
	steady_begin();
	for (i = 0; i < WORKERS; i++)
		ck_assert_int_eq(pthread_create(&before->workers[i].thread,
				     NULL, worker_body, &before->workers[i]),
		    0);
	sigaction(SIGCHLD, &action, NULL);
	unharmed_look(before);
}

/* Neither the process nor any of its threads is traced or stopped. */
static void
assert_task_free(const char *tid)
{
	char path[300], line[256], state = '?';
	FILE *status;
	int tracer = -1;

	snprintf(path, sizeof(path), "/proc/self/task/%s/status", tid);
	status = fopen(path, "re");
	if (status == NULL)
		return; /* it has just ended */
	while (fgets(line, sizeof(line), status) != NULL) {
		sscanf(line, "TracerPid: %d", &tracer);
		sscanf(line, "State: %c", &state);
	}
	fclose(status);
	ck_assert_msg(tracer <= 0 || tracer == unharmed_tracer,
	    "thread %s is traced by %d", tid, tracer);
	/* One from outside stops it at each of its system calls, too. */
	ck_assert_msg(state != 'T' && (state != 't' || tracer > 0),
	    "thread %s is stopped", tid);
}

static void
assert_all_free(void)
{
	DIR *dir = opendir("/proc/self/task");
	struct dirent *entry;

	ck_assert_ptr_nonnull(dir);
	while ((entry = readdir(dir)) != NULL)
		if (entry->d_name[0] != '.')
			assert_task_free(entry->d_name);
	closedir(dir);
}

/* Two texts of lines; the first difference is shown. */
static void
assert_same_lines(const char *a, const char *b)
{
	const char *line_a = a, *line_b = b;

	for (; *a == *b && *a != '\0'; a++, b++)
		if (*a == '\n') {
			line_a = a + 1;
			line_b = b + 1;
		}
	ck_assert_msg(*a == *b, "mappings differ: now \"%.*s\", once \"%.*s\"",
	    (int)strcspn(line_a, "\n"), line_a, (int)strcspn(line_b, "\n"),
	    line_b);
}

void
unharmed_check(struct unharmed *before)
{
	static char mappings[sizeof(before->mappings)];
	size_t i;

	errno = before->main.error;
	ck_assert_msg(thread_state_same(&before->main),
	    "the main thread's signal mask or alternate stack has changed");
	ck_assert_msg(
	    waitpid(-1, NULL, __WALL | WNOHANG) == -1 && errno == ECHILD,
	    "a child is left");
	ck_assert_int_eq(
	    __atomic_load_n(&unharmed_sigchlds, __ATOMIC_SEQ_CST), 0);
	await_workers(before);
	for (i = 0; i < WORKERS; i++)
		ck_assert_msg(!__atomic_load_n(
				  &before->workers[i].wrong, __ATOMIC_ACQUIRE),
		    "a worker's memory, errno, mask or stack has changed");
	steady_check();
	assert_same_dispositions(before->dispositions);
	ck_assert_uint_eq(count_descriptors(), before->num_descriptors);
	assert_all_free();
	read_mappings(mappings, sizeof(mappings));
	assert_same_lines(mappings, before->mappings);
}

void
unharmed_end(struct unharmed *before)
{
	size_t i;

	for (i = 0; i < WORKERS; i++)
		__atomic_store_n(
		    &before->workers[i].stop, true, __ATOMIC_RELEASE);
	for (i = 0; i < WORKERS; i++) {
		pthread_join(before->workers[i].thread, NULL);
		ck_assert(!before->workers[i].wrong);
	}
}
