#include "lib/symbolize/read_only.h"

#include <linux/filter.h>
#include <linux/seccomp.h>
#include <signal.h>
#include <string.h>
#include <sys/prctl.h>

#include "mu/arch/seccomp.h"
#include "mu/regular_file.h"
#include "mu/sys.h"

#define COUNT(array) (sizeof(array) / sizeof(*(array)))
#define FLAGS                                                          \
	offsetof(struct seccomp_data, args[2]) /* of openat(); its low \
						  half, as x86-64 and  \
						  aarch64 order bytes */
#define WRITING (O_WRONLY | O_RDWR | O_CREAT | O_TRUNC)
#define PART_OPEN 8 /* instructions behind the list */

/* What libelf, libdw and malloc call; the C library's own; and our socket. */
static const unsigned allowed[] = {
	SYS_read,
	SYS_pread64,
	SYS_readv,
	SYS_write,
	SYS_close,
	SYS_fstat,
	SYS_newfstatat,
	SYS_statx,
	SYS_lseek,
	SYS_mmap,
	SYS_munmap,
	SYS_mremap,
	SYS_mprotect,
	SYS_madvise,
	SYS_brk,
	SYS_readlinkat,
	SYS_faccessat,
	SYS_getcwd,
	SYS_fcntl,
	SYS_rt_sigaction,
	SYS_rt_sigprocmask,
	SYS_rt_sigreturn,
	SYS_sigaltstack,
	SYS_exit,
	SYS_exit_group,
	SYS_clock_gettime,
	SYS_futex,
	SYS_getrandom,
	SYS_getpid,
	SYS_gettid,
	SYS_getuid,
	SYS_geteuid,
	SYS_getgid,
	SYS_getegid,
	SYS_sysinfo,
	SYS_uname,
	SYS_sched_getaffinity,
#ifdef SYS_access
	SYS_access,
	SYS_readlink,
	SYS_stat,
	SYS_lstat,
#endif
};

/* libdw's own open(): by our rule. */
static void
open_trapped(int signo, siginfo_t *info, void *context)
{
	char *frame = context;
	long directory, path, fd;

	(void)signo;
	if (info->si_syscall != SYS_openat)
		return;
	memcpy(&directory, frame + MU_TRAPPED_FIRST, sizeof(directory));
	memcpy(&path, frame + MU_TRAPPED_SECOND, sizeof(path));
	fd = mu_regular_file_open((int)directory, (const char *)path, NULL);
	memcpy(frame + MU_TRAPPED_RESULT, &fd, sizeof(fd));
}

static size_t
write_filter(struct sock_filter *filter)
{
	const unsigned char last = COUNT(allowed);
	const unsigned refuse = SECCOMP_RET_ERRNO | EPERM;
	size_t i, at = 0;

	filter[at++] = (struct sock_filter)BPF_STMT(
	    BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, arch));
	filter[at++] = (struct sock_filter)BPF_JUMP(
	    BPF_JMP | BPF_JEQ | BPF_K, MU_AUDIT_ARCH, 1, 0);
	filter[at++] = (struct sock_filter)BPF_STMT(
	    BPF_RET | BPF_K, SECCOMP_RET_KILL_PROCESS);
	filter[at++] = (struct sock_filter)BPF_STMT(
	    BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr));
	/* To the last instruction but for openat(), which is behind the list.
	 */
	for (i = 0; i < last; i++)
		filter[at++] =
		    (struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K,
			allowed[i], (unsigned char)(last - i - 1 + 7), 0);
	filter[at++] = (struct sock_filter)BPF_JUMP(
	    BPF_JMP | BPF_JEQ | BPF_K, SYS_openat, 1, 0);
	filter[at++] = (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, refuse);
	filter[at++] =
	    (struct sock_filter)BPF_STMT(BPF_LD | BPF_W | BPF_ABS, FLAGS);
	filter[at++] = (struct sock_filter)BPF_JUMP(
	    BPF_JMP | BPF_JSET | BPF_K, WRITING, 0, 1);
	filter[at++] = (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, refuse);
	filter[at++] = (struct sock_filter)BPF_JUMP(
	    BPF_JMP | BPF_JSET | BPF_K, O_NONBLOCK | O_PATH, 1, 0);
	filter[at++] =
	    (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_TRAP);
	filter[at++] =
	    (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW);
	return at;
}

bool
mu_read_only(void)
{
	struct sigaction action = { .sa_flags = SA_SIGINFO };
	struct sock_filter filter[4 + COUNT(allowed) + PART_OPEN];
	struct sock_fprog program = { .filter = filter };

	action.sa_sigaction = open_trapped;
	if (sigaction(SIGSYS, &action, NULL) != 0)
		return false;
	program.len = (unsigned short)write_filter(filter);
	return prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program, 0, 0) == 0;
}
