/*
 * Values of the JSON report: counts, addresses, names. NULL always means "no
 * memory" and is passed on.
 *
 * Runs in: command.
 */
#ifndef LIB_WRITERS_JSON_VALUES_H
#define LIB_WRITERS_JSON_VALUES_H

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>

#include "lib/term/out.h"

/*
 * Add VALUE to OBJECT, which takes it over; false if either is NULL or memory
 * is exhausted.
 */
bool mu_json_set(json_t *object, const char *key, json_t *value);

/* Returns VALUE if OK; otherwise releases VALUE and returns NULL. */
json_t *mu_json_done(json_t *value, bool ok);

/*
 * json_int_t has 63 bits for the value, enough for any amount of memory or
 * time.
 */
json_t *mu_json_count(uint64_t count);

/* "0x7f1c2a5af000" */
json_t *mu_json_address(uintptr_t address);

/* TEXT of the subject: each byte of invalid UTF-8 becomes U+FFFD. */
json_t *mu_json_text(const char *text);

/* The same; null if NAME is NULL or empty. */
json_t *mu_json_name(const char *name);

/*
 * Write VALUE in ASCII, and release it; false if it is NULL or memory is
 * exhausted. FLAGS are those of json_dumps().
 */
bool mu_json_put(const struct mu_out *out, json_t *value, size_t flags);

#endif
