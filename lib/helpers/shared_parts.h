/*
 * What the pages that a copy of a process shares with it become: a list of
 * parts, in which a page of a file that is mapped twice is once.
 *
 * Runs in: keeper.
 */
#ifndef LIB_HELPERS_SHARED_PARTS_H
#define LIB_HELPERS_SHARED_PARTS_H

#include "lib/helpers/shared_pages.h"

/* Once. False: no memory. */
bool mu_shared_parts_open(struct mu_shared_pages *pages);

/*
 * Has this page of a file been found before? From now on, it has. Where there
 * is no room to remember it, it is left out.
 */
bool mu_shared_page_known(struct mu_shared_pages *pages,
    const struct mu_mapping *mapping, uintptr_t address);

/* Does the copy not have what is mapped at ADDRESS? */
bool mu_shared_page_missing(
    const struct mu_shared_pages *pages, uintptr_t address);

/* No page has been found before. */
void mu_shared_pages_forget(struct mu_shared_pages *pages);

/* BYTES and LIVE: as in struct mu_remote_part. */
void mu_shared_parts_add(struct mu_shared_pages *pages, struct mu_range range,
    const char *bytes, bool live);

#endif
