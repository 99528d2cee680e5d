#ifndef MU_ARCH_AARCH64_REGISTER_NAMES_H
#define MU_ARCH_AARCH64_REGISTER_NAMES_H

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
		return mu_general_name(MU_REG_X19 + word);
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
