/*
 * A seccomp filter that the calling thread installs for itself, and which the
 * processes that it starts inherit, passes the calls to a supervisor in a
 * separate process (SECCOMP_RET_USER_NOTIF, Linux 5.0). The supervisor knows
 * whose call it is, as it sees every clone(). Other threads are not filtered.
 */
#ifndef TESTS_SUPPORT_FAULTS_H
#define TESTS_SUPPORT_FAULTS_H

#include <check.h>
#include <errno.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

#ifndef SECCOMP_FILTER_FLAG_WAIT_KILLABLE_RECV
#define SECCOMP_FILTER_FLAG_WAIT_KILLABLE_RECV (1ul << 5) /* Linux 5.19 */
#endif
#ifndef SYS_pidfd_getfd
#define SYS_pidfd_getfd 438
#endif
#ifndef SYS_pidfd_open
#define SYS_pidfd_open 434
#endif

#define ANY_CALL (-1)
#define MAX_CALL 512 /* more than there are numbers */
#define MAX_PROCESSES 256
#define PAUSE_US 20000
#define MAX_NOTED 1024 /* calls of a role in a pass */

enum fault_role {
	ROLE_ORIGINAL,
	ROLE_COLLECTOR,
	ROLE_SWEEPER,
	NUM_ROLES,
};

enum fault_act {
	FAULT_NONE,  /* only count */
	FAULT_DENY,  /* with ERROR */
	FAULT_SHORT, /* half of what a read or write asks for */
	FAULT_KILL,  /* SIGKILL the caller */
	FAULT_STOP,  /* SIGSTOP the caller, then let the call go on */
	FAULT_PAUSE, /* the same, with SIGCONT after PAUSE_US */
};

struct fault {
	enum fault_role role;
	int nr; /* or ANY_CALL */
	enum fault_act act;
	int error;     /* positive errno */
	unsigned nth;  /* of this role's such calls, from 1 */
	bool for_ever; /* and every later one; of any role, as a filter does */
};

/* A call of a pass. The same SITE: by all that is seen, the same call again. */
struct noted_call {
	int nr;
	uint32_t site;
};

/* Shared between the program and its supervisor. */
struct fault_record {
	int in_pass; /* set by the thread that asks */
	pid_t tgid, original;
	unsigned seen, acts;
	int acted_on; /* the number of the call */
	unsigned counts[NUM_ROLES][MAX_CALL];

	/* of the fault's role, where it is FAULT_NONE */
	struct noted_call noted[MAX_NOTED];
	unsigned num_noted;

	/* the supervisor's own */
	pid_t pids[MAX_PROCESSES];
	enum fault_role roles[MAX_PROCESSES], next;
	unsigned num_pids;
};

/* One for the whole test program, mapped before anything is compared. */
static inline struct fault_record *
fault_record_map(void)
{
	void *at = mmap(NULL, sizeof(struct fault_record),
	    PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);

	ck_assert_ptr_ne(at, MAP_FAILED);
	return at;
}

static inline void
fault_record_clear(struct fault_record *record)
{
	memset(record, 0, sizeof(*record));
	record->tgid = getpid();
	record->next = ROLE_COLLECTOR;
}

/* For the calling thread and what it starts. The listener, or -errno. */
static inline int
fault_filter(const struct fault *fault)
{
	struct sock_filter one[] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS,
		    offsetof(struct seccomp_data, nr)),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, (uint32_t)fault->nr, 2, 0),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_clone, 1, 0),
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

static inline enum fault_role
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
static inline int64_t
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

static inline void
fault_answer(int listener, struct seccomp_notif_resp *answer)
{
	ioctl(listener, SECCOMP_IOCTL_NOTIF_SEND, answer);
}

/* True if the act could be done. */
static inline bool
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

static inline void
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
 * they are descriptors, flags, or small sizes, else only that they are large.
 * Of openat(), newfstatat(), and readlinkat() the name, its digits left out.
 */
static inline void
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
	for (i = 0; i < 6; i++)
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

static inline void
fault_serve(
    int listener, const struct fault *fault, struct fault_record *record)
{
	struct seccomp_notif ask = { 0 };
	struct seccomp_notif_resp go_on = { 0 };
	enum fault_role role;

	if (ioctl(listener, SECCOMP_IOCTL_NOTIF_RECV, &ask) != 0)
		return;
	if (__atomic_load_n(&record->in_pass, __ATOMIC_ACQUIRE)) {
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
static inline _Noreturn void
fault_supervise(
    int listener, const struct fault *fault, struct fault_record *record)
{
	struct pollfd wait = { listener, POLLIN, 0 };

	while (poll(&wait, 1, 60000) > 0 && (wait.revents & POLLIN) != 0)
		fault_serve(listener, fault, record);
	_exit(0);
}

#endif
