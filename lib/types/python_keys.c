#include "lib/types/python_keys.h"

#include <string.h>

#include "lib/types/block_size.h"
#include "lib/types/declared.h"

#define WORD sizeof(uintptr_t)
#define LOG_MIN 3
#define LOG_MAX 40

enum kind { GENERAL, TEXTS, SHARED }; /* DictKeysKind */

/* Since 3.11. */
struct head {
	uint64_t uses;
	uint8_t log_size, log_bytes; /* of the index before the entries */
	uint8_t kind, unused;
	uint32_t version;
	uint64_t usable, count; /* entries */
};

/* Until 3.10. */
struct old_head {
	uint64_t uses, size, lookup, usable, count;
};

static bool
read_head(const struct head *head, struct mu_python_keys *keys)
{
	uint64_t entries;

	if (head->kind > SHARED || head->log_size < LOG_MIN ||
	    head->log_size > LOG_MAX || head->log_bytes < head->log_size ||
	    head->log_bytes > head->log_size + LOG_MIN)
		return false;
	entries = ((uint64_t)1 << head->log_size) * 2 / 3;
	/* Objects have less room for values than their class has for keys. */
	if (head->count > entries || head->usable > entries - head->count ||
	    (head->kind != SHARED && head->usable != entries - head->count))
		return false;
	*keys = (struct mu_python_keys) {
		.uses = head->uses,
		.shared = head->kind == SHARED,
		.first = sizeof(*head) + ((size_t)1 << head->log_bytes),
		.stride = head->kind == GENERAL ? 3 * WORD : 2 * WORD,
		.key = head->kind == GENERAL ? WORD : 0,
		.count = head->count,
	};
	keys->bytes = keys->first + entries * keys->stride;
	return true;
}

/* Indices have 1, 2, 4 or 8 bytes each, as the size of the table needs. */
static bool
read_old_head(const struct old_head *head, struct mu_python_keys *keys)
{
	uint64_t entries = head->size * 2 / 3, index = 1;

	if (head->size < (uint64_t)1 << LOG_MIN ||
	    head->size > (uint64_t)1 << LOG_MAX ||
	    (head->size & (head->size - 1)) != 0 || head->lookup == 0 ||
	    head->count > entries || head->usable != entries - head->count)
		return false;
	while (index < WORD && head->size >> (8 * index) != 0)
		index *= 2;
	*keys = (struct mu_python_keys) {
		.uses = head->uses,
		.first = sizeof(*head) + (size_t)(head->size * index),
		.stride = 3 * WORD,
		.key = WORD,
		.count = head->count,
	};
	keys->bytes = keys->first + entries * keys->stride;
	return true;
}

bool
mu_python_keys_head(const void *view, struct mu_python_keys *keys)
{
	struct old_head old;
	struct head head;

	memcpy(&head, view, sizeof(head));
	memcpy(&old, view, sizeof(old));
	return read_head(&head, keys) || read_old_head(&old, keys);
}

bool
mu_python_keys_read(const void *view, size_t size, struct mu_python_keys *keys)
{
	return size >= MU_PYTHON_KEYS_HEAD && mu_python_keys_head(view, keys) &&
	    mu_block_fits(keys->bytes, size);
}
