/*
 * The references to a block from stacks and thread-local variables, of other
 * threads and of the calling one.
 */
#include <ucontext.h>

#include "mu/arch/cpu.h"
#include "tests/support/pass/why.h"
#include "tests/support/suite.h"

static __thread void *in_tls;

/* The stack of another thread. */
struct place {
	uintptr_t hidden; /* where the worker has put the pointer */
	int kind;
};

static void
holding_in_a_frame(struct worker *worker)
{
	void *volatile here = NULL;
	struct place *place = worker->context;

	put((void *)&here, worker->hidden);
	place->hidden = mu_hide((void *)&here);
	worker_park(worker);
	drop((void *)&here);
	worker_park(worker);
}

static void
holding_in_tls(struct worker *worker)
{
	struct place *place = worker->context;

	put(&in_tls, worker->hidden);
	place->hidden = mu_hide(&in_tls);
	worker_park(worker);
	drop(&in_tls);
	worker_park(worker);
}

static pthread_key_t key;

LIVE void
set_specific(uintptr_t hidden)
{
	pthread_setspecific(key, hidden == 0 ? NULL : mu_reveal(hidden));
}

static void
holding_specific(struct worker *worker)
{
	set_specific(worker->hidden);
	worker_park(worker);
	set_specific(0);
	worker_park(worker);
}

/* PLACE is of a thread that parks with and without the pointer. */
LIVE void
expect_in_worker(void (*body)(struct worker *), int kind)
{
	static struct worker worker;
	static struct place place;

	place.hidden = 0;
	worker = (struct worker) { .body = body, .context = &place };
	worker.hidden = block_new(72);
	worker_start(&worker);
	EXPECT_TOLD(worker.hidden, 1);
	ck_assert_int_eq(told[0].kind, kind);
	ck_assert_int_eq(told[0].thread, worker.tid);
	if (place.hidden != 0)
		ck_assert_uint_eq(told[0].hidden_address, place.hidden);
	if (kind == MEMUNREACHABLE_REFERENCE_STACK) {
		ck_assert_int_ge(told[0].offset, -128);
		ck_assert_int_lt(told[0].offset, 65536);
	}
	worker_next(&worker);
	EXPECT_TOLD(worker.hidden, 0);
	worker_finish(&worker);
	block_free(worker.hidden);
}

TEST(stack_of_another_thread)
{
	expect_in_worker(holding_in_a_frame, MEMUNREACHABLE_REFERENCE_STACK);
}

TEST(variable_of_another_thread)
{
	expect_in_worker(holding_in_tls, MEMUNREACHABLE_REFERENCE_TLS);
	ck_assert_int_eq(pthread_key_create(&key, NULL), 0);
	expect_in_worker(holding_specific, MEMUNREACHABLE_REFERENCE_TLS);
}

/* TLS of the main thread is not part of a stack. */
TEST(variable_of_this_thread)
{
	uintptr_t block = block_new(72);

	put(&in_tls, block);
	EXPECT_ONE(block, MEMUNREACHABLE_REFERENCE_TLS, &in_tls);
	ck_assert_int_eq(told[0].thread, gettid());
	ck_assert_int_eq(
	    told[0].offset, (ptrdiff_t)((uintptr_t)&in_tls - mu_arch_tp()));
	drop(&in_tls);
	ck_assert_int_eq(pthread_key_create(&key, NULL), 0);
	set_specific(block);
	EXPECT_TOLD(block, 1);
	ck_assert_int_eq(told[0].kind, MEMUNREACHABLE_REFERENCE_TLS);
	set_specific(0);
	EXPECT_TOLD(block, 0);
}

/* __thread in a library that came later is in a separate block. */
TEST(variable_of_a_thread_and_a_library)
{
	uintptr_t block = block_new(72);
	void *place = shim("shim_tls");

	put(place, block);
	EXPECT_ONE(block, MEMUNREACHABLE_REFERENCE_BLOCK, place);
	ck_assert_int_eq(told[0].thread, gettid());
	drop(place);
	EXPECT_TOLD(block, 0);
}

