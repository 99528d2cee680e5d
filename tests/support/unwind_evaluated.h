/*
 * What libdw makes of the unwind tables, in numbers: an independent reading.
 * It is loaded at run time, as only this needs it.
 */
#ifndef TESTS_SUPPORT_UNWIND_EVALUATED_H
#define TESTS_SUPPORT_UNWIND_EVALUATED_H

#include <dlfcn.h>
#include <dwarf.h>
#include <elfutils/libdw.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include "mu/arch/unwind.h"

/* Registers as they might be, and memory that holds something everywhere. */
struct evaluated {
	uint64_t sp, fp, pc, cfa;
};

static inline uint64_t
evaluated_memory(uint64_t address)
{
	return (address * 0x9e3779b97f4a7c15ull >> 20) & ~7ull;
}

static inline bool
evaluated_register(const struct evaluated *at, uint64_t number, uint64_t *value)
{
	*value = number == MU_DWARF_SP ? at->sp
	    : number == MU_DWARF_FP    ? at->fp
				       : at->pc;
	return number == MU_DWARF_SP || number == MU_DWARF_FP ||
	    (number == MU_DWARF_RA && !MU_UNWIND_LINK);
}

static inline bool
evaluated_step(const struct evaluated *at, const Dwarf_Op *op, uint64_t *top,
    unsigned *num)
{
	uint8_t atom = op->atom;

	*num += 1;
	top++;
	if (atom >= DW_OP_lit0 && atom <= DW_OP_lit31)
		return *top = atom - DW_OP_lit0, true;
	if (atom >= DW_OP_breg0 && atom <= DW_OP_breg31)
		return evaluated_register(at, atom - DW_OP_breg0, top) &&
		    (*top += op->number, true);
	if (atom == DW_OP_bregx)
		return evaluated_register(at, op->number, top) &&
		    (*top += op->number2, true);
	if (atom == DW_OP_call_frame_cfa)
		return *top = at->cfa, true;
	if (atom >= DW_OP_const1u && atom <= DW_OP_consts)
		return *top = op->number, true;
	*num -= 1;
	top--;
	if (atom == DW_OP_plus_uconst)
		return *top += op->number, true;
	if (atom == DW_OP_deref)
		return *top = evaluated_memory(*top), true;
	if (atom == DW_OP_stack_value)
		return true;
	*num -= 1;
	top--;
	if (atom == DW_OP_plus)
		return *top += top[1], true;
	if (atom == DW_OP_minus)
		return *top -= top[1], true;
	if (atom == DW_OP_and)
		return *top &= top[1], true;
	if (atom == DW_OP_shl)
		return *top <<= top[1], true;
	if (atom == DW_OP_ge)
		return *top = (int64_t)*top >= (int64_t)top[1], true;
	return false;
}

static inline bool
evaluated_run(const struct evaluated *at, const Dwarf_Op *ops, size_t num_ops,
    uint64_t *value)
{
	uint64_t stack[32] = { 0 };
	unsigned num = 0;
	size_t i;

	for (i = 0; i < num_ops; i++)
		if (num > 24 || !evaluated_step(at, &ops[i], &stack[num], &num))
			return false;
	*value = stack[num];
	return num == 1;
}

struct evaluator {
	Dwarf_CFI *cfi;
	int (*frame)(Dwarf_CFI *, Dwarf_Addr, Dwarf_Frame **);
	int (*cfa)(Dwarf_Frame *, Dwarf_Op **, size_t *);
	int (*reg)(Dwarf_Frame *, int, Dwarf_Op[3], Dwarf_Op **, size_t *);
	int (*info)(Dwarf_Frame *, Dwarf_Addr *, Dwarf_Addr *, bool *);
};

/* False: no libdw, or no tables in the file. */
static inline bool
evaluator_open(struct evaluator *evaluator, const char *file)
{
	void *elf = dlopen("libelf.so.1", RTLD_NOW);
	void *dw = dlopen("libdw.so.1", RTLD_NOW);
	int fd = open(file, O_RDONLY | O_CLOEXEC);
	unsigned (*version)(unsigned);
	Elf *(*begin)(int, Elf_Cmd, Elf *);
	Dwarf_CFI *(*get)(Elf *);

	if (elf == NULL || dw == NULL || fd < 0)
		return false;
	*(void **)&version = dlsym(elf, "elf_version");
	*(void **)&begin = dlsym(elf, "elf_begin");
	*(void **)&get = dlsym(dw, "dwarf_getcfi_elf");
	*(void **)&evaluator->frame = dlsym(dw, "dwarf_cfi_addrframe");
	*(void **)&evaluator->cfa = dlsym(dw, "dwarf_frame_cfa");
	*(void **)&evaluator->reg = dlsym(dw, "dwarf_frame_register");
	*(void **)&evaluator->info = dlsym(dw, "dwarf_frame_info");
	version(EV_CURRENT);
	evaluator->cfi = get(begin(fd, ELF_C_READ_MMAP, NULL));
	return evaluator->cfi != NULL;
}

#endif
