#include "tests/support/captured_stderr.h"

void
captured_stderr_begin(struct captured_stderr *captured)
{
	captured->file = memfd_create("said", MFD_CLOEXEC);
	captured->real = dup(2);
	ck_assert_int_ge(captured->file, 0);
	ck_assert_int_eq(dup2(captured->file, 2), 2);
}

const char *
captured_stderr_end(struct captured_stderr *captured)
{
	ssize_t n;

	ck_assert_int_eq(dup2(captured->real, 2), 2);
	n = pread(
	    captured->file, captured->text, sizeof(captured->text) - 1, 0);
	captured->text[n < 0 ? 0 : n] = '\0';
	close(captured->file);
	close(captured->real);
	return captured->text;
}
