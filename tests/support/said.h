/* Capture the output on stderr, however it is written. */
#ifndef TESTS_SUPPORT_SAID_H
#define TESTS_SUPPORT_SAID_H

#include <check.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

struct said {
	int file, real;
	char text[8192];
};

static inline void
said_begin(struct said *said)
{
	said->file = memfd_create("said", MFD_CLOEXEC);
	said->real = dup(2);
	ck_assert_int_ge(said->file, 0);
	ck_assert_int_eq(dup2(said->file, 2), 2);
}

/* The text so far; stderr is the old one again. */
static inline const char *
said_end(struct said *said)
{
	ssize_t n;

	ck_assert_int_eq(dup2(said->real, 2), 2);
	n = pread(said->file, said->text, sizeof(said->text) - 1, 0);
	said->text[n < 0 ? 0 : n] = '\0';
	close(said->file);
	close(said->real);
	return said->text;
}

#endif
