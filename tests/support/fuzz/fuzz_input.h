/*
 * What the programs in tests/fuzz share: taking input from the front, and
 * assertions.
 */
#ifndef TESTS_SUPPORT_FUZZ_FUZZ_INPUT_H
#define TESTS_SUPPORT_FUZZ_FUZZ_INPUT_H

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#define require(holds)                                                     \
	do {                                                               \
		if (!(holds)) {                                            \
			fprintf(stderr, "%s:%d: %s\n", __FILE__, __LINE__, \
			    #holds);                                       \
			abort();                                           \
		}                                                          \
	} while (0)

struct fuzz_input {
	const uint8_t *data;
	size_t size;
};

/* SIZE bytes, lowest first; what is not there is 0. */
static inline uint64_t
fuzz_take(struct fuzz_input *input, size_t size)
{
	uint64_t value = 0;
	size_t i;

	for (i = 0; i < size && input->size > 0; i++) {
		value |= (uint64_t)*input->data++ << 8 * i;
		input->size--;
	}
	return value;
}

#endif
