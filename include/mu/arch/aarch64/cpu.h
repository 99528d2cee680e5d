#ifndef MU_ARCH_AARCH64_CPU_H
#define MU_ARCH_AARCH64_CPU_H

#define MU_ABI "arm64"
#define MU_ELF_MACHINE 183 /* EM_AARCH64 */

/* AAPCS64 6.4.5.1 has no red zone. */
#define MU_RED_ZONE 0

#define MU_CALL_CODE "\x01\x00\x00\xd4" /* svc #0 */
#define MU_CALL_CODE_SIZE 4
#define MU_CALL_CODE_STEP 4

/* movz x8, #imm16 */
#define MU_CALL_LOAD_SIZE 4

static inline long
mu_arch_call_loaded(const unsigned char code[MU_CALL_LOAD_SIZE])
{
	unsigned word =
	    code[0] | code[1] << 8 | code[2] << 16 | (unsigned)code[3] << 24;

	return (word & 0xffe0001fu) == 0xd2800008u ? (long)(word >> 5 & 0xffff)
						   : -1;
}

/* True for mov x?, #NR and mov w?, #NR, of an argument of syscall(2), too. */
static inline bool
mu_arch_loads(const unsigned char code[MU_CALL_LOAD_SIZE], unsigned char nr)
{
	unsigned word =
	    code[0] | code[1] << 8 | code[2] << 16 | (unsigned)code[3] << 24;

	return (word & 0x7fffffe0u) == (0x52800000u | (unsigned)nr << 5);
}

#define MU_CALLEE_SAVED 20

/* The top byte is a tag (TBI). */
#define MU_NOT_USER 0ul

/* TLS variant I: struct pthread lies right below the thread pointer. */
#define MU_TLS_BELOW_TP 0

#define MU_ROBUST_LIST_FROM_TP 0 /* depends on the size of struct pthread */

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

#define MU_ARCH_SYSCALL(name, first, second, body, failed)                 \
	__asm__(".text\n\t.globl " #name "\n\t.hidden " #body "\n\t"       \
		".hidden " #failed "\n\t"                                  \
		".type " #name ", %function\n\t.p2align 2\n" #name ":\n\t" \
		".cfi_startproc\n\thint #34\n\t" /* bti c */               \
		"cmp x0, #" #first "\n\tb.eq 1f\n\t"                       \
		"cmp x0, #" #second "\n\tb.eq 1f\n\t"                      \
		"mov x8, x0\n\tmov x0, x1\n\tmov x1, x2\n\t"               \
		"mov x2, x3\n\tmov x3, x4\n\tmov x4, x5\n\t"               \
		"mov x5, x6\n\tsvc #0\n\t"                                 \
		"cmn x0, #4095\n\tb.cs 2f\n\tret\n\t"                      \
		"1: b " #body "\n\t"                                       \
		"2: b " #failed "\n\t"                                     \
		".cfi_endproc\n\t.size " #name ", .-" #name)

/* The kernel takes tls before the child's tid word here. */
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

#endif
