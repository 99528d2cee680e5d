/* The entries of a check's answer as an array. */
#ifndef TESTS_SUPPORT_GRAPH_ANSWER_ARRAY_H
#define TESTS_SUPPORT_GRAPH_ANSWER_ARRAY_H

#include <check.h>
#include <stdlib.h>

#include "lib/writers/report.h"

/* answer->info.leaks is to be freed. */
void answer_array(struct mu_report *answer);

#endif
