#include "lib/symbolize/confinement.h"

#include <linux/filter.h>
#include <linux/seccomp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "heapwalk/memory/available.h"
#include "lib/symbolize/identity.h"
#include "mu/arch/seccomp.h"
#include "mu/regular_file.h"
#include "mu/sys.h"
#include "ptrace/live/proc.h"

#define STATUS_SIZE 8192 /* bytes of /proc/PID/status that are read */
#define MEMORY_MIN ((size_t)256 << 20)
#define MEMORY_MAX ((size_t)2 << 30)
#define CPU_SECONDS 120
#define FILES_MAX 1024

#define COUNT(array) (sizeof(array) / sizeof(*(array)))
#define FLAGS                                                          \
	offsetof(struct seccomp_data, args[2]) /* of openat(); its low \
						  half, as x86-64 and  \
						  aarch64 order bytes */
#define WRITING (O_WRONLY | O_RDWR | O_CREAT | O_TRUNC)
#define PART_OPEN 8 /* instructions behind the list */

/*
 * Calls of libelf, libdw, malloc and the C library, and those for our socket.
 */
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

/*
 * Restrict a process to reading files.
 *
 * Runs in: a child of the command.
 */

/* Handle libdw's own open() by our rule. */
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
	/*
	 * Jump to the last instruction; openat(), which comes after the list,
	 * is handled there.
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

/*
 * From now on system calls that reading does not need fail with EPERM. A plain
 * open() for reading, as libdw does for the files that DWARF names, opens only
 * regular files; with O_NONBLOCK or O_PATH other files are opened, too. The
 * caller has no_new_privs or CAP_SYS_ADMIN. Returns false if the kernel has no
 * seccomp.
 */
static bool
read_only(void)
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

/* The effective id, unless it is root's; -1 if not known. */
static int64_t
least_of(const char *status, const char *name)
{
	int64_t id;
	unsigned i;

	for (i = 1; i < 4; i++) {
		id = mu_proc_status_number(status, name, i, 10);
		if (id != 0)
			return id;
	}
	return mu_proc_status_number(status, name, 0, 10);
}

struct mu_rights
mu_rights_of_process(pid_t pid)
{
	struct mu_rights rights = { .known = false };
	char path[64], status[STATUS_SIZE];
	int64_t user, group;
	ssize_t length = 0;
	int fd;

	snprintf(path, sizeof(path), "/proc/%d/status", (int)pid);
	fd = mu_sys_open(path, O_RDONLY | O_CLOEXEC, 0);
	if (fd >= 0)
		length = mu_sys_read(fd, status, sizeof(status) - 1);
	mu_sys_close(&fd);
	status[length > 0 ? length : 0] = '\0';
	user = least_of(status, "\nUid:");
	group = least_of(status, "\nGid:");
	if (user < 0 || group < 0)
		return rights;
	rights.known = true;
	rights.uid = (uid_t)user;
	rights.gid = (gid_t)group;
	rights.num_groups =
	    mu_identity_groups(status, rights.groups, MU_GROUPS_MAX);
	return rights;
}

struct mu_rights
mu_rights_of_file(const char *path)
{
	struct mu_rights rights = { .known = false };
	struct stat about;

	if (stat(path, &about) == 0) {
		rights.known = true;
		rights.uid = about.st_uid;
		rights.gid = about.st_gid;
	}
	return rights;
}

bool
mu_rights_other(const struct mu_rights *rights)
{
	return geteuid() == 0 && rights->known && rights->uid != 0;
}

static bool
take_on(const struct mu_rights *rights)
{
	return !mu_rights_other(rights) ||
	    mu_identity_take(
		rights->uid, rights->gid, rights->groups, rights->num_groups);
}

/* The present size of the address space, and an allowance. */
static rlim_t
memory_limit(struct mu_cgroups_known *known)
{
	unsigned long pages = 0;
	size_t more = MEMORY_MAX, available;
	FILE *file = fopen("/proc/self/statm", "re");

	if (file == NULL)
		return RLIM_INFINITY;
	if (fscanf(file, "%lu", &pages) != 1)
		pages = 0;
	fclose(file);
	if (mu_available(&available, known) && available / 2 < more)
		more = available / 2;
	if (more < MEMORY_MIN)
		more = MEMORY_MIN;
	return (rlim_t)pages * (rlim_t)sysconf(_SC_PAGESIZE) + more;
}

/* A lower hard limit stays. */
static void
limit(__rlimit_resource_t resource, rlim_t value)
{
	struct rlimit both;

	if (getrlimit(resource, &both) != 0)
		return;
	if (both.rlim_max != RLIM_INFINITY && both.rlim_max < value)
		value = both.rlim_max;
	both.rlim_cur = both.rlim_max = value;
	setrlimit(resource, &both);
}

bool
mu_confine(const struct mu_rights *rights, bool network, size_t written,
    struct mu_cgroups_known *known)
{
	limit(RLIMIT_AS, memory_limit(known));
	limit(RLIMIT_CPU, CPU_SECONDS);
	limit(RLIMIT_CORE,
	    1); /* 1 also stops a pipe; see lib/helpers/sweeper_limits.c */
	limit(RLIMIT_NOFILE, FILES_MAX);
	if (!network)
		limit(RLIMIT_FSIZE, written);
	if (!take_on(rights) || !mu_identity_limit(0))
		return false;
	prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
	prctl(PR_SET_DUMPABLE, 0, 0, 0, 0);
	if (!network)
		read_only();
	return true;
}
