#include "lib/types/declared.h"

#include "lib/types/block_size.h"

#define WORD sizeof(uintptr_t)
#define TAIL 16 /* bytes that malloc() of glibc may add to a block */

const struct mu_declared_field *
mu_declared_field_at(const struct mu_declared *declared, size_t offset)
{
	const struct mu_declared_field *field, *open = NULL;
	size_t i, into;

	for (i = 0; declared != NULL && i < declared->num_fields; i++) {
		field = &declared->fields[i];
		if (field->offset < 0 || offset < (uint64_t)field->offset)
			continue;
		into = offset - (size_t)field->offset;
		if (into < WORD ||
		    (field->stride > 0 && into % field->stride < WORD &&
			into / field->stride < field->count))
			return field;
		if (field->count == 0 && field->stride > 0 &&
		    into % field->stride < WORD)
			open = field;
	}
	return open;
}

bool
mu_declared_fits(uint64_t size, size_t block)
{
	return mu_block_has_size(size, block) ||
	    (mu_block_of_chunk(block) && block > TAIL + 8 &&
		mu_block_has_size(size, block - TAIL));
}
