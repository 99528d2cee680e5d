/*
 * Make a system call in a thread of another process that is in its own code;
 * the thread continues unchanged. Threads that are in a call are tested in
 * test_remote_call_waits.c.
 */
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sys/ptrace.h>
#include <sys/uio.h>
#include <ucontext.h>

#include "mu/arch/registers.h"
#include "mu/arch/remote.h"
#include "mu/arch/vector.h"
#include "tests/support/stop/injected.h"
#include "tests/support/suite.h"

#define XSAVE_BYTES ((size_t)16 << 10)

struct registers {
	uintptr_t general[MU_PRSTATUS_WORDS];
	char vector[XSAVE_BYTES];
	size_t vector_bytes;
};

static void
read_registers(pid_t tid, struct registers *out)
{
	struct iovec set = { out->general, sizeof(out->general) };

	memset(out, 0, sizeof(*out));
	ck_assert_int_eq(
	    mu_sys_ptrace(PTRACE_GETREGSET, tid, 1, (uintptr_t)&set), 0);
	set = (struct iovec) { out->vector, sizeof(out->vector) };
	ck_assert_int_eq(
	    mu_sys_ptrace(PTRACE_GETREGSET, tid, MU_NT_VECTOR, (uintptr_t)&set),
	    0);
	out->vector_bytes = set.iov_len;
}

#if defined(__x86_64__)

/*
 * The values that the loop below keeps in rax, rbx, rcx, rdx, rsi, rdi, rbp,
 * r8..r15.
 */
__attribute__((used)) static uint64_t known[15], red_zone[2];
__attribute__((used)) static char vectors[16][16], vectors_after[16][16];
__attribute__((used)) static int *spin_quit;

extern long spin_registers(void);

/*
 * All registers hold known values, and all are looked at; the red zone, too.
 * 1: they had them until SPIN_QUIT. The carry flag goes round with rip.
 */
__asm__(".text\n\t.type spin_registers, @function\nspin_registers:\n\t"
	"pushq %rbx\n\tpushq %rbp\n\tpushq %r12\n\tpushq %r13\n\t"
	"pushq %r14\n\tpushq %r15\n\t"
	"movq red_zone(%rip), %rax\n\tmovq %rax, -8(%rsp)\n\t"
	"movq red_zone+8(%rip), %rax\n\tmovq %rax, -128(%rsp)\n\t"
	".irp n,0,1,2,3,4,5,6,7,8,9,10,11,12,13,14,15\n\t"
	"movdqu vectors+16*\\n(%rip), %xmm\\n\n\t.endr\n\t"
	"movq known(%rip), %rax\n\tmovq known+8(%rip), %rbx\n\t"
	"movq known+16(%rip), %rcx\n\tmovq known+24(%rip), %rdx\n\t"
	"movq known+32(%rip), %rsi\n\tmovq known+40(%rip), %rdi\n\t"
	"movq known+48(%rip), %rbp\n\tmovq known+56(%rip), %r8\n\t"
	"movq known+64(%rip), %r9\n\tmovq known+72(%rip), %r10\n\t"
	"movq known+80(%rip), %r11\n\tmovq known+88(%rip), %r12\n\t"
	"movq known+96(%rip), %r13\n\tmovq known+104(%rip), %r14\n\t"
	"movq known+112(%rip), %r15\n"
	"1:\n\t"
	"cmpq known(%rip), %rax\n\tjne 2f\n\t"
	"cmpq known+8(%rip), %rbx\n\tjne 2f\n\t"
	"cmpq known+16(%rip), %rcx\n\tjne 2f\n\t"
	"cmpq known+24(%rip), %rdx\n\tjne 2f\n\t"
	"cmpq known+32(%rip), %rsi\n\tjne 2f\n\t"
	"cmpq known+40(%rip), %rdi\n\tjne 2f\n\t"
	"cmpq known+48(%rip), %rbp\n\tjne 2f\n\t"
	"cmpq known+56(%rip), %r8\n\tjne 2f\n\t"
	"cmpq known+64(%rip), %r9\n\tjne 2f\n\t"
	"cmpq known+72(%rip), %r10\n\tjne 2f\n\t"
	"cmpq known+80(%rip), %r11\n\tjne 2f\n\t"
	"cmpq known+88(%rip), %r12\n\tjne 2f\n\t"
	"cmpq known+96(%rip), %r13\n\tjne 2f\n\t"
	"cmpq known+104(%rip), %r14\n\tjne 2f\n\t"
	"cmpq known+112(%rip), %r15\n\tjne 2f\n\t"
	"movq -8(%rsp), %rax\n\tcmpq red_zone(%rip), %rax\n\tjne 2f\n\t"
	"movq -128(%rsp), %rax\n\tcmpq red_zone+8(%rip), %rax\n\tjne 2f\n\t"
	"movq spin_quit(%rip), %rax\n\tcmpl $0, (%rax)\n\t"
	"movq known(%rip), %rax\n\tje 1b\n\t"
	".irp n,0,1,2,3,4,5,6,7,8,9,10,11,12,13,14,15\n\t"
	"movdqu %xmm\\n, vectors_after+16*\\n(%rip)\n\t.endr\n\t"
	"movl $1, %eax\n\tjmp 3f\n"
	"2:\txorl %eax, %eax\n"
	"3:\tpopq %r15\n\tpopq %r14\n\tpopq %r13\n\tpopq %r12\n\t"
	"popq %rbp\n\tpopq %rbx\n\tret\n\t"
	".size spin_registers, .-spin_registers");