/* The caller's own frame, and nothing of the library's. */
LIVE void
expect_in_this_frame(uintptr_t block)
{
	void *volatile here = NULL;

	put((void *)&here, block);
	EXPECT_ONE(block, MEMUNREACHABLE_REFERENCE_CALLER, &here);
	ck_assert_int_eq(told[0].thread, gettid());
	ck_assert_int_ge(told[0].offset, 0);
	ck_assert_int_lt(told[0].offset, 65536);
	drop((void *)&here);
	EXPECT_TOLD(block, 0);
}

TEST(stack_of_the_caller)
{
	uintptr_t block = block_new(72);

	scrub(); /* the frames of block_new() */
	expect_in_this_frame(block);
}

static void *
ask_in_a_thread(void *arg)
{
	expect_in_this_frame(*(uintptr_t *)arg);
	ck_assert(pthread_equal(told_in, pthread_self()));
	return NULL;
}

TEST(stack_of_a_calling_thread)
{
	uintptr_t block = block_new(72);
	pthread_t thread;

	ck_assert_int_eq(
	    pthread_create(&thread, NULL, ask_in_a_thread, &block), 0);
	pthread_join(thread, NULL);
}

/* The caller runs on a block: our frames are in it, too. */
static ucontext_t outside, inside;
static uintptr_t asked_about, stack_block;

static void
ask_on_a_block(void)
{
	void *volatile here = NULL;

	EXPECT_TOLD(asked_about, 0);
	put((void *)&here, asked_about);
	EXPECT_TOLD(asked_about, 1);
	ck_assert_int_eq(told[0].kind, MEMUNREACHABLE_REFERENCE_BLOCK);
	ck_assert_uint_eq(told[0].hidden_address, mu_hide((void *)&here));
	ck_assert_uint_eq(told[0].hidden_begin, stack_block);
	ck_assert(told[0].reachable);
	drop((void *)&here);
	EXPECT_TOLD(asked_about, 0);
}

TEST(stack_in_a_block)
{
	ck_assert_int_eq(getcontext(&inside), 0);
	asked_about = block_new(72);
	stack_block = block_new(98304);
	put(&inside.uc_stack.ss_sp, stack_block);
	inside.uc_stack.ss_size = 98304;
	inside.uc_link = &outside;
	makecontext(&inside, ask_on_a_block, 0);
	scrub_registers();
	ck_assert_int_eq(swapcontext(&outside, &inside), 0);
}

/*
 * References from registers, by name, of threads that spin and of the caller.
 * Written for x86-64.
 */

#if defined(__x86_64__)

/*
 * SPIN(name, set): a leaf function that has the address in one place only,
 * until *go is 1. rdi = hidden, rsi = &ready, rdx = &go.
 */
#define SPIN(name, set)                                                    \
	void name(uintptr_t hidden, int *ready, int *go);                  \
	__asm__(".text\n" #name ":\n\t"                                    \
		"pushq %rbx\n\tpushq %rbp\n\tpushq %r12\n\tpushq %r13\n\t" \
		"pushq %r14\n\tpushq %r15\n\t"                             \
		"notq %rdi\n\t" set "\n\t"                                 \
		"xorl %edi, %edi\n\tmovl $1, (%rsi)\n"                     \
		"1:\tpause\n\tcmpl $1, (%rdx)\n\tjb 1b\n\t"                \
		"popq %r15\n\tpopq %r14\n\tpopq %r13\n\tpopq %r12\n\t"     \
		"popq %rbp\n\tpopq %rbx\n\tret\n")

