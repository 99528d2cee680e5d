/*
 * What the recorder itself knew about an address: a bt_info of v1.2,
 * {"/usr/lib/libc.so.6" 26123 "fopen" 33}
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
	const char *module, *function; /* "" if not known */
	uint64_t offset;               /* into the module */
};

/*
 * Take one from LINE, without its pc; strings point into the line. Returns
 * false if LINE does not begin with one.
 */
bool mu_frame_info_take(struct mu_line *line, struct mu_frame_info *info);

/* Sort COUNT of them by pc; each pc occurs once. */
void mu_frame_infos_seal(struct mu_frame_info *infos, size_t count);

/* The one of PC; NULL if there is none. */
const struct mu_frame_info *mu_frame_infos_find(
    const struct mu_frame_info *infos, size_t count, uintptr_t pc);

#endif
