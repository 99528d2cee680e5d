/* What the heap's memory is used for, and what that means, in a few lines. */
#ifndef LIB_WRITERS_VERDICT_TEXT_H
#define LIB_WRITERS_VERDICT_TEXT_H

#include "heapwalk/heaps/usage.h"
#include "lib/term/out.h"
#include "lib/term/style.h"

/* Prints nothing if USAGE is all zero: not known. */
void mu_verdict_text(const struct mu_out *out,
    const struct mu_heap_usage *usage, const struct mu_style *style);

#endif
