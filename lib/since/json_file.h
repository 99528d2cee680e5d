/* A file with JSON. Runs in: the command. */
#ifndef LIB_SINCE_JSON_FILE_H
#define LIB_SINCE_JSON_FILE_H

#include <jansson.h>

#include "mu/status.h"

/* The object in FILE, for json_decref(); NULL with WHY: there is none. */
json_t *mu_json_file_read(const char *file, struct mu_why *why);

#endif
