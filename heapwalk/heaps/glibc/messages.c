#include "heapwalk/heaps/glibc/messages.h"

#include <string.h>

#include "heapwalk/subject/classify.h"

#define MODULE_REACH 8 /* mappings of one module lie that close together */
#define MESSAGES_MAX ((size_t)64 << 20) /* of one mapping; more is not read */

/*
 * Text before and after a word that a group of messages shares. In pieces, so
 * that our own data does not contain the message. (Names end without a colon.)
 */
struct message {
	const char *before, *behind;
	const char *name;
};

/*
 * jemalloc: "<jemalloc>: " begins each message (src/malloc_io.c); mimalloc
 * prints "mimalloc: " (src/options.c); both kinds of tcmalloc have a property
 * "tcmalloc.max_total_thread_cache_bytes"; gperftools' build for debugging,
 * whose blocks are inside of tcmalloc's, reports a "Massive size passed to
 * malloc: ".
 */
static const char malloc_word[] = "malloc";
static const struct message malloc_messages[] = {
	{ "<je", ">", "jemalloc" },
	{ "Massive size passed to ", ": ", "tcmalloc's debugallocation" },
	{ "tc", ".max_total", "tcmalloc" },
	{ "mi", ": ", "mimalloc" },
};

/*
 * This is no evidence if malloc is another function: CPython includes mimalloc
 * since 3.13, and uses it only on request (PYTHONMALLOC=mimalloc).
 */
#define ALWAYS 3

/*
 * The order matters: the runtime of AddressSanitizer also has the words of
 * LeakSanitizer.
 */
static const char sanitizer_word[] = "Sanitizer";
static const struct message sanitizer_messages[] = {
	{ "HWAddress", ": ", "HWAddressSanitizer" },
	{ " Address", ": ", "AddressSanitizer" },
	{ "Thread", ": ", "ThreadSanitizer" },
	{ "Memory", ": ", "MemorySanitizer" },
	{ "Leak", ": ", "LeakSanitizer" },
};

/*
 * The word to search for; two of its bytes are compared in many positions at
 * once.
 */
struct needle {
	const char *word;
	size_t length;
};

#define LANES 16
#define AT_ONCE (4 * LANES)
typedef unsigned char lanes __attribute__((vector_size(LANES)));
typedef uint64_t halves __attribute__((vector_size(LANES)));

/*
 * Positions in the first LANES bytes of TEXT at which the word may begin.
 * LENGTH more bytes follow.
 */
static inline halves
beginnings(const struct needle *needle, const char *text)
{
	lanes first, last;

	memcpy(&first, text, sizeof(first));
	memcpy(&last, text + needle->length - 1, sizeof(last));
	return (halves)((first == (unsigned char)needle->word[0]) &
	    (last == (unsigned char)needle->word[needle->length - 1]));
}

static inline bool
is_any(halves both)
{
	return (both[0] | both[1]) != 0;
}

/*
 * The first LANES bytes from AT on in which the word may begin; or a position
 * near the end.
 */
static size_t
candidates(
    const struct needle *needle, const char *text, size_t at, size_t size)
{
	const char *p;

	for (; size - at >= needle->length + AT_ONCE; at += AT_ONCE) {
		p = text + at;
		if (is_any(beginnings(needle, p) |
			beginnings(needle, p + LANES) |
			beginnings(needle, p + 2 * LANES) |
			beginnings(needle, p + 3 * LANES)))
			break;
	}
	while (size - at >= needle->length + LANES &&
	    !is_any(beginnings(needle, text + at)))
		at += LANES;
	return at;
}

/*
 * The offset of the word in TEXT, from AT on; SIZE if there is none. 0.04 ns
 * per byte, by LANES at a time 0.09 (2 cores Xeon, kernel 6.18).
 */
static size_t
needle_next(
    const struct needle *needle, const char *text, size_t at, size_t size)
{
	size_t stop;

	while (at < size && size - at >= needle->length) {
		at = candidates(needle, text, at, size);
		stop = size - at >= needle->length + LANES
		    ? at + LANES
		    : size - needle->length + 1;
		for (; at < stop; at++)
			if (memcmp(text + at, needle->word, needle->length) ==
			    0)
				return at;
	}
	return size;
}

static bool
stands_at(const struct message *message, const char *text, size_t at,
    size_t size, size_t length)
{
	size_t before = strlen(message->before);
	size_t behind = strlen(message->behind);

	return at >= before &&
	    memcmp(text + at - before, message->before, before) == 0 &&
	    size - at - length >= behind &&
	    memcmp(text + at + length, message->behind, behind) == 0;
}

/* The first of the MESSAGES that are anywhere in TEXT. */
static const char *
find_first(const char *text, size_t size, const char *word,
    const struct message *messages, size_t count)
{
	struct needle needle = { word, strlen(word) };
	const char *name = NULL;
	size_t at, i;

	for (at = needle_next(&needle, text, 0, size); at < size && count > 0;
	     at = needle_next(&needle, text, at + 1, size)) {
		for (i = 0; i < count; i++)
			if (stands_at(
				&messages[i], text, at, size, needle.length)) {
				name = messages[i].name;
				count = i;
			}
	}
	return name;
}

/* True for a mapping of a program or library, not of a font or a locale. */
static bool
is_of_module(const struct mu_snapshot *snap, const struct mu_mapping *mapping)
{
	size_t index = (size_t)(mapping - snap->mappings), i;
	size_t from = index > MODULE_REACH ? index - MODULE_REACH : 0;

	for (i = from; i < snap->num_mappings && i <= index + MODULE_REACH;
	     i++) {
		if (snap->mappings[i].executable &&
		    mu_mapping_same_file(&snap->mappings[i], mapping))
			return true;
	}
	return false;
}

const char *
mu_glibc_message_find(const struct mu_snapshot *snap,
    const struct mu_mapping *mapping, bool instead)
{
	size_t size = mu_range_size(mapping->range);
	const char *name, *text;

	/* Since 2018 linkers separate read-only data from code. */
	if (mapping->inode == 0 || !mapping->readable || mapping->writable ||
	    mapping->executable || mapping->shared || size > MESSAGES_MAX ||
	    !is_of_module(snap, mapping))
		return NULL;
	text = mu_snapshot_view(snap, mapping->range.begin, size);
	if (text == NULL)
		return NULL;
	name = find_first(text, size, malloc_word, malloc_messages,
	    instead ? sizeof(malloc_messages) / sizeof(*malloc_messages)
		    : ALWAYS);
	if (instead && name == NULL)
		name = find_first(text, size, sanitizer_word,
		    sanitizer_messages,
		    sizeof(sanitizer_messages) / sizeof(*sanitizer_messages));
	return name;
}

bool
mu_glibc_message_is(const struct mu_snapshot *snap,
    const struct mu_mapping *file, const char *name)
{
	const struct mu_mapping *mapping = snap->mappings;
	const struct mu_mapping *end = mapping + snap->num_mappings;
	const char *found = NULL;

	for (; found == NULL && mapping < end; mapping++)
		if (mu_mapping_same_file(mapping, file))
			found = mu_glibc_message_find(snap, mapping, true);
	return found != NULL && strcmp(found, name) == 0;
}
