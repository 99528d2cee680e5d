/*
 * How the time of an explanation is divided.
 *
 * Runs in: the command.
 */
#ifndef LIB_EXPLAIN_SHARE_H
#define LIB_EXPLAIN_SHARE_H

#include <stdint.h>

/*
 * Until when a part that begins at NOW_NS may take: PARTS of WHOLE of the time
 * until END_NS. Pure.
 */
static inline uint64_t
mu_share_until(uint64_t now_ns, uint64_t end_ns, unsigned parts, unsigned whole)
{
	uint64_t left = end_ns > now_ns ? end_ns - now_ns : 0;

	return now_ns + left / whole * parts;
}

#endif
