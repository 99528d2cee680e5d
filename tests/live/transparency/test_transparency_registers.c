/*
 * Every register of every thread has the same value after a pass: threads load
 * all registers, poll one word until it changes, and store the registers. All
 * of that is one piece of assembly, so that only the kernel and the pass can
 * change them.
 */
#include "tests/support/faults/transparency.h"
#include "tests/support/suite.h"

#if defined(__x86_64__)

#define ROUNDS 5
#define AREA 4096 /* zmm, then what else there is */

struct holder {
	/* Loads FROM, sets HELD, spins while GO is 0, stores TO. */
	void (*hold)(const void *from, void *to, int *held, const int *go);
	pthread_t thread;
	int held, go, checked, stop, wrong;
	unsigned char from[AREA] __attribute__((aligned(64)));
	unsigned char to[AREA] __attribute__((aligned(64)));
};

/*
 * rdi FROM, rsi TO, rdx HELD, rcx GO. What only the caller of a C function
 * preserves is saved on the stack, which is used below the return address.
 */
#define SPIN "movl $1, (%rdx)\n1:\tcmpl $0, (%rcx)\n\tje 1b\n\t"
#define FUNCTION(name, body)                                               \
	void name(const void *from, void *to, int *held, const int *go);   \
	__asm__(".text\n\t.type " #name ", @function\n" #name ":\n\t" body \
		"\n\tret\n\t.size " #name ", .-" #name "\n\t")

/* All but rsp, and rdx and rcx, which the spinning needs: these are last. */
FUNCTION(hold_general,
    "push %rbx\n\tpush %rbp\n\tpush %r12\n\tpush %r13\n\tpush %r14\n\t"
    "push %r15\n\tpush %rsi\n\t"
    "movq (%rdi), %rax\n\tmovq 8(%rdi), %rbx\n\tmovq 16(%rdi), %rbp\n\t"
    "movq 24(%rdi), %rsi\n\tmovq 32(%rdi), %r8\n\tmovq 40(%rdi), %r9\n\t"
    "movq 48(%rdi), %r10\n\tmovq 56(%rdi), %r11\n\tmovq 64(%rdi), %r12\n\t"
    "movq 72(%rdi), %r13\n\tmovq 80(%rdi), %r14\n\tmovq 88(%rdi), %r15\n\t"
    "movq 96(%rdi), %rdi\n\t" SPIN "xchgq (%rsp), %rsi\n\t"
    "movq %rax, (%rsi)\n\tmovq %rbx, 8(%rsi)\n\tmovq %rbp, 16(%rsi)\n\t"
    "popq %rax\n\tmovq %rax, 24(%rsi)\n\t"
    "movq %r8, 32(%rsi)\n\tmovq %r9, 40(%rsi)\n\tmovq %r10, 48(%rsi)\n\t"
    "movq %r11, 56(%rsi)\n\tmovq %r12, 64(%rsi)\n\tmovq %r13, 72(%rsi)\n\t"
    "movq %r14, 80(%rsi)\n\tmovq %r15, 88(%rsi)\n\tmovq %rdi, 96(%rsi)\n\t"
    "pop %r15\n\tpop %r14\n\tpop %r13\n\tpop %r12\n\tpop %rbp\n\t"
    "pop %rbx");

/*
 * The direction flag is set, carry too; the loop must not write them: loop by
 * jrcxz, which tests no flag.
 */
FUNCTION(hold_flags,
    "movl $1, (%rdx)\n\tmovq %rcx, %rdx\n\tstd\n\tstc\n"
    "1:\tmovl (%rdx), %ecx\n\tjrcxz 1b\n\tpushfq\n\tcld\n\t"
    "popq %rax\n\tandl $0x401, %eax\n\tmovl %eax, (%rsi)");

/* 128 bytes below the stack pointer, in a leaf function. */
FUNCTION(hold_red_zone,
    "xorl %eax, %eax\n"
    "2:\tmovq (%rdi,%rax), %r8\n\tmovq %r8, -128(%rsp,%rax)\n\t"
    "addl $8, %eax\n\tcmpl $128, %eax\n\tjne 2b\n\t" SPIN "xorl %eax, %eax\n"
    "3:\tmovq -128(%rsp,%rax), %r8\n\tmovq %r8, (%rsi,%rax)\n\t"
    "addl $8, %eax\n\tcmpl $128, %eax\n\tjne 3b");

#define EACH16(X) \
	X(0)      \
	X(1)      \
	X(2)      \
	X(3) X(4) X(5) X(6) X(7) X(8) X(9) X(10) X(11) X(12) X(13) X(14) X(15)
#define EACH32(X) \
	EACH16(X) \
	X(16)     \
	X(17)     \
	X(18)     \
	X(19)     \
	X(20) X(21) X(22) X(23) X(24) X(25) X(26) X(27) X(28) X(29) X(30) X(31)
#define EACH8(X) X(0) X(1) X(2) X(3) X(4) X(5) X(6) X(7)

#define LOAD_XMM(n) "movups " #n "*64(%rdi), %xmm" #n "\n\t"
#define STORE_XMM(n) "movups %xmm" #n ", " #n "*64(%rsi)\n\t"
#define LOAD_YMM(n) "vmovups " #n "*64(%rdi), %ymm" #n "\n\t"
#define STORE_YMM(n) "vmovups %ymm" #n ", " #n "*64(%rsi)\n\t"
#define LOAD_ZMM(n) "vmovups " #n "*64(%rdi), %zmm" #n "\n\t"
#define STORE_ZMM(n) "vmovups %zmm" #n ", " #n "*64(%rsi)\n\t"
#define LOAD_K(n) "kmovq 2048+" #n "*8(%rdi), %k" #n "\n\t"
#define STORE_K(n) "kmovq %k" #n ", 2048+" #n "*8(%rsi)\n\t"
#define LOAD_MM(n) "movq " #n "*8(%rdi), %mm" #n "\n\t"
#define STORE_MM(n) "movq %mm" #n ", " #n "*8(%rsi)\n\t"

FUNCTION(hold_xmm, EACH16(LOAD_XMM) SPIN EACH16(STORE_XMM));
FUNCTION(hold_ymm, EACH16(LOAD_YMM) SPIN EACH16(STORE_YMM) "vzeroupper");
FUNCTION(hold_zmm,
    EACH32(LOAD_ZMM) EACH8(LOAD_K) SPIN EACH32(STORE_ZMM)
	EACH8(STORE_K) "vzeroupper");
FUNCTION(hold_mmx, EACH8(LOAD_MM) SPIN EACH8(STORE_MM) "emms");

/*
 * MXCSR: rounding up, denormals are zeros; the x87 control word: 53 bits,
 * rounding down; its stack: eight numbers, read in the reverse order.
 */
#define LOAD_ST(n) "fldl 64+" #n "*8(%rdi)\n\t"
#define STORE_ST(n) "fstpl 64+(7-" #n ")*8(%rsi)\n\t"
FUNCTION(hold_x87,
    "subq $24, %rsp\n\tstmxcsr (%rsp)\n\tfnstcw 8(%rsp)\n\tfninit\n\t"
    "ldmxcsr (%rdi)\n\tfldcw 4(%rdi)\n\t" EACH8(LOAD_ST) SPIN
    "stmxcsr (%rsi)\n\tfnstcw 4(%rsi)\n\tfnstsw 6(%rsi)\n\t" EACH8(
	STORE_ST) "ldmxcsr (%rsp)\n\tfninit\n\tfldcw 8(%rsp)\n\taddq $24, %rsp");

static void
fill(struct holder *holder, size_t bytes)
{
	size_t i;

	for (i = 0; i < bytes; i++)
		holder->from[i] = (unsigned char)(i * 37 + 11);
}

static void
fill_flags(struct holder *holder)
{
	uint32_t flags = 0x401;

	memcpy(holder->from, &flags, sizeof(flags));
}

/* Each row of 64 bytes is a register; of its first USED bytes. */
static void
fill_rows(struct holder *holder, size_t rows, size_t used)
{
	size_t i, k;

	for (i = 0; i < rows; i++)
		for (k = 0; k < used; k++)
			holder->from[i * 64 + k] =
			    (unsigned char)(i * 7 + k * 3 + 1);
}

static void
fill_zmm(struct holder *holder)
{
	fill_rows(holder, 32, 64);
	memset(holder->from + 2048, 0xa5, 64);
}

/* TOP of the status word is 0 again after eight loads. */
static void
fill_x87(struct holder *holder)
{
	uint32_t mxcsr = 0x1f80 | 0x4000 | 0x40;
	uint16_t words[2] = { 0x067f, 0 };
	double numbers[8] = { 1, -2, 3.25, 1e30, -1e-30, 0.1, 7, 123456789 };

	memcpy(holder->from, &mxcsr, sizeof(mxcsr));
	memcpy(holder->from + 4, words, sizeof(words));
	memcpy(holder->from + 64, numbers, sizeof(numbers));
}

static void *
hold_again(void *arg)
{
	struct holder *holder = arg;

	while (!transparency_get(&holder->stop)) {
		memset(holder->to, 0, AREA);
		holder->hold(
		    holder->from, holder->to, &holder->held, &holder->go);
		holder->wrong += memcmp(holder->from, holder->to, AREA) != 0;
		transparency_set(&holder->held, 0);
		transparency_set(&holder->go, 0);
		__atomic_add_fetch(&holder->checked, 1, __ATOMIC_SEQ_CST);
	}
	return NULL;
}

/* One thread for each register set of this CPU. */
static size_t
prepare(struct holder *holders)
{
	size_t n = 0;

	fill(&holders[n], 13 * 8);
	holders[n++].hold = hold_general;
	fill_flags(&holders[n]);
	holders[n++].hold = hold_flags;
	fill(&holders[n], 128);
	holders[n++].hold = hold_red_zone;
	fill_rows(&holders[n], 16, 16);
	holders[n++].hold = hold_xmm;
	fill(&holders[n], 64);
	holders[n++].hold = hold_mmx;
	fill_x87(&holders[n]);
	holders[n++].hold = hold_x87;
	if (__builtin_cpu_supports("avx")) {
		fill_rows(&holders[n], 16, 32);
		holders[n++].hold = hold_ymm;
	}
	if (__builtin_cpu_supports("avx512bw")) {
		fill_zmm(&holders[n]);
		holders[n++].hold = hold_zmm;
	} else
		fprintf(stderr, "SKIPPED: zmm and k: no AVX-512\n");
	return n;
}

#define MAX_HOLDERS 8

/* One pass while all threads spin. */
static void
pass_while_held(struct holder *holders, size_t n, int method)
{
	size_t i;

	for (i = 0; i < n; i++)
		while (!transparency_get(&holders[i].held))
			sched_yield();
	transparency_pass(method);
	for (i = 0; i < n; i++) {
		int checked = transparency_get(&holders[i].checked);

		transparency_set(&holders[i].go, 1);
		while (transparency_get(&holders[i].checked) == checked)
			sched_yield();
	}
}

static void
let_end(struct holder *holder)
{
	transparency_set(&holder->stop, 1);
	while (!transparency_get(&holder->held))
		sched_yield();
	transparency_set(&holder->go, 1);
	pthread_join(holder->thread, NULL);
}

TEST_LOOP(held, 0, TRANSPARENCY_METHODS)
{
	static struct holder holders[MAX_HOLDERS];
	size_t n = prepare(holders), i;
	int k;

	for (i = 0; i < n; i++)
		transparency_spawn(&holders[i].thread, hold_again, &holders[i]);
	for (k = 0; k < ROUNDS; k++)
		pass_while_held(holders, n, _i);
	for (i = 0; i < n; i++) {
		let_end(&holders[i]);
		ck_assert_msg(holders[i].wrong == 0, "kind %zu: %d times", i,
		    holders[i].wrong);
		ck_assert_int_ge(holders[i].checked, ROUNDS);
	}
}

/* The registers and modes that a call preserves, in the calling thread. */
TEST_LOOP(caller, 0, TRANSPARENCY_METHODS)
{
	uint32_t mxcsr = 0x1f80 | 0x4000, mxcsr_after;
	uint16_t word = 0x067f, word_after;
	uint64_t flags;

	__asm__ volatile("ldmxcsr %0\n\tfldcw %1" : : "m"(mxcsr), "m"(word));
	transparency_pass(_i);
	__asm__ volatile("stmxcsr %0\n\tfnstcw %1\n\tpushfq\n\tpopq %2"
			 : "=m"(mxcsr_after), "=m"(word_after), "=r"(flags));
	ck_assert_uint_eq(mxcsr_after & 0xffc0, mxcsr & 0xffc0);
	ck_assert_uint_eq(word_after, word);
	ck_assert_uint_eq(flags & 0x400, 0);
}

#else

int
main(void)
{
	printf("SKIPPED: the registers of x86-64 only\n");
	return 77;
}

#endif
