/* Pack entries into one buffer. */
#ifndef TESTS_SUPPORT_GRAPH_PACKED_BYTES_H
#define TESTS_SUPPORT_GRAPH_PACKED_BYTES_H

#include <stdlib.h>
#include <string.h>

#include "heapwalk/fold/packed.h"

/* free() it. */
unsigned char *packed_bytes(const struct mu_packed *packed);

#endif
