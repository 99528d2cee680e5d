#include "lib/state/exit_stack.h"

#include <link.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "heapwalk/heaps/glibc/pthread.h"
#include "lib/state/caller.h"
#include "mu/arch/cpu.h"
#include "mu/arch/exit.h"

#define FRAMES ((size_t)64 << 10) /* upper limit for exit()'s frames, bytes */
#define STACK_MOST ((size_t)64 << 20) /* other stacks are farther away */

/* Size of exit(): 26 to 28 bytes from 2.31 to 2.43, on x86-64. */
#define EXIT_BYTES 64

/* In a static program exit() cannot be distinguished from its callers. */
static int
note_libc(struct dl_phdr_info *object, size_t size, void *ctx)
{
	struct mu_exit_stack *stack = ctx;
	uintptr_t at = (uintptr_t)exit - object->dlpi_addr;
	const ElfW(Phdr) * header;
	int i;

	(void)size;
	for (i = 0; i < object->dlpi_phnum; i++) {
		header = &object->dlpi_phdr[i];
		if (header->p_type != PT_LOAD ||
		    (header->p_flags & PF_X) == 0 ||
		    at - header->p_vaddr >= header->p_memsz)
			continue;
		stack->code.begin = object->dlpi_addr + header->p_vaddr;
		stack->code.end = stack->code.begin + header->p_memsz;
		return object->dlpi_name[0] != '\0' ? 1 : -1;
	}
	return 0;
}

/* The environment lies above all frames, unless the program moved it. */
void
mu_exit_stack_note(struct mu_exit_stack *stack)
{
	*stack = (struct mu_exit_stack) { .top = (uintptr_t)environ };
	if (dl_iterate_phdr(note_libc, stack) != 1)
		stack->code = (struct mu_range) { 0, 0 };
}

#ifdef MU_PTHREAD_STACKBLOCK

/*
 * The end of the stack of a glibc thread other than the first, which has a
 * block from 0 to __libc_stack_end.
 */
static uintptr_t
thread_stack_end(uintptr_t sp, uintptr_t tp)
{
	struct mu_range block;

	memcpy(&block.begin, (const char *)tp + MU_PTHREAD_STACKBLOCK,
	    sizeof(block.begin));
	memcpy(&block.end,
	    (const char *)tp + MU_PTHREAD_STACKBLOCK + sizeof(block.begin),
	    sizeof(block.end));
	block.end += block.begin;
	if (block.begin == 0 || !mu_range_has(block, sp) ||
	    !mu_range_has(block, tp) || tp < sp)
		return 0;
	return tp;
}

#else

static uintptr_t
thread_stack_end(uintptr_t sp, uintptr_t tp)
{
	(void)sp;
	(void)tp;
	return 0;
}

#endif

/*
 * The readable end of the stack that holds SP; 0 if the kind of stack is not
 * known.
 */
static uintptr_t
stack_end(const struct mu_exit_stack *stack, uintptr_t sp, uintptr_t tp)
{
	if (stack->top > sp && stack->top - sp <= STACK_MOST)
		return stack->top;
	return thread_stack_end(sp, tp);
}

/*
 * True if WORD is the return address in exit() of the function that calls the
 * handlers.
 */
static bool
is_in_exit(const struct mu_exit_stack *stack, uintptr_t word)
{
	uintptr_t called;

	if (word <= (uintptr_t)exit || word > (uintptr_t)exit + EXIT_BYTES)
		return false;
	called = mu_arch_called(word);
	return called != 0 && mu_range_has(stack->code, called) &&
	    stack->code.end - called >= MU_SAVING_BYTES &&
	    mu_arch_saves_all(called);
}

uintptr_t
mu_exit_stack_find(
    const struct mu_exit_stack *stack, uintptr_t sp, uintptr_t tp)
{
	uintptr_t at, word, stop = sp + FRAMES, from = 0;
	uintptr_t end = stack_end(stack, sp, tp);

	if (stop > end)
		stop = end - end % sizeof(word);
	for (at = (sp + 7) & ~(uintptr_t)7; at < stop; at += sizeof(word)) {
		memcpy(&word, (const void *)at, sizeof(word));
		if (word < stack->code.begin + MU_RESULT_CALL_BYTES ||
		    word >= stack->code.end)
			continue;
		if (mu_arch_calls_with_result(word, (uintptr_t)exit))
			return at + sizeof(word);
		if (from == 0 && is_in_exit(stack, word))
			from = at - MU_CALLEE_SAVED * sizeof(word);
	}
	return from;
}

void
mu_exit_stack_begin(struct mu_exit_stack *stack, const struct mu_caller *caller)
{
	stack->from = mu_exit_stack_find(stack, caller->sp, caller->tp);
	stack->tp = caller->tp;
}

/* A pass also takes the red zone below it for alive. */
uintptr_t
mu_exit_stack_sp(
    const struct mu_exit_stack *stack, const struct mu_caller *caller)
{
	return stack->tp == caller->tp && stack->from > caller->sp
	    ? stack->from + MU_RED_ZONE
	    : caller->sp;
}
