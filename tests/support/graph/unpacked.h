/* Packed entries as an array. */
#ifndef TESTS_SUPPORT_GRAPH_UNPACKED_H
#define TESTS_SUPPORT_GRAPH_UNPACKED_H

#include <check.h>
#include <stdlib.h>

#include "tests/support/graph/packed_bytes.h"

/* free() it; frames behind the first 16 are lost, but their number is not. */
struct mu_leak *unpack(const struct mu_packed *packed);
struct mu_lost_group *unpack_groups(const struct mu_packed *packed);

#endif
