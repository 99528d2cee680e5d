/*
 * What depends on the CPU: x86-64 and aarch64.
 *
 * - mu_syscall(): a raw system call that returns -errno on failure. libc's
 *   syscall() stores the error in errno, which a CLONE_VM child shares with the
 *   thread that started it.
 * - mu_arch_callee_saved(): the registers in which a caller may keep pointers
 *   across a call (System V ABI, AAPCS64).
 * - MU_ARCH_ENTRY(): an entry point that saves these registers before any
 *   compiled code can change them.
 * - the stack pointer and thread pointer in NT_PRSTATUS, the size of the red
 *   zone, and the offset of struct pthread from the thread pointer.
 *
 * Runs in: any.
 */
#ifndef MU_ARCH_H
#define MU_ARCH_H

#include <stdbool.h>
#include <stdint.h>

#ifndef __LP64__
#error "memunreachable is for 64-bit programs only"
#endif

#ifdef __clang_analyzer__
/*
 * To clang's analyzer inline assembly writes no memory but its operands, and
 * what the kernel has filled is garbage; an external function may write.
 */
long mu_syscall6(long nr, long a, long b, long c, long d, long e, long f);
#endif

#if defined(__x86_64__)

#define MU_ABI "x86_64"
#define MU_ELF_MACHINE 62 /* EM_X86_64 */

/* x86-64 psABI 3.2.2: 128 bytes below rsp belong to a leaf function. */
#define MU_RED_ZONE 128

/* struct user_regs_struct, in words: 27 of them. */
#define MU_PRSTATUS_ARGUMENT 14 /* rdi, the first of a system call */
#define MU_PRSTATUS_PC 16       /* rip */
#define MU_PRSTATUS_SP 19       /* rsp */
#define MU_PRSTATUS_TP 21       /* fs_base */
#define MU_PRSTATUS_WORDS 27

/* The instruction for a system call: syscall */
#define MU_CALL_BYTES      \
	{                  \
		0x0f, 0x05 \
	}

/* libc loads the number right before it: mov $imm32,%eax */
#define MU_CALL_LOAD_SIZE 5

/* The number that the instruction at CODE loads; -1: it is another one. */
static inline long
mu_arch_call_loaded(const unsigned char code[MU_CALL_LOAD_SIZE])
{
	return code[0] == 0xb8 && code[3] == 0 && code[4] == 0
	    ? code[1] | code[2] << 8
	    : -1;
}

/* True if the thread was not stopped in a system call, whose number this is. */
static inline bool
mu_arch_in_user_code(const uintptr_t *prstatus)
{
	return prstatus[15] == ~(uintptr_t)0; /* orig_rax */
}

/* The system call that the thread was stopped in; -1: none, or not known. */
static inline long
mu_arch_call(const uintptr_t *prstatus)
{
	return (long)prstatus[15];
}

#define MU_CALLEE_SAVED 6

/* Bits that no user address has: five-level tables leave 56 to users. */
#define MU_NOT_USER 0xff00000000000000ul

/* A thread pointer is the address of struct pthread (TLS variant II). */
#define MU_TLS_BELOW_TP 1

/*
 * Inside struct pthread: measured with glibc 2.31, 2.36, 2.41 and 2.43. Its
 * first word and the one at 16 hold its own address (tcbhead_t).
 */
#define MU_PTHREAD_SELF 16
#define MU_PTHREAD_LIST 0x2c0 /* list_t */
#define MU_PTHREAD_TID 0x2d0
#define MU_PTHREAD_STACKBLOCK 0x690 /* and its size in the next word */
#define MU_PTHREAD_ALIGN 64
#define MU_PTHREAD_BYTES 2304 /* the least of them */
#define MU_TCB_DTV 8          /* tcbhead_t.dtv, from the thread pointer */

/*
 * Fields that are stale once a thread has ended. Its argument is the word at
 * 0x640 or 0x648, by release. A joined thread's result, 0x18 before that, and
 * all fields up to the stack block are stale too. The join, or the end of a
 * detached thread, sets TERMINATED_BIT in cancelhandling (__nptl_free_tcb).
 */
#define MU_PTHREAD_CANCEL 0x308
#define MU_PTHREAD_TERMINATED 0x20
#define MU_PTHREAD_ARGUMENT 0x640
#define MU_PTHREAD_ARGUMENT_END 0x650
#define MU_PTHREAD_RESULT 0x628

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

/* For a loop that waits for another CPU. */
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

