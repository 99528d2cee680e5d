/* What holds the heap, in the JSON report. */
#ifndef LIB_WRITERS_EXPLAINED_JSON_H
#define LIB_WRITERS_EXPLAINED_JSON_H

#include <jansson.h>

#include "lib/explain/explained.h"

/*
 * Add what was asked for to REPORT: in_use, retained, why, explained_note.
 * CONTENTS: text of blocks may be shown. Returns false without memory.
 */
bool mu_explained_json(
    json_t *report, const struct mu_explained *explained, bool contents);

#endif
