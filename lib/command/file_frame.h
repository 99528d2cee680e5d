/*
 * A frame by its file, as logs of the library and of other machines have it.
 */
#ifndef LIB_COMMAND_FILE_FRAME_H
#define LIB_COMMAND_FILE_FRAME_H

#include "lib/symbolize/helper.h"
#include "lib/writers/frame_line.h"

/*
 * Write OFFSET in the file PATH with function, file and line, and the callers
 * that the frame was put into. False: nothing is known of it, and nothing was
 * written.
 */
bool mu_file_frame(FILE *out, struct mu_symbol_helper *helper,
    struct mu_frame_prefix prefix, size_t number, const char *path,
    uintptr_t offset);

#endif
