#include "tests/support/faults/failing_pass.h"

#include <sys/ptrace.h>

#include "mu/sys.h"

#define PAUSE_US 20000

/* While a filter is installed, or a supervisor made: milliseconds each. */
#define NAP_US 50

/*
 * The thread that asks tells its supervisor that the pass begins or ends: by a
 * call that no pass makes, and which does nothing.
 */
#define SWITCH_CALL SYS_pwrite64
#define SWITCH_FD (-4712)

static void
fault_switch(int on)
{
	mu_sys4(SWITCH_CALL, SWITCH_FD, 0, on, 0); /* leaves errno */
}

static bool
is_switch(const struct seccomp_data *call)
{
	return call->nr == SWITCH_CALL && (int)call->args[0] == SWITCH_FD;
}

static void
fault_record_clear(struct fault_record *record)
{
	memset(record, 0, sizeof(*record));
	record->tgid = getpid();
	record->next = ROLE_COLLECTOR;
}

/* For the calling thread and what it starts. The listener, or -errno. */
static int
fault_filter(const struct fault *fault)
{
	struct sock_filter one[] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS,
		    offsetof(struct seccomp_data, nr)),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, (uint32_t)fault->nr, 3, 0),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_clone, 2, 0),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SWITCH_CALL, 1, 0),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_USER_NOTIF),
	};
	struct sock_filter all[] = {
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_USER_NOTIF),
	};
	struct sock_fprog program = { sizeof(one) / sizeof(one[0]), one };
	unsigned long flags = SECCOMP_FILTER_FLAG_NEW_LISTENER;
	long fd;

	if (fault->nr == ANY_CALL)
		program = (struct sock_fprog) { 1, all };
	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0)
		return -errno;
	/* Otherwise a signal during the call makes it be seen twice. */
	fd = syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER,
	    flags | SECCOMP_FILTER_FLAG_WAIT_KILLABLE_RECV, &program);
	if (fd < 0)
		fd = syscall(
		    SYS_seccomp, SECCOMP_SET_MODE_FILTER, flags, &program);
	return fd < 0 ? -errno : (int)fd;
}

static enum fault_role
fault_role_of(struct fault_record *record, pid_t pid)
{
	unsigned i;

	if (pid == record->original)
		return ROLE_ORIGINAL;
	for (i = 0; i < record->num_pids; i++)
		if (record->pids[i] == pid)
			return record->roles[i];
	if (record->num_pids < MAX_PROCESSES) {
		record->pids[record->num_pids] = pid;
		record->roles[record->num_pids++] = record->next;
	}
	return record->next;
}

/*
 * Half of a read or write, done for the caller. 0: it cannot be halved.
 * Multiples of 8, as /proc/PID/pagemap wants them.
 */
static int64_t
fault_half(pid_t pid, const struct seccomp_data *call)
{
	static char bytes[65536];
	size_t size = call->args[2] >= 16 ? call->args[2] / 16 * 8 : 1;
	struct iovec local = { bytes,
		size < sizeof(bytes) ? size : sizeof(bytes) };
	struct iovec remote = { (void *)(uintptr_t)call->args[1],
		local.iov_len };
	int pidfd, fd;
	ssize_t n = -1;

	if (call->args[2] < 2)
		return 0;
	pidfd = (int)syscall(SYS_pidfd_open, pid, 0);
	fd = (int)syscall(SYS_pidfd_getfd, pidfd, (int)call->args[0], 0);
	if (fd >= 0 && call->nr == SYS_write &&
	    process_vm_readv(pid, &local, 1, &remote, 1, 0) > 0)
		n = write(fd, bytes, local.iov_len);
	else if (fd >= 0 && call->nr == SYS_read)
		n = read(fd, bytes, local.iov_len);
	else if (fd >= 0 && call->nr == SYS_pread64)
		n = pread(fd, bytes, local.iov_len, (off_t)call->args[3]);
	if (n >= 0 && call->nr != SYS_write) {
		local.iov_len = remote.iov_len = (size_t)n;
		process_vm_writev(pid, &local, 1, &remote, 1, 0);
	}
	if (fd >= 0)
		close(fd);
	if (pidfd >= 0)
		close(pidfd);
	return n > 0 ? n : 0;
}