SPIN(why_rax, "movq %rdi, %rax");
SPIN(why_rbx, "movq %rdi, %rbx");
SPIN(why_rbp, "movq %rdi, %rbp");
SPIN(why_r8, "movq %rdi, %r8");
SPIN(why_r15, "movq %rdi, %r15");
SPIN(why_mm7, "movq %rdi, %mm7");
SPIN(why_xmm0, "movq %rdi, %xmm0");
SPIN(why_xmm15, "movq %rdi, %xmm15\n\tpslldq $8, %xmm15");
SPIN(why_ymm14,
    "vmovq %rdi, %xmm14\n\tvperm2f128 $0x08, %ymm14, %ymm14, %ymm14");
SPIN(why_zmm31, "vmovq %rdi, %xmm31");
SPIN(why_red_zone, "movq %rdi, -128(%rsp)");

static const struct spin {
	void (*spin)(uintptr_t hidden, int *ready, int *go);
	const char *name;  /* NULL: in the stack */
	const char *needs; /* of the CPU */
	int into;
} spins[] = {
	{ why_rax, "rax", NULL, 0 },
	{ why_rbx, "rbx", NULL, 0 },
	{ why_rbp, "rbp", NULL, 0 },
	{ why_r8, "r8", NULL, 0 },
	{ why_r15, "r15", NULL, 0 },
	{ why_mm7, "st7 word 0", NULL, 0 },
	{ why_xmm0, "xmm0 word 0", NULL, 0 },
	{ why_xmm15, "xmm15 word 1", NULL, 0 },
	{ why_ymm14, "ymm14 word 2", "avx", 0 },
	{ why_zmm31, "zmm31 word 0", "avx512f", 0 },
	{ why_red_zone, NULL, NULL, 0 },
};

#define NUM_SPINS (sizeof(spins) / sizeof(*spins))

struct spinner {
	const struct spin *spin;
	uintptr_t hidden;
	int ready, go;
	pid_t tid;
};

static bool
cpu_has(const char *feature)
{
	if (feature == NULL)
		return true;
	if (strcmp(feature, "avx") == 0)
		return __builtin_cpu_supports("avx");
	return __builtin_cpu_supports("avx512f");
}

static void *
spinner_main(void *arg)
{
	struct spinner *spinner = arg;

	spinner->tid = gettid();
	scrub();
	spinner->spin->spin(spinner->hidden, &spinner->ready, &spinner->go);
	return NULL;
}

TEST_LOOP(register_of_a_thread, 0, NUM_SPINS)
{
	static struct spinner spinner;
	const struct spin *spin = &spins[_i];
	pthread_t thread;

	if (!cpu_has(spin->needs)) {
		printf("SKIPPED: the CPU has no %s\n", spin->needs);
		return;
	}
	spinner.spin = spin;
	spinner.hidden = block_new(72);
	EXPECT_TOLD(spinner.hidden, 0);
	ck_assert_int_eq(
	    pthread_create(&thread, NULL, spinner_main, &spinner), 0);
	while (__atomic_load_n(&spinner.ready, __ATOMIC_SEQ_CST) == 0)
		sched_yield();
	EXPECT_TOLD(spinner.hidden, 1);
	ck_assert_int_eq(told[0].thread, spinner.tid);
	ck_assert_int_eq(told[0].into, spin->into);
	ck_assert_uint_eq(told[0].hidden_value,
	    spinner.hidden - (uintptr_t)(intptr_t)spin->into);
	if (spin->name != NULL) {
		ck_assert_int_eq(
		    told[0].kind, MEMUNREACHABLE_REFERENCE_REGISTER);
		ck_assert_str_eq(told[0].name, spin->name);
		ck_assert_uint_eq(told[0].hidden_address, mu_hide(NULL));
	} else {
		ck_assert_int_eq(told[0].kind, MEMUNREACHABLE_REFERENCE_STACK);
		ck_assert_int_eq(told[0].offset, -128);
	}
	__atomic_store_n(&spinner.go, 1, __ATOMIC_SEQ_CST);
	pthread_join(thread, NULL);
}

/*
 * Ask with another copy of the address in one register that a callee
 * preserves. rdi = hidden, rsi = callback, rdx = call.
 */
