/* Notes on an answer: sentences without duplicates. */
#ifndef LIB_VIEW_NOTES_H
#define LIB_VIEW_NOTES_H

#include <stddef.h>
#include <stdio.h>

#define MU_NOTES_MAX 16 /* more are only counted */

/* Zero at first. */
struct mu_notes {
	char *lines[MU_NOTES_MAX]; /* safe for a terminal */
	size_t count, num_more;
};

/*
 * Add a note; a copy that is safe for a terminal is kept. After MU_NOTES_MAX
 * notes, or without memory, they are only counted.
 */
void mu_notes_add(struct mu_notes *notes, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* Print each note on a line. */
void mu_notes_text(FILE *out, const struct mu_notes *notes);

/* Accepts one that is zero. */
void mu_notes_release(struct mu_notes *notes);

#endif
