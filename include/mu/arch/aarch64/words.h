#ifndef MU_ARCH_AARCH64_WORDS_H
#define MU_ARCH_AARCH64_WORDS_H

#define MU_ARCH_WORDS NULL
#define MU_ARCH_BITS

static inline unsigned
mu_arch_words_best(void)
{
	return 0;
}

/* An instruction has 16 bits of an address at most. */
static inline size_t
mu_arch_operand(const char *view, size_t size, size_t at)
{
	(void)view;
	(void)at;
	return size;
}

static inline size_t
mu_arch_short_operand(const char *view, size_t size, size_t at,
    unsigned char low, unsigned char high)
{
	(void)view;
	(void)at;
	(void)low;
	(void)high;
	return size;
}

#endif
