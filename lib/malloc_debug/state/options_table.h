/*
 * The options by name.
 *
 * Runs in: the original, before main().
 */
#ifndef LIB_MALLOC_DEBUG_STATE_OPTIONS_TABLE_H
#define LIB_MALLOC_DEBUG_STATE_OPTIONS_TABLE_H

#include <stdbool.h>
#include <stddef.h>

#include "lib/malloc_debug/state/options.h"

/*
 * The options read so far. The last of several values wins; otherwise the order
 * does not matter.
 */
struct options_draft {
	struct debug_options options;
	size_t exact_size; /* backtrace_size, or 0 */
	bool has_free_frames;
	const char *default_prefix, *default_file;
};

enum option_kind {
	OPTION_PLAIN,    /* takes no value */
	OPTION_NUMBER,   /* has a default */
	OPTION_REQUIRED, /* a number that must be there */
	OPTION_TEXT,     /* bare: the default */
};

struct option_row {
	const char *name;
	const char *alias; /* or NULL */
	enum option_kind kind;
	size_t bare, least, most; /* of numbers, inclusive */
	void (*number)(struct options_draft *draft, size_t value);
	void (*text)(struct options_draft *draft, const char *value); /* NULL:
									 bare */
};

/* The row of the name of LENGTH bytes at NAME, or NULL. */
const struct option_row *options_table_find(const char *name, size_t length);

#endif
