#include "heapwalk/subject/each_word.h"

#include <string.h>

void
mu_each_word(const struct mu_snapshot *snap, struct mu_range range,
    mu_word_visitor *visit, void *ctx)
{
	struct mu_memory *memory = (struct mu_memory *)&snap->memory;
	struct mu_range part;
	const char *view;
	uintptr_t word;
	size_t at;

	for (; range.begin < range.end &&
	     memory->ops->populated(memory, range, &part);
	     range.begin = part.end) {
		view = mu_snapshot_view(snap, part.begin, mu_range_size(part));
		for (at = 0;
		     view != NULL && at + sizeof(word) <= mu_range_size(part);
		     at += sizeof(word)) {
			memcpy(&word, view + at, sizeof(word));
			if (word != 0 && !visit(ctx, part.begin + at, word))
				return;
		}
	}
}
