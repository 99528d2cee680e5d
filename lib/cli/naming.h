/*
 * The names that an answer's addresses have.
 *
 * Runs in: the command.
 */
#ifndef LIB_CLI_NAMING_H
#define LIB_CLI_NAMING_H

#include "lib/cli/answer.h"

/*
 * Open answer->symbols by SOURCE, whose mappings are copied: they may go. No
 * memory: there are no names.
 */
void mu_naming_open(
    struct mu_answer *answer, const struct mu_symbols_source *source);

/* Accepts an answer without names. */
void mu_naming_close(struct mu_answer *answer);

/* For mu_symbols_source.read: of the process whose pid CTX points to. */
bool mu_naming_read_process(
    void *ctx, uintptr_t address, void *buffer, size_t size);

#endif
