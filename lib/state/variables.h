/*
 * Environment variables that have one of our prefixes and are not ours.
 *
 * Pure.
 */
#ifndef LIB_STATE_VARIABLES_H
#define LIB_STATE_VARIABLES_H

#include <stdbool.h>
#include <stddef.h>

#include "mu/text.h"

#define MU_VARIABLES_WORDS 128

enum mu_variables_of {
	MU_VARIABLES_LIBRARY, /* and of the command */
	MU_VARIABLES_RECORDER,
};

/* Words for the COUNTth such variable, from 0. Returns false: there is none. */
bool mu_variables_unknown(char *const *environment, enum mu_variables_of of,
    size_t count, char words[MU_VARIABLES_WORDS]);

/* Add a line for each to WARNINGS. */
void mu_variables_warn(char *const *environment, struct mu_text *warnings);

#endif
