#ifndef MU_ARCH_X86_64_CPU_H
#define MU_ARCH_X86_64_CPU_H

#define MU_ABI "x86_64"
#define MU_ELF_MACHINE 62 /* EM_X86_64 */

/* x86-64 psABI 3.2.2: 128 bytes below rsp belong to a leaf function. */
#define MU_RED_ZONE 128

#define MU_CALL_CODE "\x0f\x05" /* syscall */
#define MU_CALL_CODE_SIZE 2
#define MU_CALL_CODE_STEP 1

/* mov $imm32,%eax */
#define MU_CALL_LOAD_SIZE 5

static inline long
mu_arch_call_loaded(const unsigned char code[MU_CALL_LOAD_SIZE])
{
	return code[0] == 0xb8 && code[3] == 0 && code[4] == 0
	    ? code[1] | code[2] << 8
	    : -1;
}

/* True for mov $NR,%reg and push $NR, of an argument of syscall(2), too. */
static inline bool
mu_arch_loads(const unsigned char code[MU_CALL_LOAD_SIZE], unsigned char nr)
{
	return ((code[0] & 0xf8) == 0xb8 || code[0] == 0x68) && code[1] == nr &&
	    code[2] == 0 && code[3] == 0 && code[4] == 0;
}

#define MU_CALLEE_SAVED 6

/* Five-level page tables leave 56 bits to users. */
#define MU_NOT_USER 0xff00000000000000ul

/* A thread pointer is the address of struct pthread (TLS variant II). */
#define MU_TLS_BELOW_TP 1

/* Two words behind the tid, which glibc 2.26 to 2.43 have at 0x2d0. */
#define MU_ROBUST_LIST_FROM_TP 0x2e0

/* rt_sigreturn, as the code that a signal handler returns to. */
#define MU_SIGRETURN_CODE "movq $15, %rax\n\tsyscall"

#ifndef __clang_analyzer__
static inline long
mu_syscall6(long nr, long a, long b, long c, long d, long e, long f)
{
	register long r10 __asm__("r10") = d;
	register long r8 __asm__("r8") = e;
	register long r9 __asm__("r9") = f;
	long ret;

	__asm__ volatile(
	    "syscall"
	    : "=a"(ret)
	    : "0"(nr), "D"(a), "S"(b), "d"(c), "r"(r10), "r"(r8), "r"(r9)
	    : "rcx", "r11", "memory");
	return ret;
}
#endif

static inline void
mu_arch_callee_saved(uintptr_t out[MU_CALLEE_SAVED])
{
	__asm__ volatile("movq %%rbx, 0(%0)\n\t"
			 "movq %%rbp, 8(%0)\n\t"
			 "movq %%r12, 16(%0)\n\t"
			 "movq %%r13, 24(%0)\n\t"
			 "movq %%r14, 32(%0)\n\t"
			 "movq %%r15, 40(%0)\n\t"
			 :
			 : "r"(out)
			 : "memory");
}

static inline void
mu_arch_relax(void)
{
	__asm__ volatile("pause");
}

static inline uintptr_t
mu_arch_sp(void)
{
	uintptr_t sp;

	__asm__ volatile("movq %%rsp, %0" : "=r"(sp));
	return sp;
}

static inline uintptr_t
mu_arch_tp(void)
{
	uintptr_t tp;

	/* tcbhead_t.tcb, the first word, is the thread pointer itself. */
	__asm__ volatile("movq %%fs:0, %0" : "=r"(tp));
	return tp;
}

#define MU_ARCH_ENTRY(name, body)                                         \
	__asm__(".text\n\t.globl " #name "\n\t.hidden " #body "\n\t"      \
		".type " #name ", %function\n" #name ":\n\t"              \
		".cfi_startproc\n\tendbr64\n\t"                           \
		"subq $72, %rsp\n\t.cfi_adjust_cfa_offset 72\n\t"         \
		"leaq 80(%rsp), %rax\n\tmovq %rax, 0(%rsp)\n\t"           \
		"movq %fs:0, %rax\n\tmovq %rax, 8(%rsp)\n\t"              \
		"movq %rbx, 16(%rsp)\n\tmovq %rbp, 24(%rsp)\n\t"          \
		"movq %r12, 32(%rsp)\n\tmovq %r13, 40(%rsp)\n\t"          \
		"movq %r14, 48(%rsp)\n\tmovq %r15, 56(%rsp)\n\t"          \
		"movq %rsp, %rcx\n\tcall " #body "\n\t"                   \
		"addq $72, %rsp\n\t.cfi_adjust_cfa_offset -72\n\tret\n\t" \
		".cfi_endproc\n\t.size " #name ", .-" #name)

#define MU_ARCH_SYSCALL(name, first, second, body, failed)           \
	__asm__(".text\n\t.globl " #name "\n\t.hidden " #body "\n\t" \
		".hidden " #failed "\n\t"                            \
		".type " #name ", %function\n" #name ":\n\t"         \
		".cfi_startproc\n\tendbr64\n\t"                      \
		"cmpq $" #first ", %rdi\n\tje 1f\n\t"                \
		"cmpq $" #second ", %rdi\n\tje 1f\n\t"               \
		"movq %rdi, %rax\n\tmovq %rsi, %rdi\n\t"             \
		"movq %rdx, %rsi\n\tmovq %rcx, %rdx\n\t"             \
		"movq %r8, %r10\n\tmovq %r9, %r8\n\t"                \
		"movq 8(%rsp), %r9\n\tsyscall\n\t"                   \
		"cmpq $-4095, %rax\n\tjae 2f\n\tret\n\t"             \
		"1: jmp " #body "\n\t"                               \
		"2: movq %rax, %rdi\n\tjmp " #failed "\n\t"          \
		".cfi_endproc\n\t.size " #name ", .-" #name)

static inline long
mu_arch_clone(unsigned long flags, void *stack_top, int *tid,
    void (*fn)(void *), void *arg)
{
	register long r10 __asm__("r10") = (long)tid;
	register long r8 __asm__("r8") = 0;
	register void (*r9)(void *) __asm__("r9") = fn;
	register void *r12 __asm__("r12") = arg;
	long ret;

	__asm__ volatile("syscall\n\t"
			 "testq %%rax, %%rax\n\t"
			 "jnz 1f\n\t"
			 "xorl %%ebp, %%ebp\n\t"
			 "movq %%r12, %%rdi\n\t"
			 "callq *%%r9\n\t"
			 "ud2\n\t"
			 "1:"
			 : "=a"(ret)
			 : "0"(56L /* SYS_clone */), "D"(flags), "S"(stack_top),
			 "d"(tid), "r"(r10), "r"(r8), "r"(r9), "r"(r12)
			 : "rcx", "r11", "memory");
	return ret;
}

static inline void
mu_arch_call_on(void *stack_top, void (*fn)(void *), void *arg)
{
	__asm__ volatile("movq %%rsp, %%rbx\n\t"
			 "movq %[top], %%rsp\n\t"
			 "callq *%[fn]\n\t"
			 "movq %%rbx, %%rsp"
			 : "+D"(arg), [top] "+r"(stack_top), [fn] "+r"(fn)
			 :
			 : "rax", "rbx", "rcx", "rdx", "rsi", "r8", "r9", "r10",
			 "r11", "xmm0", "xmm1", "xmm2", "xmm3", "xmm4", "xmm5",
			 "xmm6", "xmm7", "xmm8", "xmm9", "xmm10", "xmm11",
			 "xmm12", "xmm13", "xmm14", "xmm15", "cc", "memory");
}

#endif
