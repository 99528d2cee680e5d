#include "heapwalk/heaps/glibc/banner.h"

#include <string.h>

#include "heapwalk/heaps/glibc/libc.h"
#include "heapwalk/subject/classify.h"

#define BANNER_MAX 256             /* bytes from the start to the release */
#define TEXT_MAX ((size_t)8 << 20) /* of one mapping; libc's: 2 MiB */
#define PIECE ((size_t)64 << 10)   /* that is read at a time */

/* Two pieces, so that a search of our own data does not find the string. */
static const char name[] = "GNU C Library";
static const char file_name[] = "libc-";
static const char words[] = "release version ";

/* The first NEEDLE in TEXT, or NULL. */
static const char *
find(const char *text, size_t size, const char *needle)
{
	size_t length = strlen(needle);
	const char *at, *end = text + size;

	for (at = text; (size_t)(end - at) >= length; at++) {
		at = memchr(at, needle[0], (size_t)(end - at) - length + 1);
		if (at == NULL)
			return NULL;
		if (memcmp(at, needle, length) == 0)
			return at;
	}
	return NULL;
}

static const char *
number(const char *at, const char *end, unsigned *value)
{
	*value = 0;
	for (; at < end && *at >= '0' && *at <= '9' && *value < 10000; at++)
		*value = *value * 10 + (unsigned)(*at - '0');
	return at;
}

/* Parse "2.36" at AT; text follows, so that END cuts no number. */
static bool
parse_release(const char *at, const char *end, unsigned *major, unsigned *minor)
{
	const char *dot = number(at, end, major), *last;

	if (dot == at || dot == end || *dot != '.')
		return false;
	last = number(dot + 1, end, minor);
	return last > dot + 1 && last < end;
}

bool
mu_glibc_banner_parse(
    const char *text, size_t size, unsigned *major, unsigned *minor)
{
	const char *end = text + size, *at = text, *release;
	size_t left;

	while ((at = find(at, (size_t)(end - at), name)) != NULL) {
		left = (size_t)(end - at);
		release =
		    find(at, left < BANNER_MAX ? left : BANNER_MAX, words);
		if (release != NULL &&
		    parse_release(release + strlen(words), end, major, minor))
			return true;
		at += strlen(name);
	}
	return false;
}

/* Up to 2.33 the file is libc-2.xx.so, and libc.so.6 is a link to it. */
static bool
by_name(const char *base, unsigned *major, unsigned *minor)
{
	size_t length = strlen(file_name);

	return mu_starts_with(base, file_name) &&
	    parse_release(base + length, base + strlen(base), major, minor);
}

static bool
find_in(const struct mu_snapshot *snap, const struct mu_mapping *mapping,
    unsigned *major, unsigned *minor)
{
	uintptr_t at = mapping->range.begin, end = mapping->range.end;
	const char *text;
	size_t size;

	if (!mapping->readable || mapping->writable || end - at > TEXT_MAX ||
	    !mu_libc_is_named(mapping))
		return false;
	if (by_name(mu_path_base(mapping->name), major, minor))
		return true;
	for (; at < end; at += PIECE) {
		size = end - at < PIECE + 2 * BANNER_MAX
		    ? end - at
		    : PIECE + 2 * BANNER_MAX;
		text = mu_snapshot_view(snap, at, size);
		if (text != NULL &&
		    mu_glibc_banner_parse(text, size, major, minor))
			return true;
		if (end - at <= PIECE)
			break;
	}
	return false;
}

/*
 * Since 2018 linkers separate read-only data from code, and from the symbols at
 * the beginning of the file. Code, three quarters of the file, comes last.
 */
enum part { DATA, SYMBOLS, CODE, PARTS };

static enum part
part_of(const struct mu_mapping *mapping)
{
	if (mapping->executable)
		return CODE;
	return mapping->offset == 0 ? SYMBOLS : DATA;
}

bool
mu_glibc_banner_find(
    const struct mu_snapshot *snap, unsigned *major, unsigned *minor)
{
	const struct mu_mapping *mapping;
	enum part part;
	size_t i;

	for (part = DATA; part < PARTS; part++)
		for (i = 0; i < snap->num_mappings; i++) {
			mapping = &snap->mappings[i];
			if (part_of(mapping) == part &&
			    find_in(snap, mapping, major, minor))
				return true;
		}
	return false;
}
