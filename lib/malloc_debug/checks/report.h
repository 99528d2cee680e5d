/*
 * Lines on stderr that belong together: collected and written at once.
 *
 * Needs no malloc. Use inside the recorder only, since names of frames are
 * looked up in the loader.
 */
#ifndef LIB_MALLOC_DEBUG_CHECKS_REPORT_H
#define LIB_MALLOC_DEBUG_CHECKS_REPORT_H

#include <stddef.h>
#include <stdint.h>

struct report_name;

struct report {
	char *text;
	size_t used, size;
	struct report_name *names; /* of frames; NULL = no memory for them */
	char line[512];            /* used when no more memory is available */
	char program[256];         /* its path; "" = not read yet */
};

/* Begin a report of several lines; call report_end() after the last one. */
void report_begin(struct report *report);

/* Write "malloc_debug: ", the line and a newline. */
void report_line(struct report *report, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* One line for each: "  #00  pc 0000000000001234  /path (symbol+12)". */
void report_frames(struct report *report, const uint64_t *frames, size_t count);

/* Write TITLE and the frames of a stack in the depot, if it has any. */
void report_stack(struct report *report, const char *title, uint32_t stack);

/* Write what is still collected, and release the memory. */
void report_end(struct report *report);

#endif
