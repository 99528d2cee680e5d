#ifndef MU_ARCH_X86_64_REGISTER_NAMES_H
#define MU_ARCH_X86_64_REGISTER_NAMES_H

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
 * The parts of the XSAVE area that hold vector registers. After the first 576
 * bytes the offsets depend on the CPU; CPUID leaf 0xD reports them (Intel SDM
 * volume 1, 13.4).
 */
static inline void
mu_vector_name(struct mu_text *out, unsigned word)
{
	static const struct part {
		const char *name;
		unsigned char component; /* of XCR0; below 2: at AT */
		unsigned char first;     /* number of the first register */
		unsigned char count;
		unsigned char words;      /* words per register in this part */
		unsigned char first_word; /* of the register */
		unsigned short at;        /* offset, bytes */
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

#endif
