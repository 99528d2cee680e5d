/*
 * Names of the words of register sets, for reports.
 *
 * A regno is the number of a word in one of three sets: NT_PRSTATUS, the vector
 * set (XSAVE's standard format or, without XSAVE, FXSAVE's, which is the
 * beginning of XSAVE's; on aarch64 v0..v31), or the registers of
 * mu_arch_callee_saved().
 *
 * Runs in: original.
 */
#ifndef MU_ARCH_REGISTER_NAMES_H
#define MU_ARCH_REGISTER_NAMES_H

#include <stdint.h>

#include "mu/arch/chosen.h"
#include "mu/arch/cpu.h"
#include "mu/arch/registers.h"
#include "mu/text.h"

#define MU_REGNO_GENERAL 0x0000
#define MU_REGNO_VECTOR 0x1000
#define MU_REGNO_SAVED 0x2000
#define MU_REGNO_END 0x3000
#define MU_REGNO_SET 0xf000 /* these bits select the set */

/* Return the name of a word of each set. */
static inline const char *mu_general_name(unsigned word);
static inline const char *mu_saved_name(unsigned word);
static inline void mu_vector_name(struct mu_text *out, unsigned word);

#include MU_ARCH(register_names.h)

/* Append the name of PLACE: "rbx", "xmm3 word 0", "xsave+0x240". */
static inline void
mu_register_name(struct mu_text *out, unsigned regno)
{
	unsigned word = regno & ~(unsigned)MU_REGNO_SET;

	switch (regno & MU_REGNO_SET) {
	case MU_REGNO_GENERAL:
		mu_text_add(out, "%s", mu_general_name(word));
		break;
	case MU_REGNO_VECTOR:
		mu_vector_name(out, word);
		break;
	case MU_REGNO_SAVED:
		mu_text_add(out, "%s", mu_saved_name(word));
		break;
	default:
		mu_text_add(out, "?");
		break;
	}
}

#endif
