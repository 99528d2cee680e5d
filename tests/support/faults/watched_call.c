#include "tests/support/faults/watched_call.h"

/* Longer than a stop lasts: max_pause. */
#define WATCHED_HOLD_US 450000

int
watched_call_filter(const struct watched_call *call, bool deny_here)
{
	unsigned argument = call->argument < 0 ? 0 : (unsigned)call->argument;
	uint32_t denial = call->verdict != 0
	    ? call->verdict
	    : SECCOMP_RET_ERRNO | (uint32_t)call->error;
	uint32_t verdict = deny_here ? denial : SECCOMP_RET_USER_NOTIF;
	struct sock_filter code[] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS,
		    offsetof(struct seccomp_data, nr)),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, (uint32_t)call->nr, 0, 4),
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS,
		    offsetof(struct seccomp_data, args) + 8 * argument),
		BPF_STMT(BPF_ALU | BPF_AND | BPF_K,
		    call->argument < 0 ? 0 : call->mask),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K,
		    call->argument < 0 ? 0 : call->value, 0, 1),
		BPF_STMT(BPF_RET | BPF_K, verdict),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
	};
	struct sock_fprog program = { sizeof(code) / sizeof(code[0]), code };
	long fd;

	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0)
		return -errno;
	fd = syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER,
	    deny_here ? 0 : SECCOMP_FILTER_FLAG_NEW_LISTENER, &program);
	return fd < 0 ? -errno : (int)fd;
}

static bool
watched_comm_is(pid_t pid, const char *comm)
{
	char path[64], text[32];
	ssize_t n;
	int fd;

	if (comm == NULL)
		return true;
	snprintf(path, sizeof(path), "/proc/%d/comm", pid);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	n = read(fd, text, sizeof(text));
	close(fd);
	return n > 0 && (size_t)n == strlen(comm) + 1 &&
	    memcmp(text, comm, strlen(comm)) == 0;
}

/* One notification. True if it was the call and the act is done. */
static bool
supervise_one(int listener, const struct watched_call *call, unsigned *seen)
{
	struct seccomp_notif ask = { 0 };
	struct seccomp_notif_resp answer = { 0 };
	bool acts;

	if (ioctl(listener, SECCOMP_IOCTL_NOTIF_RECV, &ask) != 0)
		return false;
	acts = watched_comm_is((pid_t)ask.pid, call->comm) &&
	    (++*seen == call->nth || call->nth == 0);
	answer.id = ask.id;
	answer.flags = SECCOMP_USER_NOTIF_FLAG_CONTINUE;
	if (acts && call->act == ACT_DENY) {
		answer.flags = 0;
		answer.error = -call->error;
	}
	if (acts && call->act == ACT_STOP)
		kill((pid_t)ask.pid, SIGSTOP);
	if (acts && call->act == ACT_HOLD)
		usleep(WATCHED_HOLD_US);
	if (acts && call->act == ACT_KILL)
		kill((pid_t)ask.pid, SIGKILL);
	else
		ioctl(listener, SECCOMP_IOCTL_NOTIF_SEND, &answer);
	return acts;
}

void
supervise(int listener, const struct watched_call *call)
{
	struct pollfd wait = { listener, POLLIN, 0 };
	unsigned seen = 0, acts = 0;

	while (poll(&wait, 1, 60000) > 0 && (wait.revents & POLLIN) != 0)
		acts += supervise_one(listener, call, &seen);
	_exit(acts > 0 ? 0 : 1);
}
