/* An entry of the answer. */
#ifndef HEAPWALK_FOLD_LEAKS_H
#define HEAPWALK_FOLD_LEAKS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "mu/range.h"

#define MU_LEAK_FRAMES 16
#define MU_LEAK_CONTENTS 32

struct mu_leak {
	struct mu_range range;
	size_t referenced_count, referenced_size; /* bytes */
	size_t similar_count, similar_size;
	size_t similar_referenced_count, similar_referenced_size;
	size_t total_size;
	size_t num_frames;
	uintptr_t frames[MU_LEAK_FRAMES];
	unsigned char contents[MU_LEAK_CONTENTS];
	size_t num_more;       /* further frames */
	const uintptr_t *more; /* owned by the maker of the entry */
	bool cut;              /* the recorder kept no more frames */
};

#endif