static void
fault_answer(int listener, struct seccomp_notif_resp *answer)
{
	ioctl(listener, SECCOMP_IOCTL_NOTIF_SEND, answer);
}

bool
fault_act(int listener, const struct fault *fault,
    const struct seccomp_notif *ask, pid_t tgid)
{
	struct seccomp_notif_resp answer = { .id = ask->id,
		.flags = SECCOMP_USER_NOTIF_FLAG_CONTINUE };
	pid_t pid = (pid_t)ask->pid;
	bool done = true;

	switch (fault->act) {
	case FAULT_NONE:
		break;
	case FAULT_DENY:
		answer.flags = 0;
		answer.error = -fault->error;
		break;
	case FAULT_SHORT:
		answer.val = fault_half(
		    fault->role == ROLE_ORIGINAL ? tgid : pid, &ask->data);
		done = answer.val > 0;
		if (done)
			answer.flags = 0;
		break;
	case FAULT_KILL:
		kill(pid, SIGKILL);
		return true;
	case FAULT_STOP:
	case FAULT_PAUSE:
		kill(pid, SIGSTOP);
		break;
	}
	fault_answer(listener, &answer);
	if (fault->act == FAULT_PAUSE) {
		usleep(PAUSE_US);
		kill(pid, SIGCONT);
	}
	return done;
}

static void
fault_note(struct fault_record *record, enum fault_role role,
    const struct seccomp_data *call)
{
	if (call->nr >= 0 && call->nr < MAX_CALL)
		record->counts[role][call->nr]++;
	if (call->nr == SYS_clone && role != ROLE_ORIGINAL)
		record->next = ROLE_SWEEPER;
	else if (call->nr == SYS_clone)
		record->next = (call->args[0] & CLONE_VM) != 0 ? ROLE_COLLECTOR
							       : ROLE_SWEEPER;
}

/*
 * The instruction, the call before it, and the arguments: their values where
 * they are descriptors, flags, or small sizes, else only that they are large;
 * but of read() not the size, which is what earlier reads have left of a
 * buffer. Of openat(), newfstatat(), and readlinkat() the name, its digits left
 * out.
 */
static void
fault_note_site(struct fault_record *record, const struct seccomp_notif *ask)
{
	const struct seccomp_data *call = &ask->data;
	struct noted_call *note = &record->noted[record->num_noted];
	uint32_t site = (uint32_t)call->instruction_pointer;
	struct iovec local, remote;
	char name[24] = "";
	size_t i;

	if (record->num_noted == MAX_NOTED)
		return;
	if (record->num_noted++ > 0)
		site = site * 31 + (uint32_t)note[-1].nr;
	for (i = 0; i < (call->nr == SYS_read ? 2 : 6); i++)
		site = site * 31 +
		    (uint32_t)(call->args[i] < 4096 ? call->args[i] : 4096);
	local = (struct iovec) { name, sizeof(name) };
	remote =
	    (struct iovec) { (void *)(uintptr_t)call->args[1], sizeof(name) };
	if (call->nr == SYS_openat || call->nr == SYS_newfstatat ||
	    call->nr == SYS_readlinkat)
		process_vm_readv((pid_t)ask->pid, &local, 1, &remote, 1, 0);
	for (i = 0; i < sizeof(name) && name[i] != '\0'; i++)
		if (name[i] < '0' || name[i] > '9')
			site = site * 31 + (unsigned char)name[i];
	*note = (struct noted_call) { call->nr, site };
}