/*
 * Define NAME, which stores sp as its caller has it after the return, the
 * thread pointer, and the callee-saved registers in memory, as words in the
 * order of mu_arch_callee_saved(). It then calls BODY with its own three
 * arguments and the address of these words as the fourth, and returns the
 * result of BODY.
 */
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

/*
 * Start FN(ARG) as a new task on the stack that ends at STACK_TOP (a multiple
 * of 16). FN must not return. A raw call, since libc's clone() sets errno. TID
 * is the word for CLONE_PARENT_SETTID and CLONE_CHILD_CLEARTID.
 */
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

/*
 * Call FN(ARG) on the stack that ends at STACK_TOP (a multiple of 16) and
 * return. Unwinding relies on the caller's frame pointer.
 */
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

#elif defined(__aarch64__)

#define MU_ABI "arm64"
#define MU_ELF_MACHINE 183 /* EM_AARCH64 */

/* AAPCS64 6.4.5.1 has no red zone. */
#define MU_RED_ZONE 0

/* struct user_pt_regs: x0..x30, sp, pc, pstate. */
#define MU_PRSTATUS_ARGUMENT 0 /* x0, as the call will be restarted */
#define MU_PRSTATUS_SP 31
#define MU_PRSTATUS_PC 32
#define MU_PRSTATUS_TP -1 /* NT_ARM_TLS has it */
#define MU_PRSTATUS_WORDS 34

/* The instruction for a system call: svc #0 */
#define MU_CALL_BYTES                  \
	{                              \
		0x01, 0x00, 0x00, 0xd4 \
	}

/* libc loads the number right before it: movz x8, #imm16 */
#define MU_CALL_LOAD_SIZE 4

/* The number that the instruction at CODE loads; -1: it is another one. */
static inline long
mu_arch_call_loaded(const unsigned char code[MU_CALL_LOAD_SIZE])
{
	unsigned word =
	    code[0] | code[1] << 8 | code[2] << 16 | (unsigned)code[3] << 24;

	return (word & 0xffe0001fu) == 0xd2800008u ? (long)(word >> 5 & 0xffff)
						   : -1;
}

/* NT_PRSTATUS does not tell on aarch64. */
static inline bool
mu_arch_in_user_code(const uintptr_t *prstatus)
{
	(void)prstatus;
	return false;
}

static inline long
mu_arch_call(const uintptr_t *prstatus)
{
	(void)prstatus;
	return -1;
}

#define MU_CALLEE_SAVED 20

/* Bits that no user address has: none, the top byte is a tag (TBI). */
#define MU_NOT_USER 0ul

/* TLS variant I: struct pthread lies right below the thread pointer. */
#define MU_TLS_BELOW_TP 0

/*
 * Its size, and so its distance, grows with the releases: stack block and size
 * are searched for within this many bytes below the thread pointer. struct
 * pthread does not hold its own address here, so it cannot be recognised once
 * its thread has ended.
 */
#define MU_PTHREAD_SEARCH 0xa00
#define MU_PTHREAD_BYTES 0 /* above the thread pointer */
#define MU_TCB_DTV 0       /* tcbhead_t.dtv, from the thread pointer */

#ifndef __clang_analyzer__
static inline long
mu_syscall6(long nr, long a, long b, long c, long d, long e, long f)
{
	register long x8 __asm__("x8") = nr;
	register long x0 __asm__("x0") = a;
	register long x1 __asm__("x1") = b;
	register long x2 __asm__("x2") = c;
	register long x3 __asm__("x3") = d;
	register long x4 __asm__("x4") = e;
	register long x5 __asm__("x5") = f;

	__asm__ volatile("svc #0"
			 : "+r"(x0)
			 : "r"(x8), "r"(x1), "r"(x2), "r"(x3), "r"(x4), "r"(x5)
			 : "memory");
	return x0;
}
#endif

static inline void
mu_arch_callee_saved(uintptr_t out[MU_CALLEE_SAVED])
{
	__asm__ volatile("stp x19, x20, [%0, #0]\n\t"
			 "stp x21, x22, [%0, #16]\n\t"
			 "stp x23, x24, [%0, #32]\n\t"
			 "stp x25, x26, [%0, #48]\n\t"
			 "stp x27, x28, [%0, #64]\n\t"
			 "stp x29, x30, [%0, #80]\n\t"
			 "stp d8, d9, [%0, #96]\n\t"
			 "stp d10, d11, [%0, #112]\n\t"
			 "stp d12, d13, [%0, #128]\n\t"
			 "stp d14, d15, [%0, #144]\n\t"
			 :
			 : "r"(out)
			 : "memory");
}

