/* Capture stderr at the level of its descriptor. */
#ifndef TESTS_SUPPORT_CAPTURED_STDERR_H
#define TESTS_SUPPORT_CAPTURED_STDERR_H

#include <check.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

struct captured_stderr {
	int file, real;
	char text[8192];
};

void captured_stderr_begin(struct captured_stderr *captured);

/* The text so far; stderr is the old one again. */
const char *captured_stderr_end(struct captured_stderr *captured);

#endif
