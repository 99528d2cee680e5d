#include "lib/view/file_text.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "lib/term/safe_text.h"

#define PIECE ((size_t)64 << 10)
#define PIECES ((size_t)1 << 20) /* that are given away at once */
#define PIPE_MAX                                                    \
	((size_t)4 << 30) /* a file says how long it is, a pipe not \
			   */

static enum mu_status
refuse(const char *path, const char *words, struct mu_why *why)
{
	return mu_why(why, MU_ERR_ARGUMENT, "cannot read %s: %s",
	    mu_safe_argument(path).text, words);
}

/* Make room for one more read; a regular file needs no more than its size. */
static bool
make_room(struct mu_file_text *text, size_t *room)
{
	size_t wanted = text->length + PIECE;
	char *grown;

	if (*room - text->length > 1)
		return true;
	if (wanted < 2 * text->length)
		wanted = 2 * text->length;
	if (wanted > PIPE_MAX && *room < PIPE_MAX)
		wanted = PIPE_MAX;
	grown = wanted > PIPE_MAX ? NULL : realloc(text->text, wanted);
	if (grown == NULL)
		return false;
	text->text = grown;
	*room = wanted;
	return true;
}

/* Like read(2). Room is for at least one byte and the terminator. */
static ssize_t
read_more(struct mu_file_text *text, int fd, size_t room)
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

static enum mu_status
read_all(
    struct mu_file_text *text, int fd, const char *path, struct mu_why *why)
{
	size_t room;
	struct stat st;
	ssize_t got;

	if (fstat(fd, &st) != 0)
		return refuse(path, strerror(errno), why);
	/* One byte for the terminator, and one to see that nothing follows. */
	room = S_ISREG(st.st_mode) ? (size_t)st.st_size + 2 : PIECE;
	text->text = malloc(room);
	if (text->text == NULL)
		return refuse(path, "no memory for it", why);
	do {
		if (!make_room(text, &room))
			return refuse(path, "no memory for it", why);
		got = read_more(text, fd, room);
		if (got < 0)
			return refuse(path, strerror(errno), why);
	} while (got != 0);
	text->text[text->length] = '\0';
	return MU_OK;
}

enum mu_status
mu_file_text_read(
    struct mu_file_text *text, const char *path, struct mu_why *why)
{
	enum mu_status status;
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY);

	*text = (struct mu_file_text) { 0 };
	if (fd < 0)
		return refuse(path, strerror(errno), why);
	status = read_all(text, fd, path, why);
	close(fd);
	return status;
}

/* Pass on full buffers only, so that a long line is not parsed repeatedly. */
static enum mu_status
read_pieces(struct mu_file_text *text, int fd, const char *path,
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
	struct mu_file_text text = { 0 };
	enum mu_status status;
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY);

	if (fd < 0)
		return refuse(path, strerror(errno), why);
	status = read_pieces(&text, fd, path, take, ctx, why);
	mu_file_text_release(&text);
	close(fd);
	return status;
}

void
mu_file_text_release(struct mu_file_text *text)
{
	free(text->text);
	*text = (struct mu_file_text) { 0 };
}
