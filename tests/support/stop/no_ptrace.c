/*
 * Run a program in a sandbox that forbids tracing and reading other processes:
 * a seccomp filter answers EPERM, as those of container engines do.
 *
 * Usage: no_ptrace [-u UID | -c | -k] PROGRAM [ARG]...
 *   -u  as that user, from root
 *   -k  kill the program for it, instead of EPERM
 *   -c  permit tracing and forbid kcmp() and others, without CAP_SYS_ADMIN, as
 *       container engines do today
 */
#include <errno.h>
#include <linux/capability.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#define REFUSE (SECCOMP_RET_ERRNO | EPERM)
#define CANNOT 99 /* exit status of ours, none of a test's */

static void
fail(const char *what)
{
	fprintf(stderr, "no_ptrace: %s: %s\n", what, strerror(errno));
	exit(CANNOT);
}

static const int tracing[] = { SYS_ptrace, SYS_process_vm_readv,
	SYS_process_vm_writev };

/* Some of what Docker still denies, where it permits those, since Linux 4.8. */
static const int others[] = { SYS_kcmp, SYS_perf_event_open, SYS_bpf,
	SYS_userfaultfd, SYS_unshare, SYS_setns, SYS_mount, SYS_umount2,
	SYS_keyctl, SYS_move_pages, SYS_personality };

/* Container engines have the right to do it without no_new_privs. */
static void
deny(const int *calls, unsigned char count, bool privileged, unsigned action)
{
	struct sock_filter code[32] = { BPF_STMT(
	    BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)) };
	struct sock_fprog program = { (unsigned short)(count + 3), code };
	unsigned char i;

	for (i = 0; i < count; i++)
		code[i + 1] =
		    (struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K,
			(unsigned)calls[i], (unsigned char)(count - i), 0);
	code[count + 1] =
	    (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW);
	code[count + 2] = (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, action);
	if (!privileged && prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0)
		fail("no new privileges");
	if (prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) != 0)
		fail("no seccomp filters here");
}

static void
contain(void)
{
	bool privileged = prctl(PR_CAPBSET_READ, CAP_SYS_ADMIN, 0, 0, 0) == 1 &&
	    geteuid() == 0;

	deny(others, sizeof(others) / sizeof(*others), privileged, REFUSE);
	if (privileged && prctl(PR_CAPBSET_DROP, CAP_SYS_ADMIN, 0, 0, 0) != 0)
		fail("no capability to drop");
}

int
main(int argc, char **argv)
{
	char **program = argv + 1;
	unsigned id, action = REFUSE;

	if (argc > 2 && strcmp(argv[1], "-c") == 0) {
		contain();
		execvp(argv[2], argv + 2);
		fail(argv[2]);
	}
	if (argc > 3 && strcmp(argv[1], "-u") == 0) {
		id = (unsigned)strtoul(argv[2], NULL, 10);
		if (setresgid(id, id, id) != 0 || setresuid(id, id, id) != 0)
			fail("cannot become another user");
		program += 2;
	}
	if (argc > 2 && strcmp(argv[1], "-k") == 0) {
		action = SECCOMP_RET_KILL_PROCESS;
		program++;
	}
	if (*program == NULL) {
		fputs("usage: no_ptrace [-u UID | -c | -k] PROGRAM [ARG]...\n",
		    stderr);
		return CANNOT;
	}
	deny(tracing, sizeof(tracing) / sizeof(*tracing), false, action);
	execvp(*program, program);
	fail(*program);
}
