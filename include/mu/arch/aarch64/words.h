#ifndef MU_ARCH_AARCH64_WORDS_H
#define MU_ARCH_AARCH64_WORDS_H

#define MU_ARCH_WORDS NULL
#define MU_ARCH_BITS

static inline unsigned
mu_arch_words_best(void)
{
	return 0;
}

#endif
