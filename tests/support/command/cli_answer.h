/* A made-up answer that contains everything, and names for its addresses. */
#ifndef TESTS_SUPPORT_COMMAND_CLI_ANSWER_H
#define TESTS_SUPPORT_COMMAND_CLI_ANSWER_H

#include <string.h>

#include "lib/term/names.h"
#include "lib/writers/report.h"
#define CLI_NAMELESS 0x7f0000009000 /* in a module, but no symbol */

/* The context is not looked at. */
bool cli_find(void *ctx, uintptr_t address, struct mu_symbol *symbol);

/* A certain type, a text, and a probable type, for the three entries. */
bool cli_find_type(void *ctx, uintptr_t begin, struct mu_type *type);

extern const struct mu_names cli_names; /* without types */

void cli_put_word(struct Leak *leak, size_t index, uintptr_t word);

/* LEAKS: room for 3; ARENAS: for 2. */
struct mu_report cli_answer(struct Leak *leaks, struct mu_arena_usage *arenas);

#endif
