/*
 * A frame in words: "make(int) at foo.cc:42 (libfoo.so)", or as much of it as
 * is known.
 *
 * Pure.
 */
#ifndef LIB_VIEW_LOCATION_TEXT_H
#define LIB_VIEW_LOCATION_TEXT_H

#include "lib/view/locations.h"

#define MU_LOCATION_TEXT_SIZE 1280

/* Fit for a terminal; names are cut where they are very long. */
struct mu_location_text {
	char words[MU_LOCATION_TEXT_SIZE];
};

struct mu_location_text mu_location_text(const struct mu_location *location);

/* "foo.cc:42 make(int) (libfoo.so)": as addr2line has it, "??:0" if so. */
struct mu_location_text mu_location_text_line(
    const struct mu_location *location);

#endif
