/*
 * The table of a dictionary of CPython, which has its keys, and its values
 * unless these are an object's own (PyDictKeysObject in
 * Include/internal/pycore_dict.h, until 3.10 in Objects/dict-common.h).
 */
#ifndef LIB_TYPES_PYTHON_KEYS_H
#define LIB_TYPES_PYTHON_KEYS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define MU_PYTHON_KEYS_HEAD 40 /* bytes before the entries, or their index */

struct mu_python_keys {
	uint64_t uses; /* 0: it is kept for the next dictionary */
	bool shared;   /* without values; not known until 3.10 */
	size_t first;  /* bytes to the entries */
	size_t stride; /* from one to the next */
	size_t key; /* bytes to the key in an entry; its value is behind it */
	size_t count;
	uint64_t bytes; /* of the table */
};

/*
 * Read the MU_PYTHON_KEYS_HEAD bytes at VIEW with which a table begins. Returns
 * false unless all numbers agree with each other. Pure.
 */
bool mu_python_keys_head(const void *view, struct mu_python_keys *keys);

/*
 * Read the table in a block with SIZE usable bytes at VIEW. Returns false
 * unless all of its numbers agree with each other and with SIZE. Pure.
 */
bool mu_python_keys_read(
    const void *view, size_t size, struct mu_python_keys *keys);

#endif
