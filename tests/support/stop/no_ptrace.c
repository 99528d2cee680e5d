/*
 * Run a program in a sandbox that forbids tracing and reading other processes:
 * a seccomp filter answers EPERM, as those of container engines do.
 *
 * Usage: no_ptrace [-u UID] PROGRAM [ARG]...   (-u: as that user, from root)
 */
#include <errno.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#define CANNOT 99 /* exit status of ours, none of a test's */

static void
fail(const char *what)
{
	fprintf(stderr, "no_ptrace: %s: %s\n", what, strerror(errno));
	exit(CANNOT);
}

static void
deny(void)
{
	struct sock_filter code[] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS,
		    offsetof(struct seccomp_data, nr)),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_ptrace, 2, 0),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_process_vm_readv, 1, 0),
		BPF_JUMP(
		    BPF_JMP | BPF_JEQ | BPF_K, SYS_process_vm_writev, 0, 1),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EPERM),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
	};
	struct sock_fprog program = { sizeof(code) / sizeof(code[0]), code };

	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0)
		fail("no new privileges");
	if (prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) != 0)
		fail("no seccomp filters here");
}

int
main(int argc, char **argv)
{
	char **program = argv + 1;
	unsigned id;

	if (argc > 3 && strcmp(argv[1], "-u") == 0) {
		id = (unsigned)strtoul(argv[2], NULL, 10);
		if (setresgid(id, id, id) != 0 || setresuid(id, id, id) != 0)
			fail("cannot become another user");
		program += 2;
	}
	if (*program == NULL) {
		fputs("usage: no_ptrace [-u UID] PROGRAM [ARG]...\n", stderr);
		return CANNOT;
	}
	deny();
	execvp(*program, program);
	fail(*program);
}
