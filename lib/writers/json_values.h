/*
 * Values of the JSON report: counts, addresses, names, the heap's figures.
 * NULL is "no memory" everywhere, and is passed on.
 */
#ifndef LIB_WRITERS_JSON_VALUES_H
#define LIB_WRITERS_JSON_VALUES_H

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>

#include "heapwalk/heaps/usage.h"

json_t *mu_json_count(uint64_t count);
json_t *mu_json_address(uintptr_t address); /* "0x7f0012345670" */
json_t *mu_json_text(const char *text);     /* of any bytes */
json_t *mu_json_name(const char *name);     /* NULL and "" become null */

/* null if nothing is known. */
json_t *mu_json_heap(const struct mu_heap_usage *usage);

/* Give VALUE to OBJECT; false if either is NULL, or no memory is left. */
bool mu_json_set(json_t *object, const char *key, json_t *value);

/* VALUE if OK; otherwise NULL, and VALUE is released. */
json_t *mu_json_done(json_t *value, bool ok);

#endif
