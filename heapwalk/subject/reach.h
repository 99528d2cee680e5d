/* Which places and which words count as references. All zero is the default. */
#ifndef HEAPWALK_SUBJECT_REACH_H
#define HEAPWALK_SUBJECT_REACH_H

#include <stdbool.h>
#include <stdint.h>

/* Rules for words in any place. */
struct mu_word_rule {
	bool unaligned; /* at every byte, not only at multiples of the word size
			 */
	uintptr_t tags; /* bits that are not part of an address */
};

/* Places that are no roots. */
struct mu_reach {
	bool no_globals, no_stacks, no_registers, no_tls, no_regions;
	struct mu_word_rule words;
};

#endif
