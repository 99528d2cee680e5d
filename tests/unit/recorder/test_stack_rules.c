/*
 * Rules of frames: for every address of the C library they agree with libdw;
 * damaged tables may give any rule, but no fault.
 */
#include <dlfcn.h>
#include <dwarf.h>
#include <elfutils/libdw.h>
#include <link.h>
#include <stddef.h>

#include "lib/malloc_debug/unwind/frame_memo.h"
#include "lib/malloc_debug/unwind/frame_rules.h"
#include "lib/malloc_debug/unwind/module.h"
#include "mu/arch/unwind.h"
#include "tests/support/suite.h"

/*
 * What libdw makes of the unwind tables, in numbers: an independent reading.
 * It is loaded at run time, as only this needs it.
 */

/* Registers as they might be, and memory that holds something everywhere. */
struct evaluated {
	uint64_t sp, fp, pc, cfa;
};

static uint64_t
evaluated_memory(uint64_t address)
{
	return (address * 0x9e3779b97f4a7c15ull >> 20) & ~7ull;
}

static bool
evaluated_register(const struct evaluated *at, uint64_t number, uint64_t *value)
{
	*value = number == MU_DWARF_SP ? at->sp
	    : number == MU_DWARF_FP    ? at->fp
				       : at->pc;
	return number == MU_DWARF_SP || number == MU_DWARF_FP ||
	    (number == MU_DWARF_RA && !MU_UNWIND_LINK);
}

static bool
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

static bool
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
static bool
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

static struct evaluator evaluator;

struct code {
	const char *file;
	uintptr_t bias, begin, end; /* of what can be executed */
};

static void
setup(void)
{
	unwind_module_init();
	ck_assert(frame_memo_init());
}

static int
find_code(struct dl_phdr_info *info, size_t size, void *ctx)
{
	struct code *code = ctx;
	size_t i;

	(void)size;
	if (strstr(info->dlpi_name, code->file) == NULL)
		return 0;
	for (i = 0; i < info->dlpi_phnum; i++)
		if (info->dlpi_phdr[i].p_type == PT_LOAD &&
		    (info->dlpi_phdr[i].p_flags & PF_X) != 0)
			break;
	code->file = info->dlpi_name;
	code->bias = info->dlpi_addr;
	code->begin = info->dlpi_addr + info->dlpi_phdr[i].p_vaddr;
	code->end = code->begin + info->dlpi_phdr[i].p_memsz;
	return 1;
}

enum outcome { AGREED, NO_ENTRY, NO_RULE, SIGNAL, END, NUM_OUTCOMES };

