/* The part of lib/term/out.h that only the command uses. */
#include "lib/term/out.h"

static void
put_file(void *ctx, const char *bytes, size_t length)
{
	fwrite(bytes, 1, length, ctx);
}

struct mu_out
mu_out_file(FILE *file)
{
	return (struct mu_out) { .put = put_file, .ctx = file };
}

void
mu_print_safe(FILE *file, const char *text)
{
	struct mu_out out = mu_out_file(file);

	mu_put_safe(&out, text);
}
