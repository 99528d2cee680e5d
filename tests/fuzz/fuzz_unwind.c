/*
 * Any bytes as .eh_frame_hdr and what follows it, and as call frame
 * instructions: no fault, and each rule can be packed or is refused.
 *
 * First four numbers of four bytes: how far addresses that are asked for are
 * from the header.
 */
#include "lib/malloc_debug/unwind/frame_rules.h"
#include "mu/arch/unwind.h"
#include "tests/support/fuzz/fuzz_input.h"

#define ASKED 4

static void
check_rule(const struct frame_rule *rule)
{
	uint64_t packed = frame_rule_pack(rule);

	require(rule->kind <= FRAME_REALIGNED);
	require(rule->ret <= RETURN_AT_SLOT);
	if (packed == 0)
		return;
	require(rule_kind(packed) == rule->kind);
	require(rule_return(packed) == rule->ret);
	require(rule_cfa_offset(packed) == rule->cfa_offset);
	require(rule_slot(packed) == rule->slot);
	require((packed & RULE_MEMO_MASK) == 0);
}

/* The first half as those of the common entry. */
static void
run_instructions(const uint8_t *data, size_t size)
{
	struct unwind_entry entry = {
		.begin = 0x1000,
		.end = 0x2000,
		.initial = { data, data + size / 2, false },
		.program = { data + size / 2, data + size, false },
		.code_align = 1,
		.data_align = -8,
		.return_column = MU_DWARF_RA,
	};
	struct frame_rule rule;
	uintptr_t pc;

	for (pc = 0x1000; pc < 0x2000; pc = pc * 2 - 0xff0) {
		frame_rule_run(&rule, &entry, pc);
		check_rule(&rule);
	}
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct fuzz_input input = { data, size };
	struct unwind_module module = { .end = UINTPTR_MAX };
	struct frame_rule rule;
	int32_t asked[ASKED];
	uint8_t *copy;
	size_t i;

	for (i = 0; i < ASKED; i++)
		asked[i] = (int32_t)fuzz_take(&input, 4);
	/* A separate copy, so that a read past its end is detected. */
	copy = malloc(input.size + 1);
	require(copy != NULL);
	memcpy(copy, input.data, input.size);
	module.hdr = module.readable = copy;
	module.readable_end = copy + input.size;
	for (i = 0; i < ASKED; i++) {
		frame_rule_find(&rule, &module,
		    (uintptr_t)copy + (uintptr_t)(intptr_t)asked[i]);
		check_rule(&rule);
	}
	run_instructions(copy, input.size);
	free(copy);
	return 0;
}
