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
 * Until when an explanation that begins at NOW_NS may take, if the search has
 * to end at DEADLINE_NS: a quarter of the time remains for the answer itself,
 * and another one if a look has to be written (SAVE). Pure.
 */
uint64_t mu_explain_until(uint64_t now_ns, uint64_t deadline_ns, bool save);

/*
 * The explanation of SEARCH that WANTED asks for, with names from SOURCE, read
 * with RIGHTS. What cannot be said is in its note. Returns NULL without memory;
 * free the result by mu_explained_free().
 */
struct mu_explained *mu_explain(const struct mu_explain *wanted,
    struct mu_search *search, const struct mu_symbols_source *source,
    const struct mu_rights *rights);

#endif
