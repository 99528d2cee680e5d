/*
 * The records of a report, by time.
 */
#ifndef LIB_MALLOC_DEBUG_LEAKTRACER_ROWS_H
#define LIB_MALLOC_DEBUG_LEAKTRACER_ROWS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct leaktracer_row {
	uint64_t time_ns;
	uint64_t size;
	uintptr_t begin; /* 0: the block is freed, LATE has its contents */
	uint32_t stack;  /* of struct mu_stack */
	uint32_t late;
};

struct leaktracer_rows {
	struct leaktracer_row *rows; /* mapped; NULL = none */
	size_t count, room;
	bool missing; /* no memory for more */
	bool held;    /* data of freed blocks is held */
};

struct leaktracer_reach;

/* REACH: only unreachable blocks; NULL: all. */
void leaktracer_rows_find(
    struct leaktracer_rows *rows, const struct leaktracer_reach *reach);

/* Accepts rows that are zero or free. */
void leaktracer_rows_free(struct leaktracer_rows *rows);

#endif
