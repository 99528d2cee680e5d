/*
 * In a separate file, so that code that reads the state does not link code that
 * runs at the start and the end of a program.
 */
#include "lib/state/library.h"

struct mu_library mu_library = {
	.options = MU_OPTIONS_DEFAULT,
};
