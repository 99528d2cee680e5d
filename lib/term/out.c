#include "lib/term/out.h"

#include <string.h>

#include "lib/term/safe_text.h"

#define SAFE_SIZE 4096 /* C++ names can be longer, and are cut */

static void
put_text(void *ctx, const char *bytes, size_t length)
{
	struct mu_text *text = ctx;
	size_t room = text->length < text->size ? text->size - text->length : 0;

	if (room > 0) {
		room = length < room ? length : room - 1;
		memcpy(text->buffer + text->length, bytes, room);
		text->buffer[text->length + room] = '\0';
	}
	text->length += length;
}

struct mu_out
mu_out_text(struct mu_text *text)
{
	return (struct mu_out) { .put = put_text, .ctx = text };
}

void
mu_put(const struct mu_out *out, const char *format, ...)
{
	char piece[MU_OUT_PIECE];
	size_t length;
	va_list args;

	va_start(args, format);
	length = mu_text_vformat(piece, sizeof(piece), format, args);
	va_end(args);
	out->put(out->ctx, piece,
	    length < sizeof(piece) ? length : sizeof(piece) - 1);
}

static void
put_string(const struct mu_out *out, const char *text)
{
	out->put(out->ctx, text, strlen(text));
}

void
mu_put_safe(const struct mu_out *out, const char *text)
{
	char buffer[SAFE_SIZE];

	if (text != NULL)
		put_string(
		    out, mu_safe_for_terminal(text, buffer, sizeof(buffer)));
}
