/*
 * What a saved look consists of, one after the other. After the first that is
 * not as it must be, all are 0, empty or NULL, and MU_READING_ROOM ends a
 * table.
 */
#ifndef LIB_LOOK_READING_H
#define LIB_LOOK_READING_H

#include "lib/look/bytes.h"
#include "lib/look/read.h"
#include "lib/look/sections.h"

struct mu_look_reading {
	struct mu_look_file *look;
	struct mu_bytes_in in;
	uint64_t version; /* of the file */
	bool no_memory;
};

/* True after the first wrong byte, or without memory. */
static inline bool
mu_reading_failed(const struct mu_look_reading *reading)
{
	return reading->in.bad || reading->no_memory;
}

/* The file is damaged unless RIGHT. */
static inline void
mu_reading_require(struct mu_look_reading *reading, bool right)
{
	reading->in.bad |= !right;
}

/* COUNT objects of SIZE bytes; NULL: there is no memory. */
void *mu_reading_make(
    struct mu_look_reading *reading, size_t count, size_t size);

/* A table that grows with what is read: a count alone takes no memory. */
#define MU_READING_ROOM(reading, items, count, max)                           \
	(!mu_reading_failed(reading) &&                                       \
	    (mu_arena_room(&(reading)->look->arena, items, count, max, 64) || \
		((reading)->no_memory = true, false)))

/* The next number. */
static inline uint64_t
mu_read_number(struct mu_look_reading *reading)
{
	return mu_get_number(&reading->in);
}

/* One that is at most LIMIT. */
static inline uint64_t
mu_read_most(struct mu_look_reading *reading, uint64_t limit)
{
	return mu_get_most(&reading->in, limit);
}

/* 0 or 1. */
static inline bool
mu_read_flag(struct mu_look_reading *reading)
{
	return mu_read_most(reading, 1) == 1;
}

/* The number of the section WANTED. */
static inline void
mu_read_section(struct mu_look_reading *reading, enum mu_look_section wanted)
{
	mu_reading_require(reading, mu_read_number(reading) == wanted);
}

/* Not empty. */
struct mu_range mu_read_range(struct mu_look_reading *reading);
struct mu_range mu_read_range_or_none(struct mu_look_reading *reading);

/* A string in the look's memory; "" if it is bad. */
const char *mu_read_string(struct mu_look_reading *reading);

/* A string of less than SIZE bytes. */
void mu_read_string_into(
    struct mu_look_reading *reading, char *text, size_t size);

/* lib/look/read_snapshot.c: sections of the snapshot, in this order. */
void mu_look_read_subject(struct mu_look_reading *reading);
void mu_look_read_mappings(struct mu_look_reading *reading);
void mu_look_read_threads(struct mu_look_reading *reading);
void mu_look_read_roots(struct mu_look_reading *reading);

/* lib/look/read_recorded.c: what a recorder and the helper knew. */
void mu_look_read_stacks(struct mu_look_reading *reading);
void mu_look_read_names(struct mu_look_reading *reading);

#endif
