/*
 * The lines of a report.
 *
 * Pure. Runs in: any.
 */
#ifndef LIB_MALLOC_DEBUG_LEAKTRACER_LINES_H
#define LIB_MALLOC_DEBUG_LEAKTRACER_LINES_H

#include <stddef.h>
#include <stdint.h>

/* Room for the longest: 256 frames of "0x", 16 digits and a blank. */
#define LEAKTRACER_LINE 6144

struct leaktracer_line {
	uint64_t time_ns;
	unsigned width; /* digits of the seconds, at least */
	uint64_t size;
	const uint64_t *frames; /* inside the calls, innermost first */
	size_t num_frames;
	const unsigned char *data;
	size_t num_data;
};

/* Each line ends with a newline and a NUL; returns its length. */
size_t leaktracer_line(
    char *line, size_t size, const struct leaktracer_line *record);
size_t leaktracer_first_line(
    char *line, size_t size, uint64_t real_ns, uint64_t monotonic_ns);

/* Digits of the seconds of NS. */
unsigned leaktracer_width(uint64_t ns);

#endif
