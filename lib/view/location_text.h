/*
 * A frame as text: "make(int) at foo.cc:42 (libfoo.so)", as far as it is known.
 *
 * Pure.
 */
#ifndef LIB_VIEW_LOCATION_TEXT_H
#define LIB_VIEW_LOCATION_TEXT_H

#include "lib/view/locations.h"

#define MU_LOCATION_TEXT_SIZE 1280

/* Safe for a terminal; very long names are cut. */
struct mu_location_text {
	char text[MU_LOCATION_TEXT_SIZE];
};

/*
 * The text, by value: without a file only the function, without a function only
 * the module.
 */
struct mu_location_text mu_location_text(const struct mu_location *location);

/*
 * "foo.cc:42 make(int) (libfoo.so)", in addr2line's form, with "??:0" if
 * unknown.
 */
struct mu_location_text mu_location_text_line(
    const struct mu_location *location);

#endif
