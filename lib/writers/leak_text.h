/*
 * One entry of the text report: the library's words, with names for what
 * points into modules.
 */
#ifndef LIB_WRITERS_LEAK_TEXT_H
#define LIB_WRITERS_LEAK_TEXT_H

#include <stdio.h>

#include "lib/term/names.h"
#include "lib/term/style.h"

/*
 * Without CONTENTS no byte of the heap is shown, but the name of the first
 * word that points into a module is: it tells what the block was.
 */
void mu_leak_text(FILE *out, const struct Leak *leak, bool contents,
    const struct mu_names *names, const struct mu_style *style);

#endif
