/*
 * A frame of a stack in JSON.
 *
 * Runs in: the command.
 */
#ifndef LIB_WRITERS_JSON_FRAME_H
#define LIB_WRITERS_JSON_FRAME_H

#include <jansson.h>

#include "lib/symbolize/symbols.h"

/*
 * The frame at PC; SYMBOL has no module if nothing is known of it. NULL without
 * memory.
 */
json_t *mu_json_frame(uintptr_t pc, const struct mu_symbol *symbol);

#endif
