/*
 * Names of the words of register sets.
 *
 * A place is a word of one of three sets: NT_PRSTATUS, the vector set (XSAVE's
 * standard format or, without XSAVE, FXSAVE's, which is the beginning of
 * XSAVE's; on aarch64 v0..v31), or the registers of mu_arch_callee_saved().
 *
 * Runs in: original.
 */
#ifndef MU_REGISTER_NAMES_H
#define MU_REGISTER_NAMES_H

#include <stdint.h>

#include "mu/arch.h"
#include "mu/text.h"

#define MU_PLACE_GENERAL 0x0000
#define MU_PLACE_VECTOR 0x1000
#define MU_PLACE_SAVED 0x2000
#define MU_PLACE_END 0x3000
#define MU_PLACE_SET 0xf000 /* these bits select the set */

#if defined(__x86_64__)

#include "mu/cpuid.h"

static inline const char *
mu_general_name(unsigned word)
{
	static const char *const names[] = { "r15", "r14", "r13", "r12", "rbp",
		"rbx", "r11", "r10", "r9", "r8", "rax", "rcx", "rdx", "rsi",
		"rdi", "orig_rax", "rip", "cs", "eflags", "rsp", "ss",
		"fs_base", "gs_base", "ds", "es", "fs", "gs" };

	return word < sizeof(names) / sizeof(*names) ? names[word] : "?";
}

static inline const char *
mu_saved_name(unsigned word)
{
	static const char *const names[] = { "rbx", "rbp", "r12", "r13", "r14",
		"r15" };

	return word < sizeof(names) / sizeof(*names) ? names[word] : "?";
}

/*
 * The parts of XSAVE's area that hold words of vector registers. Behind the
 * first 576 bytes the offsets depend on the CPU: CPUID leaf 0xD gives them
 * (Intel SDM volume 1, 13.4).
 */
static inline void
mu_vector_name(struct mu_text *out, unsigned word)
{
	static const struct part {
		const char *name;
		unsigned char component; /* of XCR0; below 2: at AT */
		unsigned char first;     /* register */
		unsigned char count;
		unsigned char words;      /* of each register in this part */
		unsigned char first_word; /* of the register */
		unsigned short at;        /* bytes */
	} parts[] = {
		{ "st", 0, 0, 8, 2, 0, 32 },
		{ "xmm", 1, 0, 16, 2, 0, 160 },
		{ "ymm", 2, 0, 16, 2, 2, 0 },
		{ "k", 5, 0, 8, 1, 0, 0 },
		{ "zmm", 6, 0, 16, 4, 4, 0 },
		{ "zmm", 7, 16, 16, 8, 0, 0 },
	};
	unsigned i, eax, ebx, ecx, edx, at, end;

	for (i = 0; i < sizeof(parts) / sizeof(*parts); i++) {
		const struct part *part = &parts[i];

		at = part->at;
		if (part->component >= 2) {
			if (!__get_cpuid_count(
				0xd, part->component, &eax, &ebx, &ecx, &edx) ||
			    eax == 0)
				continue;
			at = ebx;
		}
		at /= sizeof(uintptr_t);
		end = at + (unsigned)part->count * part->words;
		if (word < at || word >= end)
			continue;
		mu_text_add(out, "%s%u", part->name,
		    part->first + (word - at) / part->words);
		if (part->words > 1)
			mu_text_add(out, " word %u",
			    part->first_word + (word - at) % part->words);
		return;
	}
	mu_text_add(out, "xsave+0x%x", word * (unsigned)sizeof(uintptr_t));
}

#elif defined(__aarch64__)

static inline const char *
mu_general_name(unsigned word)
{
	static const char *const names[] = { "x0", "x1", "x2", "x3", "x4", "x5",
		"x6", "x7", "x8", "x9", "x10", "x11", "x12", "x13", "x14",
		"x15", "x16", "x17", "x18", "x19", "x20", "x21", "x22", "x23",
		"x24", "x25", "x26", "x27", "x28", "x29", "x30", "sp", "pc",
		"pstate" };

	return word < sizeof(names) / sizeof(*names) ? names[word] : "?";
}

static inline const char *
mu_saved_name(unsigned word)
{
	static const char *const vector[] = { "d8", "d9", "d10", "d11", "d12",
		"d13", "d14", "d15" };

	if (word < 12)
		return mu_general_name(19 + word);
	return word < MU_CALLEE_SAVED ? vector[word - 12] : "?";
}

static inline void
mu_vector_name(struct mu_text *out, unsigned word)
{
	if (word < 64)
		mu_text_add(out, "v%u word %u", word / 2, word % 2);
	else
		mu_text_add(out, "fpsr and fpcr");
}

#endif

/* "rbx", "xmm3 word 0", "xsave+0x240". */
static inline void
mu_register_name(struct mu_text *out, unsigned place)
{
	unsigned word = place & ~(unsigned)MU_PLACE_SET;

	switch (place & MU_PLACE_SET) {
	case MU_PLACE_GENERAL:
		mu_text_add(out, "%s", mu_general_name(word));
		break;
	case MU_PLACE_VECTOR:
		mu_vector_name(out, word);
		break;
	case MU_PLACE_SAVED:
		mu_text_add(out, "%s", mu_saved_name(word));
		break;
	default:
		mu_text_add(out, "?");
		break;
	}
}

#endif