static void
spin_child(struct threaded_shared *shared)
{
	size_t i;

	prctl(PR_SET_PDEATHSIG, SIGKILL);
	spin_quit = &shared->quit;
	for (i = 0; i < 15; i++)
		known[i] = 0x1111111111111111ul * (i + 1);
	red_zone[0] = 0xa1a2a3a4a5a6a7a8;
	red_zone[1] = 0xb1b2b3b4b5b6b7b8;
	for (i = 0; i < 16; i++)
		memset(vectors[i], (int)(0x40 + i), sizeof(vectors[i]));
	/* Their upper halves: spin_registers() leaves these as they are. */
	if (__builtin_cpu_supports("avx2"))
		__asm__ volatile("vbroadcastss %0, %%ymm3\n\t"
				 "vbroadcastss %0, %%ymm11"
				 :
				 : "m"(known[0])
				 : "xmm3", "xmm11");
	shared->started = 1;
	if (spin_registers() != 1)
		_exit(1);
	_exit(memcmp(vectors, vectors_after, sizeof(vectors)) == 0 ? 0 : 2);
}

static pid_t
start_spinning(void)
{
	pid_t pid;

	threaded_shared = mmap(NULL, sizeof(*threaded_shared),
	    PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	pid = fork();
	if (pid == 0)
		spin_child(threaded_shared);
	threaded_await(&threaded_shared->started, 1);
	return pid;
}

/* The thread has always seen its values and no others. */
static void
end_spinning(pid_t pid)
{
	int status;

	threaded_set(&threaded_shared->quit, 1);
	ck_assert_int_eq(waitpid(pid, &status, 0), pid);
	ck_assert_int_eq(status, 0);
	munmap(threaded_shared, sizeof(*threaded_shared));
}

/* The tracer is killed in the middle: the thread takes them back itself. */
TEST(registers_outlive_the_tracer)
{
	static struct registers before, after;
	pid_t pid = start_spinning();
	int round;

	for (round = 0; round < 300; round++) {
		if (round == 0) {
			must_stop(pid);
			read_registers(pid, &before);
			mu_threads_release(&captured_threads);
		}
		be_killed(pid);
	}
	must_stop(pid);
	read_registers(pid, &after);
	mu_threads_release(&captured_threads);
	ck_assert_mem_eq(before.vector, after.vector, sizeof(before.vector));
	end_spinning(pid);
}

TEST(registers_of_a_spinning_thread)
{
	static struct registers before, after;
	pid_t pid = start_spinning();
	int round;

	for (round = 0; round < 200; round++) {
		usleep(500);
		must_stop(pid);
		read_registers(pid, &before);
		ck_assert(!mu_arch_remote_in_call(before.general));
		must_call(pid);
		ck_assert_int_eq(
		    captured_threads.tracees[0].state, MU_TRACEE_STOPPED);
		read_registers(pid, &after);
		ck_assert_mem_eq(
		    before.general, after.general, sizeof(before.general));
		ck_assert_uint_gt(after.vector_bytes, 512);
		ck_assert_mem_eq(
		    before.vector, after.vector, sizeof(before.vector));
		mu_threads_release(&captured_threads);
	}
	end_spinning(pid);
}

/* A thread in int $0x80, whose numbers and restarts are of another ABI. */
static long
sit_int80(void)
{
	long result;

	__asm__ volatile("int $0x80"
			 : "=a"(result)
			 : "0"(29L /* pause */)
			 : "memory", "r8", "r9", "r10", "r11");
	return result;
}

/* Without CONFIG_IA32_EMULATION it is a SIGSEGV. */
static bool
has_int80(void)
{
	long result = 20; /* getpid */
	pid_t pid = fork();
	int status;

	if (pid == 0) {
		__asm__ volatile("int $0x80"
				 : "+a"(result)
				 :
				 : "memory", "r8", "r9", "r10", "r11");
		_exit(0);
	}
	ck_assert_int_eq(waitpid(pid, &status, 0), pid);
	return WIFEXITED(status);
}

TEST(other_abi_is_refused)
{
	const struct sitter sitter = { NULL, sit_int80 };
	pid_t pid;

	if (!has_int80()) {
		printf("SKIPPED: other_abi_is_refused: no int $0x80 here\n");
		return;
	}
	pid = sitter_start(&sitter);
	must_stop(pid);
	must_refuse(MU_ERR_BUSY, "other than");
	mu_threads_release(&captured_threads);
	ck_assert_int_eq(threaded_get(&sat->ended), 0);
	sitter_end(pid);
}

/*
 * The instruction may have been replaced by exit_group(3) or by a call
 * elsewhere.
 */
extern const char other_call[], other_place[];

__asm__(".text\nother_call:\n\t"
	"movl $231, %eax\n\tmovl $3, %edi\n\tsyscall\n1:\tjmp 1b\n"
	"other_place:\n\tnop\n\tnop\n\tsyscall\n1:\tjmp 1b");

static void
must_be_kept_from(struct threaded_child *threaded, uintptr_t code)
{
	enum mu_status status;

	must_stop(threaded->pid);
	ck_assert_int_eq(mu_remote_thread_pick(&injected_remote,
			     &captured_threads, &captured_why),
	    MU_OK);
	injected_remote.code.at.call = code;
	injected_call = (struct mu_remote_call) { .nr = SYS_getpid };
	status = mu_remote_call_make(
	    &injected_call, &injected_remote, in_patience(), &captured_why);
	ck_assert_msg(status == MU_ERR_BUSY, "%s", captured_why.text);
	ck_assert_ptr_nonnull(strstr(captured_why.text, "another system call"));
	mu_threads_release(&captured_threads);
}

/*
 * A call of another number, and the same number from another address: neither
 * is made.
 */
TEST(another_call_is_cancelled)
{
	struct threaded_child threaded = threaded_start(3, NULL);

	must_be_kept_from(&threaded, (uintptr_t)other_call);
	must_be_kept_from(&threaded, (uintptr_t)other_place);
	inject(threaded.pid);
	threaded_end(&threaded);
}

static void
sit_in_pause(struct threaded_shared *shared)
{
	threaded_set(&shared->started, 1);
	for (;;)
		pause();
}

/* Nothing is written into the new program: it runs and ends by itself. */
TEST(another_program_is_left_alone)
{
	static char path[] = "/bin/true", *words[] = { path, NULL };
	enum mu_status status;
	int wait_status;
	pid_t pid;

	threaded_shared = mmap(NULL, sizeof(*threaded_shared),
	    PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	pid = fork();
	if (pid == 0)
		sit_in_pause(threaded_shared);
	threaded_await(&threaded_shared->started, 1);
	must_stop(pid);
	ck_assert_int_eq(mu_remote_thread_pick(&injected_remote,
			     &captured_threads, &captured_why),
	    MU_OK);
	injected_call = (struct mu_remote_call) { .nr = SYS_execve,
		.args = { (uintptr_t)path, (uintptr_t)words, 0 } };
	status = mu_remote_call_make(
	    &injected_call, &injected_remote, in_patience(), &captured_why);
	ck_assert_int_eq(status, MU_ERR_TARGET_GONE);
	ck_assert_ptr_nonnull(strstr(captured_why.text, "another program"));
	mu_threads_release(&captured_threads);
	ck_assert_int_eq(waitpid(pid, &wait_status, 0), pid);
	ck_assert_int_eq(wait_status, 0);
	munmap(threaded_shared, sizeof(*threaded_shared));
}

#endif

/* The first thread on a small stack; what lies below is other memory. */
#define COROUTINE ((size_t)16 << 10)

static char global[2 * COROUTINE];

static void
pause_below(void)
{
	volatile char *bottom = alloca(COROUTINE - 2048);

	bottom[0] = 0;
	pause();
}

static long
sit_on(char *stack)
{
	static ucontext_t outside, inside;

	sat->result = (long)stack;
	getcontext(&inside);
	inside.uc_stack.ss_sp = stack + COROUTINE;
	inside.uc_stack.ss_size = COROUTINE;
	inside.uc_link = &outside;
	makecontext(&inside, pause_below, 0);
	return swapcontext(&outside, &inside);
}

static long
sit_on_global(void)
{
	return sit_on(global);
}

/* A part of the stack itself. */
static long
sit_on_local(void)
{
	char local[2 * COROUTINE];

	memset(local, 'x', sizeof(local));
	return sit_on(local);
}

/* glibc has the whole address space below the stack as the first thread's. */
TEST_LOOP(a_stack_of_the_program_is_not_written_to, 0, 2)
{
	const struct sitter sitters[] = { { NULL, sit_on_global },
		{ NULL, sit_on_local } };
	pid_t pid = sitter_start(&sitters[_i]);
	uintptr_t place = (uintptr_t)sat->result;
	enum mu_status status;

	must_stop(pid);
	status = mu_remote_thread_pick(
	    &injected_remote, &captured_threads, &captured_why);
	ck_assert_msg(status == MU_OK, "%s", captured_why.text);
	ck_assert(injected_remote.way.at + injected_remote.way.size <= place ||
	    injected_remote.way.at >= place + 2 * COROUTINE);
	mu_threads_release(&captured_threads);
	inject(pid);
	sitter_end(pid);
}

extern void *__libc_stack_end;

/* As glibc does for a library that requires it: _dl_make_stack_executable(). */
static bool
open_stack(void)
{
	size_t page = (size_t)sysconf(_SC_PAGESIZE);
	uintptr_t at = (uintptr_t)__libc_stack_end & ~(page - 1);

	return mprotect((void *)at, page,
		   PROT_READ | PROT_WRITE | PROT_EXEC | PROT_GROWSDOWN) == 0;
}

static long
sit_paused(void)
{
	return pause();
}

TEST(executable_stack)
{
	const struct sitter sitter = { open_stack, sit_paused };
	pid_t pid = sitter_start(&sitter);

	must_stop(pid);
	must_call(pid);
	ck_assert_uint_gt(mu_range_size(injected_remote.code.stack), 0);
	ck_assert(!injected_remote.way.foreign);
	mu_threads_release(&captured_threads);
	sitter_end(pid);
}

static void *
spin(void *arg)
{
	(void)arg;
	while (!threaded_get(&threaded_shared->quit))
		continue;
	return NULL;
}

static void
many_spin(struct threaded_shared *shared)
{
	int i;

	(void)shared;
	for (i = 0; i < 8; i++)
		threaded_spawn(spin, NULL);
}

TEST(eight_threads_at_full_load)
{
	struct threaded_child threaded = threaded_start(2, many_spin);
	int round;

	for (round = 0; round < 30; round++)
		inject(threaded.pid);
	threaded_end(&threaded);
}

/* All six arguments arrive: the last makes mmap() fail, or not. */
TEST(six_arguments)
{
	struct threaded_child threaded = threaded_start(1, NULL);
	size_t page = (size_t)sysconf(_SC_PAGESIZE);
	char byte = 'x';
	struct iovec local = { &byte, 1 }, remote_iov;

	must_stop(threaded.pid);
	must_call(threaded.pid);
	injected_call = (struct mu_remote_call) { .nr = SYS_mmap,
		.args = { 0, page, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS,
		    (uintptr_t)-1, 1 } };
	ck_assert_int_eq(mu_remote_call_make(&injected_call, &injected_remote,
			     in_patience(), &captured_why),
	    MU_OK);
	ck_assert_int_eq(injected_call.result, -EINVAL);
	injected_call.args[5] = 0;
	ck_assert_int_eq(mu_remote_call_make(&injected_call, &injected_remote,
			     in_patience(), &captured_why),
	    MU_OK);
	ck_assert(!mu_sys_failed(injected_call.result));
	remote_iov = (struct iovec) { (void *)injected_call.result, 1 };
	ck_assert_int_eq(
	    process_vm_readv(threaded.pid, &local, 1, &remote_iov, 1, 0), 1);
	ck_assert_int_eq(byte, 0);
	mu_threads_release(&captured_threads);
	threaded_end(&threaded);
}

static void
read_signals(pid_t pid, char *text, size_t size)
{
	static const char *const keys[] = { "SigBlk:", "SigIgn:", "SigCgt:" };
	size_t i, used = 0;

	for (i = 0; i < 3; i++) {
		threaded_status(pid, pid, keys[i], text + used, size - used);
		used += strlen(text + used);
	}
}

/* No signal actions or masks have changed. */
TEST(signals_stay)
{
	struct threaded_child threaded = threaded_start(3, NULL);
	char before[256], after[256];

	read_signals(threaded.pid, before, sizeof(before));
	inject(threaded.pid);
	read_signals(threaded.pid, after, sizeof(after));
	ck_assert_str_eq(before, after);
	ck_assert_int_gt((int)strlen(before), 40);
	threaded_end(&threaded);
}

TEST(group_stopped_is_refused)
{
	struct threaded_child threaded = threaded_start(3, NULL);
	int status, i;

	kill(threaded.pid, SIGSTOP);
	waitpid(threaded.pid, &status, WUNTRACED);
	must_stop(threaded.pid);
	must_refuse(MU_ERR_BUSY, "job control");
	mu_threads_release(&captured_threads);
	for (i = 0; i < THREADED_PATIENCE &&
	     threaded_state(threaded.pid, threaded.pid) != 'T';
	     i++)
		usleep(1000);
	ck_assert_int_eq(threaded_state(threaded.pid, threaded.pid), 'T');
	kill(threaded.pid, SIGCONT);
	waitpid(threaded.pid, &status, WCONTINUED);
	threaded_end(&threaded);
}

/* A filter that kills for what the program does not do itself. */
static void
kill_for_getpid(struct threaded_shared *shared)
{
	struct sock_filter code[] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS,
		    offsetof(struct seccomp_data, nr)),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_getpid, 0, 1),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_KILL_PROCESS),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
	};
	struct sock_fprog program = { 4, code };

	prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
	shared->words[0] = (uintptr_t)prctl(
	    PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program, 0, 0);
}

