#include "tests/support/graph/packed_bytes.h"

#include <unistd.h>

unsigned char *
packed_bytes(const struct mu_packed *packed)
{
	unsigned char *bytes = malloc(packed->size + 1), *to = bytes;
	const struct mu_packed_piece *piece;

	if (bytes == NULL ||
	    (packed->filed > 0 &&
		pread(*packed->file, to, packed->filed, 0) !=
		    (ssize_t)packed->filed))
		abort();
	to += packed->filed;
	for (piece = packed->first; piece != NULL; piece = piece->next) {
		memcpy(to, piece->bytes, piece->used);
		to += piece->used;
	}
	return bytes;
}
