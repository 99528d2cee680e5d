/*
 * What the recorder itself knew of an address: a bt_info of v1.2,
 *	{"/usr/lib/libc.so.6" 26123 "fopen" 33}
 *
 * Pure.
 */
#ifndef LIB_VIEW_FRAME_INFO_H
#define LIB_VIEW_FRAME_INFO_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "lib/view/line.h"

struct mu_frame_info {
	uintptr_t pc;
	const char *module, *function; /* "" = not known */
	uint64_t offset;               /* into the module */
};

/*
 * Take one off LINE, all but the pc; its strings are in the line. False: it
 * begins otherwise.
 */
bool mu_frame_info_take(struct mu_line *line, struct mu_frame_info *info);

/* Sort COUNT of them, no two for one pc, by pc. */
void mu_frame_infos_seal(struct mu_frame_info *infos, size_t count);

/* That of PC; NULL: there is none. */
const struct mu_frame_info *mu_frame_infos_find(
    const struct mu_frame_info *infos, size_t count, uintptr_t pc);

#endif