TEST(seccomp_is_refused)
{
	struct threaded_child threaded = threaded_start(3, kill_for_getpid);

	ck_assert_uint_eq(threaded.shared->words[0], 0);
	must_stop(threaded.pid);
	must_refuse(MU_ERR_PTRACE_SECCOMP, "seccomp");
	mu_threads_release(&captured_threads);
	threaded_end(&threaded);
}

/* At every moment of the execve(): an answer, or "gone"; never a hang. */
TEST(killed_in_the_midst)
{
	enum mu_status status;
	int round, gone = 0;
	pid_t killer;

	for (round = 0; round < 60; round++) {
		struct threaded_child threaded = threaded_start(1, many_spin);

		must_stop(threaded.pid);
		killer = fork();
		if (killer == 0) {
			usleep((unsigned)(round * 20));
			kill(threaded.pid, SIGKILL);
			_exit(0);
		}
		do
			status = call_stopped(SYS_getpid);
		while (status == MU_OK);
		gone += status == MU_ERR_TARGET_GONE;
		mu_threads_release(&captured_threads);
		waitpid(killer, NULL, 0);
		waitpid(threaded.pid, NULL, 0);
		munmap(threaded.shared, sizeof(*threaded.shared));
	}
	ck_assert_int_gt(gone, 0);
}

/* A call that does not end is interrupted, and the thread put back. */
TEST(late)
{
	struct threaded_child threaded = threaded_start(3, NULL);

	must_stop(threaded.pid);
	ck_assert_int_eq(mu_remote_thread_pick(&injected_remote,
			     &captured_threads, &captured_why),
	    MU_OK);
	injected_call = (struct mu_remote_call) { .nr = SYS_rt_sigsuspend,
		.args = { 0, 8 } }; /* fails: EFAULT */
	ck_assert_int_eq(mu_remote_call_make(&injected_call, &injected_remote,
			     in_patience(), &captured_why),
	    MU_OK);
	ck_assert_int_eq(injected_call.result, -EFAULT);
	injected_call = (struct mu_remote_call) { .nr = SYS_ppoll };
	ck_assert_int_eq(mu_remote_call_make(&injected_call, &injected_remote,
			     mu_sys_now_ns() + 50 * 1000 * 1000, &captured_why),
	    MU_ERR_TIMEOUT);
	mu_threads_release(&captured_threads);
	threaded_end(&threaded);
}

SUITE(.unfiltered = SUITE_INJECTS, .setup = captured_setup,
    .teardown = captured_teardown);
