/*
 * Where the stack of a thread begins that has returned from main(): see
 * main_end.h.
 */
#include "lib/main_end.h"

#include <link.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "mu/arch_exit.h"

#define FRAMES ((size_t)64 << 10)     /* bytes that exit()'s frames can have */
#define STACK_MOST ((size_t)64 << 20) /* other stacks are further away */

/* In a static program exit() and its callers are not told apart. */
static int
note_libc(struct dl_phdr_info *object, size_t size, void *ctx)
{
	struct mu_main_end *end = ctx;
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
		end->code.begin = object->dlpi_addr + header->p_vaddr;
		end->code.end = end->code.begin + header->p_memsz;
		return object->dlpi_name[0] != '\0' ? 1 : -1;
	}
	return 0;
}

/* The environment is above all frames, unless the program moved it. */
void
mu_main_end_note(struct mu_main_end *end)
{
	*end = (struct mu_main_end) { .top = (uintptr_t)environ };
	if (dl_iterate_phdr(note_libc, end) != 1)
		end->code = (struct mu_range) { 0, 0 };
}

uintptr_t
mu_main_end_find(const struct mu_main_end *end, uintptr_t sp)
{
	uintptr_t at, word, stop = sp + FRAMES;

	if (end->top <= sp || end->top - sp > STACK_MOST)
		return 0;
	if (stop > end->top)
		stop = end->top - end->top % sizeof(word);
	for (at = (sp + 7) & ~(uintptr_t)7; at < stop; at += sizeof(word)) {
		memcpy(&word, (const void *)at, sizeof(word));
		if (word >= end->code.begin + MU_RESULT_CALL_BYTES &&
		    word < end->code.end &&
		    mu_arch_calls_with_result(word, (uintptr_t)exit))
			return at + sizeof(word);
	}
	return 0;
}
