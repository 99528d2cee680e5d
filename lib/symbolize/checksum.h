/*
 * The checksum of .gnu_debuglink: CRC-32 as in IEEE 802.3 and zlib.
 */
#ifndef SYMBOLIZE_CHECKSUM_H
#define SYMBOLIZE_CHECKSUM_H

#include <stdbool.h>
#include <stdint.h>

/* Of all bytes of FD. False: it cannot be read. */
bool mu_checksum_file(int fd, uint32_t *checksum);

#endif
