/*
 * Explain who holds the heap of a subject that has been marked: between the
 * marking and the folding of a search, which takes the graph apart.
 *
 * Runs in: the command.
 */
#ifndef LIB_EXPLAIN_EXPLAIN_H
#define LIB_EXPLAIN_EXPLAIN_H

#include "lib/explain/explained.h"
#include "lib/helpers/search.h"
#include "lib/symbolize/confinement.h"
#include "lib/symbolize/symbols.h"

/*
 * The explanation of SEARCH that WANTED asks for, with names from SOURCE, read
 * with RIGHTS. It leaves time for the answer of SEARCH. What cannot be said is
 * in its note. Returns NULL without memory; free the result by
 * mu_explained_free().
 */
struct mu_explained *mu_explain(const struct mu_explain *wanted,
    struct mu_search *search, const struct mu_symbols_source *source,
    const struct mu_rights *rights);

#endif