/* ck_assert() writes into a file each time. */
#define AGREE(holds, pc)                                        \
	do {                                                    \
		if (!(holds))                                   \
			ck_abort_msg("%s at %#lx", #holds, pc); \
	} while (0)

static bool
at_same_place(Dwarf_Frame *frame, int number, const struct evaluated *at,
    bool saved, uint64_t place)
{
	Dwarf_Op room[3], *ops;
	uint64_t theirs;
	size_t num;

	if (evaluator.reg(frame, number, room, &ops, &num) != 0)
		return false;
	if (!saved)
		return num == 0;
	return num > 0 && evaluated_run(at, ops, num, &theirs) &&
	    theirs == place;
}

static void
check_places(
    const struct frame_rule *rule, Dwarf_Frame *frame, struct evaluated *at)
{
	uint64_t ours =
	    (rule->cfa_of_fp ? at->fp : at->sp) + (uint64_t)rule->cfa_offset;
	uint64_t slot, ra = at->cfa - 8;

	if (rule->kind == FRAME_REALIGNED)
		ours = evaluated_memory(at->fp + (uint64_t)rule->cfa_offset);
	AGREE(ours == at->cfa, at->pc);
	slot = (rule->kind == FRAME_REALIGNED ? at->fp : at->cfa) +
	    (uint64_t)rule->slot;
	AGREE(at_same_place(frame, MU_DWARF_FP, at, rule->fp_saved, slot),
	    at->pc);
	if (rule->ret == RETURN_BEHIND_FP)
		ra = slot + 8;
	if (rule->ret == RETURN_AT_SLOT)
		ra = slot;
	AGREE(at_same_place(
		  frame, MU_DWARF_RA, at, rule->ret != RETURN_IN_LINK, ra),
	    at->pc);
}

static void
check_packed(const struct frame_rule *rule, uintptr_t pc)
{
	uint64_t packed = frame_rule_pack(rule);

	AGREE(packed != 0, pc);
	AGREE((packed & RULE_MEMO_MASK) == 0, pc);
	AGREE(rule_kind(packed) == rule->kind, pc);
	AGREE(rule_return(packed) == rule->ret, pc);
	AGREE(rule_cfa_offset(packed) == rule->cfa_offset, pc);
	AGREE(rule_slot(packed) == rule->slot, pc);
	AGREE(((packed & RULE_CFA_OF_FP) != 0) == rule->cfa_of_fp, pc);
	AGREE(((packed & RULE_FP_SAVED) != 0) == rule->fp_saved, pc);
}

static enum outcome
compare_at(const struct unwind_module *module, uintptr_t bias, uintptr_t pc)
{
	struct evaluated at = { 0x7fff12345670, 0x7fff12349870, pc, 0 };
	struct unwind_entry entry;
	struct frame_rule rule;
	Dwarf_Frame *frame = NULL;
	Dwarf_Op room[3], *ops;
	enum outcome outcome;
	bool signal = false, undefined;
	size_t num;

	frame_rule_find(&rule, module, pc);
	if (evaluator.frame(evaluator.cfi, pc - bias, &frame) != 0) {
		AGREE(!unwind_entry_find(&entry, module, pc), pc);
		AGREE(rule.kind == FRAME_NO_RULE || rule.kind == FRAME_NO_CALL,
		    pc);
		return NO_ENTRY;
	}
	evaluator.info(frame, NULL, NULL, &signal);
	AGREE(signal == (rule.kind == FRAME_SIGNAL), pc);
	evaluator.reg(frame, MU_DWARF_RA, room, &ops, &num);
	undefined = num == 0 && ops == room;
	AGREE(undefined == (rule.kind == FRAME_END), pc);
	check_packed(&rule, pc);
	outcome = signal ? SIGNAL : undefined ? END : NO_RULE;
	if (rule.kind == FRAME_PLAIN || rule.kind == FRAME_REALIGNED) {
		AGREE(evaluator.cfa(frame, &ops, &num) == 0, pc);
		AGREE(evaluated_run(&at, ops, num, &at.cfa), pc);
		check_places(&rule, frame, &at);
		outcome = AGREED;
	}
	free(frame);
	return outcome;
}

static void
compare_all(const char *file, unsigned count[NUM_OUTCOMES])
{
	struct code code = { .file = file };
	struct unwind_module module;
	uintptr_t pc;

	ck_assert_int_eq(dl_iterate_phdr(find_code, &code), 1);
	ck_assert(unwind_module_find(&module, code.begin));
	ck_assert_uint_le(module.start, code.begin);
	ck_assert_uint_ge(module.end, code.end);
	memset(count, 0, NUM_OUTCOMES * sizeof(*count));
	ck_assert(evaluator_open(&evaluator, code.file));
	/* All addresses on CPUs of four bytes an instruction. */
	for (pc = code.begin; pc < code.end; pc += MU_UNWIND_CALL)
		count[compare_at(&module, code.bias, pc)]++;
	printf("%s: agreed %u, no entry %u, no rule %u, signal %u, end %u\n",
	    file, count[AGREED], count[NO_ENTRY], count[NO_RULE], count[SIGNAL],
	    count[END]);
}

TEST(of_all_of_the_c_library)
{
	unsigned count[NUM_OUTCOMES];

	compare_all("/libc.so", count);
	/* Signals' return, the first function of a thread. */
	ck_assert_uint_gt(count[SIGNAL], 0);
	ck_assert_uint_gt(count[END], 0);
	/* setcontext() and the like: the CFA is of another register. */
	ck_assert_uint_gt(count[AGREED], 100 * count[NO_RULE]);
	ck_assert_uint_gt(count[AGREED], 10 * count[NO_ENTRY]);
}

TEST(of_the_dynamic_linker)
{
	unsigned count[NUM_OUTCOMES];

	compare_all("/ld-linux", count);
	ck_assert_uint_gt(count[AGREED], 10 * count[NO_RULE]);
}

/* Tables of libc, moved: all in them is relative, and so is the code. */
struct copied_tables {
	char *bytes; /* a page that cannot be read follows their end */
	const uint8_t *pristine;
	size_t size;
	struct unwind_module module;
	uintptr_t begin, end; /* addresses of the code, moved as well */
};

static void
copy_tables(struct copied_tables *copy)
{
	struct code code = { .file = "/libc.so" };
	struct unwind_module module;
	uintptr_t moved, end;
	size_t whole;

	ck_assert_int_eq(dl_iterate_phdr(find_code, &code), 1);
	ck_assert(unwind_module_find(&module, code.begin));
	copy->pristine = module.readable;
	copy->size = (size_t)(module.readable_end - module.readable);
	whole = (copy->size + 8191) & ~(size_t)4095;
	copy->bytes = mmap(NULL, whole, PROT_READ | PROT_WRITE,
	    MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	ck_assert_ptr_ne(copy->bytes, MAP_FAILED);
	end = (uintptr_t)copy->bytes + whole - 4096;
	ck_assert_int_eq(mprotect((void *)end, 4096, PROT_NONE), 0);
	copy->bytes = (char *)end - copy->size;
	memcpy(copy->bytes, copy->pristine, copy->size);
	moved = (uintptr_t)copy->bytes - (uintptr_t)copy->pristine;
	copy->module =
	    (struct unwind_module) { module.start + moved, module.end + moved,
		    (const uint8_t *)((uintptr_t)module.hdr + moved),
		    (const uint8_t *)copy->bytes, (const uint8_t *)end };
	copy->begin = code.begin + moved;
	copy->end = code.end + moved;
}

TEST(damaged_tables)
{
	struct copied_tables copy;
	struct frame_rule rule;
	unsigned round, i, plain = 0;
	uint64_t state = 1;
	size_t hdr, place;

	copy_tables(&copy);
	hdr = (size_t)((const char *)copy.module.hdr - copy.bytes);
	for (round = 0; round < 300000; round++) {
		state = state * 6364136223846793005ull + 1442695040888963407ull;
		place = hdr + (state >> 33) % (copy.size - hdr);
		if (round % 16 == 0) /* the header itself */
			place = hdr + (state >> 33) % 16;
		copy.bytes[place] = (char)(state >> 24);
		if (round % 512 == 0)
			memcpy(copy.bytes, copy.pristine, copy.size);
		for (i = 0; i < 4; i++) {
			state = state * 6364136223846793005ull + 1;
			frame_rule_find(&rule, &copy.module,
			    copy.begin +
				(state >> 33) % (copy.end - copy.begin));
			plain += rule.kind == FRAME_PLAIN;
			frame_rule_pack(&rule);
		}
	}
	ck_assert_uint_gt(plain, 10000);
}

TEST(tables_cut_off)
{
	struct copied_tables copy;
	struct frame_rule rule;
	const uint8_t *end;
	uintptr_t pc;

	copy_tables(&copy);
	end = copy.module.readable_end;
	/* From behind: what is missing lies before what cannot be read. */
	for (pc = copy.begin; pc < copy.end; pc += 997) {
		copy.module.readable_end = end - (pc * 31) % (copy.size / 2);
		frame_rule_find(&rule, &copy.module, pc);
	}
	copy.module.readable_end = copy.module.hdr;
	frame_rule_find(&rule, &copy.module, copy.begin + 5000);
	ck_assert_int_eq(rule.kind, FRAME_NO_RULE);
}

/* A module goes, another one comes to where it was. */
TEST(new_code_in_an_old_place)
{
	static uint8_t tables[2][256];
	struct unwind_module a = { 0x10000, 0x20000, tables[0], tables[0],
		tables[0] + 256 };
	struct unwind_module b = { 0x18000, 0x28000, tables[1], tables[1],
		tables[1] + 256 };

	ck_assert(unwind_module_known(&a));
	ck_assert(unwind_module_known(&a));
	ck_assert(!unwind_module_known(&b));
	ck_assert(unwind_module_known(&b));
	/* The same places, other tables. */
	tables[1][9] = 1;
	ck_assert(!unwind_module_known(&b));
	ck_assert(unwind_module_known(&b));
	ck_assert(!unwind_module_known(&a));
	/* Where there was none, and that was relied upon. */
	unwind_module_none();
	a.start += 0x1000000;
	a.end += 0x1000000;
	ck_assert(!unwind_module_known(&a));
	a.start += 0x1000000;
	a.end += 0x1000000;
	ck_assert(unwind_module_known(&a));
}

TEST(the_memo_forgets)
{
	uintptr_t pc = (uintptr_t)qsort + 20;
	uint64_t rule = frame_memo_find(frame_memo, frame_memo_now(), pc), old;
	size_t i;

	ck_assert_uint_ne(rule, 0);
	old = frame_memo_now();
	ck_assert_uint_eq(frame_memo_find(frame_memo, old, pc), rule);
	frame_memo_forget();
	ck_assert_uint_ne(frame_memo_now(), old);
	ck_assert_uint_ne(
	    frame_memo_find(frame_memo, frame_memo_now(), pc), rule);
	/* Through all generations, and growing. */
	for (i = 0; i < 70000; i++) {
		rule = frame_memo_find(frame_memo, frame_memo_now(), pc + i);
		ck_assert_uint_eq(rule & RULE_MEMO_MASK, frame_memo_now());
		if (i % 1000 == 0)
			frame_memo_forget();
	}
}

static int
play(int argc, char **argv)
{
	(void)argc;
	(void)argv;
	if (dlopen("libdw.so.1", RTLD_NOW) != NULL)
		return -1;
	printf("SKIPPED: no libdw.so.1\n");
	return 77;
}

SUITE(.play = play, .setup = setup);
