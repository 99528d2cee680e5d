/* The keys of maps and sets as text. */
#ifndef LIB_EXPLAIN_KEY_TEXT_H
#define LIB_EXPLAIN_KEY_TEXT_H

#include "heapwalk/subject/snapshot.h"
#include "lib/types/declared.h"

/*
 * Write the key of the node of DECLARED at ADDRESS to the SIZE bytes at TEXT:
 * "7", "\"alice\"", "{port = 80, host = \"a\"}"; a part that is not known is
 * "?". "": it is not known, or it is too long.
 */
void mu_key_text(const struct mu_snapshot *snap,
    const struct mu_declared *declared, uintptr_t address, char *text,
    size_t size);

#endif