static void
fault_serve(
    int listener, const struct fault *fault, struct fault_record *record)
{
	struct seccomp_notif ask = { 0 };
	struct seccomp_notif_resp go_on = { 0 };
	enum fault_role role;

	if (ioctl(listener, SECCOMP_IOCTL_NOTIF_RECV, &ask) != 0)
		return;
	if (is_switch(&ask.data)) {
		record->in_pass = ask.data.args[2] != 0;
	} else if (record->in_pass) {
		role = fault_role_of(record, (pid_t)ask.pid);
		fault_note(record, role, &ask.data);
		if (fault->act == FAULT_NONE && role == fault->role)
			fault_note_site(record, &ask);
		if ((role == fault->role || fault->for_ever) &&
		    (fault->nr == ANY_CALL || fault->nr == ask.data.nr) &&
		    (++record->seen == fault->nth ||
			(fault->for_ever && record->seen > fault->nth))) {
			record->acted_on = ask.data.nr;
			record->acts +=
			    fault_act(listener, fault, &ask, record->tgid);
			return;
		}
	}
	go_on.id = ask.id;
	go_on.flags = SECCOMP_USER_NOTIF_FLAG_CONTINUE;
	fault_answer(listener, &go_on);
}

/* The supervisor's life: until no task with the filter is left. */
static _Noreturn void
fault_supervise(int listener, const struct fault *fault,
    struct fault_record *record, int end)
{
	struct pollfd wait = { listener, POLLIN, 0 };

	while (poll(&wait, 1, 60000) > 0 && (wait.revents & POLLIN) != 0)
		fault_serve(listener, fault, record);
	_exit(write(end, record, sizeof(*record)) != sizeof(*record));
}

/* No malloc here: an arena for this thread would be a new mapping. */
static void *
failing_body(void *arg)
{
	static const struct watched_call no_ptrace = {
		.nr = SYS_ptrace, .argument = -1, .error = EPERM
	};
	struct failing_pass *failing = arg;
	struct thread_state state;
	struct rlimit files;
	sigset_t all;

	/* A handler in this thread would make calls under the filter. */
	sigfillset(&all);
	sigdelset(&all, SIGTERM);
	sigdelset(&all, SIGXFSZ); /* a log that kills shall kill */
	sigdelset(&all, SIGPIPE);
	pthread_sigmask(SIG_SETMASK, &all, NULL);
	if (failing->call != NULL)
		failing->listener =
		    watched_call_filter(failing->call, failing->by_filter);
	if (failing->no_ptrace)
		watched_call_filter(&no_ptrace, true);
	if (failing->fault != NULL) {
		fault_record_clear(failing->record);
		failing->record->original = (pid_t)syscall(SYS_gettid);
		failing->listener = fault_filter(failing->fault);
	}
	__atomic_store_n(&failing->installed, 1, __ATOMIC_RELEASE);
	while (!__atomic_load_n(&failing->go, __ATOMIC_ACQUIRE))
		usleep(NAP_US); /* it may be refused */
	if (failing->files != NULL) {
		getrlimit(RLIMIT_FSIZE, &files);
		setrlimit(RLIMIT_FSIZE, failing->files);
	}
	errno = 4712;
	thread_state_look(&state);
	if (failing->fault != NULL)
		fault_switch(1);
	failing->checked = GetUnreachableMemory(&failing->info, 10);
	if (failing->fault != NULL)
		fault_switch(0);
	failing->changed = !thread_state_same(&state);
	if (failing->files != NULL)
		setrlimit(RLIMIT_FSIZE, &files);
	mu_results_free(&mu_library.results, failing->info.leaks);
	failing->info.leaks = NULL;
	return NULL;
}

static pid_t
start_supervisor(struct failing_pass *failing)
{
	int ends[2];
	pid_t pid;

	if ((failing->call == NULL && failing->fault == NULL) ||
	    failing->by_filter)
		return 0;
	ck_assert_int_eq(pipe2(ends, O_CLOEXEC), 0);
	pid = fork();
	ck_assert_int_ge(pid, 0);
	if (pid == 0 && failing->fault != NULL)
		fault_supervise(failing->listener, failing->fault,
		    failing->record, ends[1]);
	if (pid == 0)
		supervise(failing->listener, failing->call);
	close(failing->listener);
	close(ends[1]);
	failing->record_end = ends[0];
	return pid;
}

