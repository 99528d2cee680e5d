/*
 * The variables of the program whose types debug information declares.
 */
#ifndef LIB_EXPLAIN_TYPED_VARIABLES_H
#define LIB_EXPLAIN_TYPED_VARIABLES_H

#include "lib/explain/typed.h"

/*
 * Add to TYPED those in files, those of each thread, and those of functions
 * that run. typed->no_memory: some are missing.
 */
void mu_typed_add_statics(struct mu_typed *typed);
void mu_typed_add_thread_locals(struct mu_typed *typed);
void mu_typed_add_locals(struct mu_typed *typed);

/* Sort, with the sizes that are known by now; ranges that overlap are cut. */
void mu_typed_sort_variables(struct mu_typed *typed);

#endif