#define ASK_WITH(register)                                                                                                 \
	ptrdiff_t why_with_##register(uintptr_t hidden,                                                                    \
	    memunreachable_reference_fn callback,                                                                          \
	    ptrdiff_t(*call)(                                                                                              \
		const void *, memunreachable_reference_fn, void *));                                                       \
	__asm__(                                                                                                           \
	    ".text\nwhy_with_" #register ":\n\t"                                                                           \
					 "pushq %" #register "\n\tnotq %rdi\n\t"                                           \
							     "movq %rdi, %" #register "\n\tmovq %rdx, %rax\n\t"            \
										      "xorl %edx, %edx\n\tcallq *%rax\n\t" \
										      "popq %" #register "\n\tret\n")

ASK_WITH(rbx);
ASK_WITH(rbp);
ASK_WITH(r12);
ASK_WITH(r13);
ASK_WITH(r14);
ASK_WITH(r15);

static const struct {
	ptrdiff_t (*ask)(uintptr_t, memunreachable_reference_fn,
	    ptrdiff_t (*)(const void *, memunreachable_reference_fn, void *));
	const char *name;
} asks[] = {
	{ why_with_rbx, "rbx" },
	{ why_with_rbp, "rbp" },
	{ why_with_r12, "r12" },
	{ why_with_r13, "r13" },
	{ why_with_r14, "r14" },
	{ why_with_r15, "r15" },
};

TEST_LOOP(register_of_the_caller, 0, 6)
{
	uintptr_t block = block_new(72);

	EXPECT_TOLD(block, 0);
	scrub();
	num_told = 0;
	ck_assert_int_eq(
	    asks[_i].ask(block, take_down, memunreachable_why_reachable), 1);
	ck_assert_uint_eq(num_told, 1);
	ck_assert_int_eq(told[0].kind, MEMUNREACHABLE_REFERENCE_REGISTER);
	ck_assert_int_eq(told[0].thread, gettid());
	ck_assert_str_eq(told[0].name, asks[_i].name);
	ck_assert_uint_eq(told[0].hidden_value, block);
	EXPECT_TOLD(block, 0);
}

/* Registers that a call preserves are what they were. */
#define PRESERVES                                                   \
	"pushq %rbx\n\tpushq %rbp\n\tpushq %r12\n\tpushq %r13\n\t"  \
	"pushq %r14\n\tpushq %r15\n\tpushq %rsi\n\t"                \
	"movl $11, %ebx\n\tmovl $12, %ebp\n\tmovl $13, %r12d\n\t"   \
	"movl $14, %r13d\n\tmovl $15, %r14d\n\tmovl $16, %r15d\n\t" \
	"notq %rdi\n\tmovq %rdx, %rax\n\txorl %esi, %esi\n\t"       \
	"xorl %edx, %edx\n\tcallq *%rax\n\t"                        \
	"popq %rsi\n\tmovq %rbx, (%rsi)\n\tmovq %rbp, 8(%rsi)\n\t"  \
	"movq %r12, 16(%rsi)\n\tmovq %r13, 24(%rsi)\n\t"            \
	"movq %r14, 32(%rsi)\n\tmovq %r15, 40(%rsi)\n\t"            \
	"popq %r15\n\tpopq %r14\n\tpopq %r13\n\tpopq %r12\n\t"      \
	"popq %rbp\n\tpopq %rbx\n\tret\n"

ptrdiff_t why_preserves(uintptr_t hidden, long words[6],
    ptrdiff_t (*call)(const void *, memunreachable_reference_fn, void *));
__asm__(".text\nwhy_preserves:\n\t" PRESERVES);

TEST(registers_are_preserved)
{
	uintptr_t block = block_new(72);
	long words[6] = { 0 };
	size_t i;

	ck_assert_int_eq(
	    why_preserves(block, words, memunreachable_why_reachable), 0);
	for (i = 0; i < 6; i++)
		ck_assert_int_eq(words[i], (long)i + 11);
}

#endif /* __x86_64__ */
