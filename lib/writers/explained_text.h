/* What holds the heap, in the text report. */
#ifndef LIB_WRITERS_EXPLAINED_TEXT_H
#define LIB_WRITERS_EXPLAINED_TEXT_H

#include "lib/explain/explained.h"
#include "lib/writers/writer.h"

/*
 * Each part that was asked for, followed by an empty line. Strings of the
 * subject are made safe for a terminal.
 */
void mu_explained_text(const struct mu_out *out,
    const struct mu_explained *explained, const struct mu_shown *shown);

#endif
