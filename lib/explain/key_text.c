#include "lib/explain/key_text.h"

#include <bsd/string.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "heapwalk/subject/saved.h"

#define SHOWN ((size_t)48) /* characters of a text */
#define PART_SIZE (SHOWN + 8)

/* Writes nothing if the SIZE bytes at ADDRESS are not all there. */
static void
quote(const struct mu_snapshot *snap, uintptr_t address, size_t size,
    bool terminated, char *text)
{
	size_t i, length = 0;
	const char *byte;

	text[length++] = '"';
	for (i = 0; i < size && i < SHOWN; i++) {
		byte = mu_snapshot_view(snap, address + i, 1);
		if (byte == NULL) {
			text[0] = '\0';
			return;
		}
		if (terminated && *byte == '\0')
			break;
		text[length++] = *byte == '\0' ? '?' : *byte;
	}
	snprintf(text + length, PART_SIZE - length, "%s",
	    i == SHOWN && i < size ? "..." : "\"");
}

/* The SIZE characters to which the word at ADDRESS points. */
static void
quote_at(const struct mu_snapshot *snap, uintptr_t address, size_t size,
    bool terminated, char *text)
{
	uintptr_t at;

	if (mu_snapshot_word(snap, address, &at))
		quote(snap, at, size, terminated, text);
}

/* A string of libc++: the lowest bit of the first byte tells a long one. */
static void
quote_short(const struct mu_snapshot *snap, uintptr_t address, char *text)
{
	const unsigned char *first = mu_snapshot_view(snap, address, 1);
	uintptr_t size;

	if (first == NULL)
		return;
	if ((*first & 1) == 0)
		quote(snap, address + 1, *first >> 1, false, text);
	else if (mu_snapshot_word(snap, address + sizeof(size), &size))
		quote_at(snap, address + 2 * sizeof(size), size, false, text);
}

static void
write_number(const struct mu_snapshot *snap, uintptr_t address, size_t size,
    bool is_signed, char *text)
{
	const void *view = mu_snapshot_view(snap, address, size);
	const unsigned unused = 64 - 8 * (unsigned)size;
	uint64_t value = 0;

	if (view == NULL || size == 0 || size > sizeof(value))
		return;
	/* Both CPUs have the lowest byte first. */
	memcpy(&value, view, size);
	if (is_signed)
		snprintf(text, PART_SIZE, "%lld",
		    (long long)((int64_t)(value << unused) >> unused));
	else
		snprintf(text, PART_SIZE, "%llu", (unsigned long long)value);
}

/* With as few digits as tell VALUE from all others. */
static void
write_shortest(double value, bool small, char *text)
{
	const int digits = small ? 6 : 15, all = small ? 9 : 17;

	snprintf(text, PART_SIZE, "%.*g", digits, value);
	if (small ? strtof(text, NULL) != (float)value
		  : strtod(text, NULL) != value)
		snprintf(text, PART_SIZE, "%.*g", all, value);
}

static void
write_float(
    const struct mu_snapshot *snap, uintptr_t address, size_t size, char *text)
{
	const void *view = mu_snapshot_view(snap, address, size);
	double value;
	float small;

	if (view == NULL)
		return;
	if (size == sizeof(small)) {
		memcpy(&small, view, sizeof(small));
		write_shortest((double)small, true, text);
	} else if (size == sizeof(value)) {
		memcpy(&value, view, sizeof(value));
		write_shortest(value, false, text);
	}
}

/* Write KEY of the node at NODE; "": it is not known. */
static void
write_part(const struct mu_snapshot *snap, const struct mu_declared_key *key,
    uintptr_t node, char *text)
{
	const uintptr_t at = node + key->at;
	uintptr_t size;

	text[0] = '\0';
	switch (key->kind) {
	case MU_KEY_SIGNED:
	case MU_KEY_UNSIGNED:
		write_number(
		    snap, at, key->size, key->kind == MU_KEY_SIGNED, text);
		break;
	case MU_KEY_FLOAT:
		write_float(snap, at, key->size, text);
		break;
	case MU_KEY_CHARACTERS:
		quote(snap, at, key->size, true, text);
		break;
	case MU_KEY_TEXT:
		quote_at(snap, at, SIZE_MAX, true, text);
		break;
	case MU_KEY_STRING:
		if (mu_snapshot_word(snap, at + sizeof(at), &size))
			quote_at(snap, at, size, false, text);
		break;
	case MU_KEY_VIEW:
		if (mu_snapshot_word(snap, at, &size))
			quote_at(snap, at + sizeof(at), size, false, text);
		break;
	case MU_KEY_SHORT_STRING:
		quote_short(snap, at, text);
		break;
	default:
		break;
	}
}

/* A part of a structure: "port = 80"; false: there is no room. */
static bool
append(char *text, size_t size, const char *before, const char *name,
    const char *part)
{
	const size_t length = strlen(text);
	const bool named = name != NULL && name[0] != '\0';
	int more = snprintf(text + length, size - length, "%s%s%s%s", before,
	    named ? name : "", named ? " = " : "",
	    part[0] == '\0' ? "?" : part);

	return more >= 0 && (size_t)more < size - length;
}

void
mu_key_text(const struct mu_snapshot *snap, const struct mu_declared *declared,
    uintptr_t address, char *text, size_t size)
{
	const struct mu_declared_key *key = declared->keys;
	char part[PART_SIZE];
	bool fits = true, known = false;
	size_t i;

	text[0] = '\0';
	if (mu_snapshot_lacks_numbers(snap) || declared->num_keys == 0)
		return;
	for (i = 0; i < declared->num_keys && fits; i++, key++) {
		write_part(snap, key, address, part);
		known |= part[0] != '\0';
		if (declared->parted)
			fits = append(
			    text, size, i == 0 ? "{" : ", ", key->name, part);
		else
			snprintf(text, size, "%s", part);
	}
	if (declared->parted)
		fits &= strlcat(text, "}", size) < size;
	if (!known || !fits)
		text[0] = '\0';
}
