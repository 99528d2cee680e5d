#include "lib/view/file_text.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "lib/term/safe_text.h"

#define PIECES ((size_t)1 << 20)  /* that are given away at once */
#define LONGEST ((size_t)4 << 30) /* line */

struct text {
	char *text; /* room for a byte after LENGTH */
	size_t length;
};

static enum mu_status
refuse(const char *path, const char *words, struct mu_why *why)
{
	return mu_why(why, MU_ERR_ARGUMENT, "cannot read %s: %s",
	    mu_safe_argument(path).text, words);
}

/* Make room for more of a line. */
static bool
make_room(struct text *text, size_t *room)
{
	char *grown;

	if (*room - text->length > 1)
		return true;
	grown = *room >= LONGEST ? NULL : realloc(text->text, 2 * *room);
	if (grown == NULL)
		return false;
	text->text = grown;
	*room *= 2;
	return true;
}

/* Like read(2). Room is for at least one byte and the terminator. */
static ssize_t
read_more(struct text *text, int fd, size_t room)
{
	ssize_t got;

	do {
		got = read(
		    fd, text->text + text->length, room - 1 - text->length);
	} while (got < 0 && errno == EINTR);
	if (got > 0)
		text->length += (size_t)got;
	return got;
}

/* Pass on full buffers only, so that a long line is not parsed repeatedly. */
static enum mu_status
read_pieces(struct text *text, int fd, const char *path,
    size_t (*take)(void *ctx, char *text, size_t length, bool ended), void *ctx,
    struct mu_why *why)
{
	size_t room = PIECES, taken;
	ssize_t got;

	text->text = malloc(room);
	if (text->text == NULL)
		return refuse(path, "no memory for it", why);
	do {
		if (!make_room(text, &room))
			return refuse(path, "no memory for it", why);
		do {
			got = read_more(text, fd, room);
		} while (got > 0 && text->length < room - 1);
		if (got < 0)
			return refuse(path, strerror(errno), why);
		taken = take(ctx, text->text, text->length, got == 0);
		text->length -= taken;
		memmove(text->text, text->text + taken, text->length);
	} while (got != 0);
	return MU_OK;
}

enum mu_status
mu_file_pieces_read(const char *path,
    size_t (*take)(void *ctx, char *text, size_t length, bool ended), void *ctx,
    struct mu_why *why)
{
	struct text text = { 0 };
	enum mu_status status;
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY);

	if (fd < 0)
		return refuse(path, strerror(errno), why);
	status = read_pieces(&text, fd, path, take, ctx, why);
	free(text.text);
	close(fd);
	return status;
}