/* As above. */
static inline void
mu_arch_relax(void)
{
	__asm__ volatile("yield");
}

static inline uintptr_t
mu_arch_sp(void)
{
	uintptr_t sp;

	__asm__ volatile("mov %0, sp" : "=r"(sp));
	return sp;
}

static inline uintptr_t
mu_arch_tp(void)
{
	uintptr_t tp;

	__asm__ volatile("mrs %0, tpidr_el0" : "=r"(tp));
	return tp;
}

/* As above. */
#define MU_ARCH_ENTRY(name, body)                                          \
	__asm__(".text\n\t.globl " #name "\n\t.hidden " #body "\n\t"       \
		".type " #name ", %function\n\t.p2align 2\n" #name ":\n\t" \
		".cfi_startproc\n\t"                                       \
		"stp x29, x30, [sp, #-192]!\n\t"                           \
		".cfi_adjust_cfa_offset 192\n\t"                           \
		".cfi_rel_offset x29, 0\n\t.cfi_rel_offset x30, 8\n\t"     \
		"add x9, sp, #192\n\tmrs x10, tpidr_el0\n\t"               \
		"stp x9, x10, [sp, #16]\n\tstp x19, x20, [sp, #32]\n\t"    \
		"stp x21, x22, [sp, #48]\n\tstp x23, x24, [sp, #64]\n\t"   \
		"stp x25, x26, [sp, #80]\n\tstp x27, x28, [sp, #96]\n\t"   \
		"stp x29, x30, [sp, #112]\n\tstp d8, d9, [sp, #128]\n\t"   \
		"stp d10, d11, [sp, #144]\n\t"                             \
		"stp d12, d13, [sp, #160]\n\t"                             \
		"stp d14, d15, [sp, #176]\n\t"                             \
		"mov x29, sp\n\tadd x3, sp, #16\n\tbl " #body "\n\t"       \
		"ldp x29, x30, [sp], #192\n\t"                             \
		".cfi_adjust_cfa_offset -192\n\t.cfi_restore x29\n\t"      \
		".cfi_restore x30\n\tret\n\t"                              \
		".cfi_endproc\n\t.size " #name ", .-" #name)

/* As above; here the kernel takes tls before the child's tid word. */
static inline long
mu_arch_clone(unsigned long flags, void *stack_top, int *tid,
    void (*fn)(void *), void *arg)
{
	register long x8 __asm__("x8") = 220; /* SYS_clone */
	register long x0 __asm__("x0") = (long)flags;
	register long x1 __asm__("x1") = (long)stack_top;
	register long x2 __asm__("x2") = (long)tid;
	register long x3 __asm__("x3") = 0;
	register long x4 __asm__("x4") = (long)tid;
	register void (*x10)(void *) __asm__("x10") = fn;
	register void *x11 __asm__("x11") = arg;

	__asm__ volatile(
	    "svc #0\n\t"
	    "cbnz x0, 1f\n\t"
	    "mov x29, xzr\n\t"
	    "mov x0, x11\n\t"
	    "blr x10\n\t"
	    "brk #0\n\t"
	    "1:"
	    : "+r"(x0)
	    : "r"(x8), "r"(x1), "r"(x2), "r"(x3), "r"(x4), "r"(x10), "r"(x11)
	    : "x30", "memory");
	return x0;
}

/* As above. */
static inline void
mu_arch_call_on(void *stack_top, void (*fn)(void *), void *arg)
{
	register void *x0 __asm__("x0") = arg;
	register void *x9 __asm__("x9") = stack_top;
	register void (*x10)(void *) __asm__("x10") = fn;

	__asm__ volatile("mov x19, sp\n\t"
			 "mov sp, x9\n\t"
			 "blr x10\n\t"
			 "mov sp, x19"
			 : "+r"(x0), "+r"(x9), "+r"(x10)
			 :
			 : "x1", "x2", "x3", "x4", "x5", "x6", "x7", "x8",
			 "x11", "x12", "x13", "x14", "x15", "x16", "x17", "x18",
			 "x19", "x30", "v0", "v1", "v2", "v3", "v4", "v5", "v6",
			 "v7", "v16", "v17", "v18", "v19", "v20", "v21", "v22",
			 "v23", "v24", "v25", "v26", "v27", "v28", "v29", "v30",
			 "v31", "cc", "memory");
}

#else
#error "memunreachable knows x86-64 and aarch64"
#endif

#endif
