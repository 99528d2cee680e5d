/*
 * All state of the library between passes: see library.h.
 *
 * A file of its own, so that what reads the state does not link what runs by
 * itself at the start and the end of a program.
 */
#include "lib/library.h"

struct mu_library mu_library = {
	.options = MU_OPTIONS_DEFAULT,
};