static void
receive_record(struct failing_pass *failing)
{
	char *at = (char *)failing->record;
	size_t size = failing->fault != NULL ? sizeof(*failing->record) : 0;
	ssize_t n;

	while (size > 0 && (n = read(failing->record_end, at, size)) > 0) {
		at += n;
		size -= (size_t)n;
	}
	ck_assert_uint_eq(size, 0);
	close(failing->record_end);
}

#define BEATS_A_SECOND 100
#define AT_ONCE_SECONDS 15

static pid_t beating;

/* Sleeps again and again, as long as the test program runs. */
static __attribute__((constructor)) void
start_beating(void)
{
	pid_t parent = getpid();

	beating = fork();
	if (beating != 0)
		return;
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	while (getppid() == parent)
		usleep(1000000 / BEATS_A_SECOND);
	_exit(0);
}

/* Each sleep is one. Shared memory would make each pass nap. */
static uint64_t
count_beats(void)
{
	char path[64], line[128];
	unsigned long long beats = 0;
	FILE *file;

	snprintf(path, sizeof(path), "/proc/%d/status", (int)beating);
	file = fopen(path, "re");
	while (file != NULL && fgets(line, sizeof(line), file) != NULL)
		if (sscanf(line, "voluntary_ctxt_switches: %llu", &beats) == 1)
			break;
	if (file != NULL)
		fclose(file);
	return beats;
}

bool
failing_pass_run(struct failing_pass *failing)
{
	pthread_t thread;
	pid_t supervisor = 0;
	int status;

	failing->began_at = count_beats();
	ck_assert_int_eq(
	    pthread_create(&thread, NULL, failing_body, failing), 0);
	while (!__atomic_load_n(&failing->installed, __ATOMIC_ACQUIRE))
		usleep(NAP_US); /* it may be refused */
	if (failing->listener >= 0)
		supervisor = start_supervisor(failing);
	__atomic_store_n(&failing->go, 1, __ATOMIC_RELEASE);
	pthread_join(thread, NULL);
	failing->acted = failing->by_filter;
	if (supervisor > 0) {
		receive_record(failing);
		ck_assert_int_eq(waitpid(supervisor, &status, 0), supervisor);
		failing->acted = WIFEXITED(status) && WEXITSTATUS(status) == 0;
		if (failing->fault != NULL)
			failing->acted = failing->record->acts > 0;
		unharmed_expect_sigchld();
	}
	return failing->listener >= 0;
}

void
assert_at_once(const struct failing_pass *failing)
{
	const struct fault none = { .nr = ANY_CALL };
	const struct fault *fault =
	    failing->fault != NULL ? failing->fault : &none;

	ck_assert_msg(failing->info.total_ns < AT_ONCE_SECONDS * NS_PER_SEC ||
		count_beats() - failing->began_at <
		    AT_ONCE_SECONDS * BEATS_A_SECOND,
	    "%llu ms: call %d of process %d, the %uth, errno %d: status %d, %s",
	    (unsigned long long)failing->info.total_ns / 1000000, fault->nr,
	    (int)fault->role, fault->nth, fault->error, failing->info.status,
	    failing->info.reason);
}

static __attribute__((noinline)) void
lose_and_keep(void)
{
	int epoll = epoll_create1(EPOLL_CLOEXEC), ends[2];
	struct epoll_event event = { .events = EPOLLIN };

	ck_assert(epoll >= 0 && pipe(ends) == 0);
	mu_hide(memset(malloc(LOST_SIZE), 'x', LOST_SIZE));
	/* Only the kernel knows this one: a failure must not lose it. */
	event.data.ptr = malloc(LOST_SIZE);
	epoll_ctl(epoll, EPOLL_CTL_ADD, ends[0], &event);
}

