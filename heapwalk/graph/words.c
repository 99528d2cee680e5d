#include "heapwalk/graph/words.h"

#include <string.h>

#include "mu/arch/words.h"

static uint64_t
plain(const char *view, size_t count, uintptr_t lowest, uintptr_t width)
{
	uint64_t found = 0;
	uintptr_t word;
	size_t i;

	for (i = 0; i < count; i++) {
		memcpy(&word, view + i * sizeof(word), sizeof(word));
		found |= (uint64_t)(word - lowest < width) << i;
	}
	return found;
}

static mu_words_filter *const versions[] = { plain, MU_ARCH_WORDS };

mu_words_filter *
mu_words_version(unsigned number)
{
	return number <= mu_arch_words_best() ? versions[number] : NULL;
}

bool
mu_words_bits(mu_words_filter *filter)
{
	return filter != plain;
}

mu_words_filter *
mu_words_choose(void)
{
	return mu_words_version(mu_arch_words_best());
}
