/*
 * Where pointers live, or hide: what setjmp() saved. glibc encodes the stack
 * pointer, the frame pointer and the return address (PTR_MANGLE in
 * sysdeps/x86_64/setjmp.S: XOR with a random word, then a rotation), so that
 * a pointer which is in rbp only cannot be seen in a jmp_buf, nor can the
 * stack that a jmp_buf leads back to. getcontext() encodes nothing. Written
 * for x86-64.
 */
#include <setjmp.h>
#include <ucontext.h>

#include "tests/support/live_mappings.h"
#include "tests/support/suite.h"

#if defined(__x86_64__)

/*
 * Call SAVE(place) with the address in one register that a callee preserves.
 * rdi = hidden, rsi = place, rdx = save. The place is never jumped to.
 */
#define SAVE_WITH(register)                                                                                      \
	void save_with_##register(                                                                               \
	    uintptr_t hidden, void *place, int (*save)(void *));                                                 \
	__asm__(                                                                                                 \
	    ".text\nsave_with_" #register ":\n\t"                                                                \
					  "pushq %" #register "\n\tnotq %rdi\n\t"                                \
							      "movq %rdi, %" #register "\n\tmovq %rsi, %rdi\n\t" \
										       "callq *%rdx\n\tpopq %" #register "\n\tret\n")

SAVE_WITH(rbx);
SAVE_WITH(rbp);
SAVE_WITH(r12);
SAVE_WITH(r13);
SAVE_WITH(r14);
SAVE_WITH(r15);

/* The same with rsp in the middle of a block of 8 KiB. */
void save_with_rsp(uintptr_t hidden, void *place, int (*save)(void *));
__asm__(".text\nsave_with_rsp:\n\t"
	"pushq %rbp\n\tmovq %rsp, %rbp\n\tnotq %rdi\n\t"
	"leaq 4096(%rdi), %rsp\n\tmovq %rsi, %rdi\n\tcallq *%rdx\n\t"
	"movq %rbp, %rsp\n\tpopq %rbp\n\tret\n");

static const struct {
	void (*with)(uintptr_t hidden, void *place, int (*save)(void *));
	bool encoded; /* in a jmp_buf */
} saves[] = {
	{ save_with_rbx, false },
	{ save_with_r12, false },
	{ save_with_r13, false },
	{ save_with_r14, false },
	{ save_with_r15, false },
	{ save_with_rbp, true },
	{ save_with_rsp, true },
};

#define NUM_SAVES ((int)(sizeof(saves) / sizeof(saves[0])))

int _setjmp(jmp_buf place);

static ucontext_t context;
static jmp_buf buffer;

/* PLACE, SIZE bytes, is what SAVE fills. */
static void
expect_saved(int i, void *place, size_t size, int (*save)(void *), bool encoded)
{
	uintptr_t block = block_new(8192);

	EXPECT_LOST(block);
	saves[i].with(block, place, save);
	if (encoded)
		EXPECT_LOST(block);
	else
		EXPECT_LEAKS(0);
	memset(place, 0, size);
	EXPECT_LOST(block);
	block_free(block);
	EXPECT_LEAKS(0);
}

TEST_LOOP(jmp_buf_in_data, 0, NUM_SAVES)
{
	expect_saved(_i, buffer, sizeof(buffer), (int (*)(void *))_setjmp,
	    saves[_i].encoded);
}

TEST_LOOP(jmp_buf_in_frame, 0, NUM_SAVES)
{
	jmp_buf local;

	expect_saved(_i, local, sizeof(local), (int (*)(void *))_setjmp,
	    saves[_i].encoded);
}

static void *holder;

TEST_LOOP(jmp_buf_in_block, 0, NUM_SAVES)
{
	holder = calloc(1, sizeof(jmp_buf));
	expect_saved(_i, holder, sizeof(jmp_buf), (int (*)(void *))_setjmp,
	    saves[_i].encoded);
}

/* rdi, its own argument, is saved too: the address of the context. */
TEST_LOOP(ucontext, 0, NUM_SAVES)
{
	expect_saved(
	    _i, &context, sizeof(context), (int (*)(void *))getcontext, false);
}

#endif /* __x86_64__ */
