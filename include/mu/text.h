/*
 * Text without stdio: a bounded formatter that neither allocates nor locks.
 *
 * Understands %s %c %d %i %u %x %X %p %% with flags 0 and -, a width, a
 * precision for %s, and the lengths l, z, j and hh. Nothing else.
 *
 * Runs in: any.
 */
#ifndef MU_TEXT_H
#define MU_TEXT_H

#include <stdarg.h>
#include <stddef.h>

/*
 * As snprintf(): always terminates when SIZE > 0 and returns the length that
 * the whole text would have had, so the caller sees a cut.
 */
size_t mu_text_format(char *buffer, size_t size, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
size_t mu_text_vformat(char *buffer, size_t size, const char *format,
    va_list args) __attribute__((format(printf, 3, 0)));

/*
 * Text that is built up piece by piece. LENGTH counts all text, also what did
 * not fit into the buffer: a first run with size 0 measures.
 */
struct mu_text {
	char *buffer;
	size_t size, length;
};

/* Append to TEXT, as mu_text_format() does; what does not fit is cut. */
void mu_text_add(struct mu_text *text, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

#endif
