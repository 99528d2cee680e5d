/*
 * The pages that a copy of a process shares with it, as a list of parts without
 * duplicates.
 *
 * Runs in: keeper.
 */
#ifndef LIB_HELPERS_SHARED_PARTS_H
#define LIB_HELPERS_SHARED_PARTS_H

#include "lib/helpers/shared_pages.h"

/* Call once. Returns false if memory is exhausted. */
bool mu_shared_parts_open(struct mu_shared_pages *pages);

/*
 * True if this page of a file was found before; remembers it. If there is no
 * room to remember it, it is left out.
 */
bool mu_shared_page_known(struct mu_shared_pages *pages,
    const struct mu_mapping *mapping, uintptr_t address);

/*
 * The first address of RANGE, part of MAPPING, from which on not all pages are
 * known; it may be a few pages before it.
 */
uintptr_t mu_shared_pages_after_known(struct mu_shared_pages *pages,
    const struct mu_mapping *mapping, struct mu_range range);

/* True if the copy does not have the mapping at ADDRESS. */
bool mu_shared_page_missing(
    const struct mu_shared_pages *pages, uintptr_t address);

/* Forget all pages. */
void mu_shared_pages_forget(struct mu_shared_pages *pages);

/* BYTES and LIVE are as in struct mu_remote_part. */
void mu_shared_parts_add(struct mu_shared_pages *pages, struct mu_range range,
    const char *bytes, bool live);

#endif