void
choose_method(int method)
{
	mu_library.options.stop = method == 0 ? MU_STOP_PTRACE : MU_STOP_SIGNAL;
}

void
belongings_begin(struct belongings *own)
{
	struct failing_pass first = { .call = NULL };

	lose_and_keep();
	scrub_stack();
	unharmed_begin(&own->unharmed);
	ck_assert(failing_pass_run(&first));
	/* Its thread's stack stays with libc and is used again. */
	unharmed_look(&own->unharmed);
	ck_assert_msg(first.checked, "%s", first.info.reason);
	ck_assert_msg(first.info.status == MEMUNREACHABLE_COMPLETE, "%s",
	    first.info.reason);
	ck_assert_uint_ge(first.info.num_leaks, 1);
	own->num_leaks = first.info.num_leaks;
	unharmed_check(&own->unharmed);
}

void
belongings_check(struct belongings *own, const struct failing_pass *failing)
{
	struct failing_pass next = { .call = NULL };
	const struct UnreachableMemoryInfo *info = &failing->info;

	unharmed_check(&own->unharmed);
	ck_assert_msg(!failing->changed,
	    "the asking thread's errno, signal mask or stack has changed");
	if (!failing->checked) {
		ck_assert_int_gt(info->status, MEMUNREACHABLE_PARTIAL);
		ck_assert_str_ne(info->reason, "");
		ck_assert_uint_eq(info->num_leaks, 0);
		ck_assert_uint_eq(info->num_allocations, 0);
	} else if (info->status == MEMUNREACHABLE_COMPLETE)
		ck_assert_uint_eq(info->num_leaks, own->num_leaks);
	else
		ck_assert_uint_le(info->num_leaks, own->num_leaks);
	ck_assert(failing_pass_run(&next));
	ck_assert_msg(next.checked, "%s", next.info.reason);
	ck_assert_msg(next.info.status == MEMUNREACHABLE_COMPLETE, "%s",
	    next.info.reason);
	ck_assert_uint_eq(next.info.num_leaks, own->num_leaks);
	unharmed_check(&own->unharmed);
}

void
belongings_end(struct belongings *own)
{
	unharmed_end(&own->unharmed);
}

/* Until END is closed: every signal that TARGET gets stops it for us. */
static _Noreturn void
debug(pid_t target, int end)
{
	struct pollfd closed = { end, POLLIN, 0 };
	int status;

	while (poll(&closed, 1, 1) == 0)
		if (waitpid(target, &status, __WALL | WNOHANG) == target &&
		    WIFSTOPPED(status))
			ptrace(PTRACE_CONT, target, 0, WSTOPSIG(status));
	ptrace(PTRACE_INTERRUPT, target, 0, 0);
	waitpid(target, &status, __WALL);
	ptrace(
	    PTRACE_DETACH, target, 0, status >> 16 == 0 ? WSTOPSIG(status) : 0);
	_exit(0);
}

pid_t
start_debugger(int *end)
{
	pid_t pid, target = getpid();
	int ends[2][2];
	char byte;

	ck_assert(pipe(ends[0]) == 0 && pipe(ends[1]) == 0);
	pid = fork();
	if (pid == 0) {
		close(ends[1][1]);
		prctl(PR_SET_NAME, "a-debugger");
		byte = ptrace(PTRACE_SEIZE, target, 0, 0) == 0 ? 'y' : 'n';
		if (write(ends[0][1], &byte, 1) == 1 && byte == 'y')
			debug(target, ends[1][0]);
		_exit(1);
	}
	ck_assert_int_eq(read(ends[0][0], &byte, 1), 1);
	close(ends[0][0]);
	close(ends[0][1]);
	close(ends[1][0]);
	*end = ends[1][1];
	return byte == 'y' ? pid : -pid;
}
