#include "tests/support/environments/environment_filters.h"

#define FILTER_CALLS 48

/* The calls that Docker denies to a container by default, before kernel 4.8. */
static const int filter_container[] = { SYS_ptrace, SYS_process_vm_readv,
	SYS_process_vm_writev, SYS_kcmp, SYS_perf_event_open, SYS_bpf,
	SYS_userfaultfd, SYS_unshare, SYS_setns, SYS_mount, SYS_umount2,
	SYS_pivot_root, SYS_keyctl, SYS_add_key, SYS_request_key, SYS_acct,
	SYS_quotactl, SYS_reboot, SYS_swapon, SYS_swapoff, SYS_settimeofday,
	SYS_clock_settime, SYS_init_module, SYS_finit_module, SYS_delete_module,
	SYS_kexec_load, SYS_lookup_dcookie, SYS_mbind, SYS_move_pages,
	SYS_get_mempolicy, SYS_set_mempolicy, SYS_name_to_handle_at,
	SYS_open_by_handle_at, SYS_personality, SYS_vhangup, SYS_syslog,
	SYS_pidfd_getfd };

static const int filter_ptrace[] = { SYS_ptrace };

static const struct {
	const char *name;
	unsigned action;
} filter_actions[] = {
	{ "EPERM", SECCOMP_RET_ERRNO | EPERM },
	{ "EACCES", SECCOMP_RET_ERRNO | EACCES },
	{ "ENOSYS", SECCOMP_RET_ERRNO | ENOSYS },
	{ "ESRCH", SECCOMP_RET_ERRNO | ESRCH },
	{ "KILL_THREAD", SECCOMP_RET_KILL_THREAD },
	{ "KILL_PROCESS", SECCOMP_RET_KILL_PROCESS },
	{ "TRAP", SECCOMP_RET_TRAP },
};

bool
filter_install(const int *calls, size_t num_calls, unsigned action)
{
	struct sock_filter code[FILTER_CALLS + 3] = { BPF_STMT(
	    BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)) };
	struct sock_fprog program = { (unsigned short)(num_calls + 3), code };
	size_t i;

	for (i = 0; i < num_calls; i++)
		code[i + 1] =
		    (struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K,
			(unsigned)calls[i], (unsigned char)(num_calls - i), 0);
	code[num_calls + 1] =
	    (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW);
	code[num_calls + 2] =
	    (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, action);
	return prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0 &&
	    syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER,
		SECCOMP_FILTER_FLAG_TSYNC, &program) == 0;
}

bool
filter_deny(const char *action, bool container)
{
	size_t i;

	for (i = 0; i < sizeof(filter_actions) / sizeof(*filter_actions); i++) {
		if (strcmp(filter_actions[i].name, action) != 0)
			continue;
		if (!container)
			return filter_install(
			    filter_ptrace, 1, filter_actions[i].action);
		return filter_install(filter_container,
		    sizeof(filter_container) / sizeof(*filter_container),
		    filter_actions[i].action);
	}
	return false;
}
