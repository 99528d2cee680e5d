#include "lib/symbolize/checksum.h"

#include <stddef.h>
#include <stdlib.h>

#include "mu/sys.h"

#define PIECE ((size_t)1 << 20)
#define POLYNOMIAL 0xedb88320u /* of CRC-32, the lowest bit first */

static void
make_table(uint32_t table[256])
{
	uint32_t value;
	unsigned i, bit;

	for (i = 0; i < 256; i++) {
		value = i;
		for (bit = 0; bit < 8; bit++)
			value =
			    value >> 1 ^ ((value & 1) != 0 ? POLYNOMIAL : 0);
		table[i] = value;
	}
}

bool
mu_checksum_file(int fd, uint32_t *checksum)
{
	unsigned char *bytes = malloc(PIECE);
	uint32_t table[256], value = ~0u;
	uint64_t at = 0;
	ssize_t size, i;

	if (bytes == NULL)
		return false;
	make_table(table);
	while ((size = mu_sys_pread(fd, bytes, PIECE, at)) > 0) {
		for (i = 0; i < size; i++)
			value = value >> 8 ^ table[(value ^ bytes[i]) & 0xff];
		at += (uint64_t)size;
	}
	free(bytes);
	*checksum = ~value;
	return size == 0;
}
