/*
 * Frames of interpreted functions: see MU_FRAME_SCRIPT.
 *
 * Runs in: any.
 */
#ifndef HEAPWALK_RECORDED_SCRIPTS_H
#define HEAPWALK_RECORDED_SCRIPTS_H

#include "mu/recorded.h"

struct mu_script {
	const char *file, *function; /* any bytes */
	unsigned line;               /* 0: not known */
};

/*
 * The entry of UNIT in a depot, of which CTX knows where it is, and the number
 * of bytes that can be read from there; NULL: there is none.
 */
typedef const char *mu_depot_entry(
    const void *ctx, uint32_t unit, size_t *room);

/*
 * What FRAME is. Returns false if it is no such frame, or the depot is damaged.
 * Strings lie in the depot.
 */
bool mu_script_find(mu_depot_entry *entry, const void *ctx, uint64_t frame,
    struct mu_script *script);

#endif
