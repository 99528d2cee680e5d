/*
 * Name a frame that is given by file and offset, as in logs of the library and
 * of other machines.
 */
#ifndef LIB_COMMAND_FILE_FRAME_H
#define LIB_COMMAND_FILE_FRAME_H

#include "lib/symbolize/helper.h"
#include "lib/writers/frame_line.h"

/*
 * Write OFFSET in the file PATH with function, file and line, and the callers
 * into which it was inlined. Returns false, with nothing written, if nothing is
 * known.
 */
bool mu_file_frame(FILE *out, struct mu_symbol_helper *helper,
    struct mu_frame_prefix prefix, size_t number, const char *path,
    uintptr_t offset);

#endif
