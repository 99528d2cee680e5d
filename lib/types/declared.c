#include "lib/types/declared.h"

#define WORD sizeof(uintptr_t)

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
