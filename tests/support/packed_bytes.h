/* Packed entries in one piece. */
#ifndef TESTS_SUPPORT_PACKED_BYTES_H
#define TESTS_SUPPORT_PACKED_BYTES_H

#include <stdlib.h>
#include <string.h>

#include "heapwalk/fold/packed.h"

/* free() it. */
static inline unsigned char *
packed_bytes(const struct mu_packed *packed)
{
	unsigned char *bytes = malloc(packed->size + 1), *to = bytes;
	const struct mu_packed_piece *piece;

	if (bytes == NULL)
		abort();
	for (piece = packed->first; piece != NULL; piece = piece->next) {
		memcpy(to, piece->bytes, piece->used);
		to += piece->used;
	}
	return bytes;
}

#endif
