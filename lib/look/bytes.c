#include "lib/look/bytes.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define BYTES_ROOM ((size_t)1 << 17)

/* 6 times as fast as the default level, and 1.1 times as large. */
#define LEVEL 1

/* A reader needs so much memory: 8 MiB. */
#define WINDOW_LOG 23

static void
fail(struct mu_bytes_out *out, int error)
{
	if (out->error == 0)
		out->error = error;
}

static void
write_all(struct mu_bytes_out *out, const void *bytes, size_t size)
{
	const char *at = bytes;
	ssize_t n;

	while (size > 0 && out->error == 0) {
		n = write(out->fd, at, size);
		if (n > 0) {
			at += n;
			size -= (size_t)n;
		} else if (n == 0 || errno != EINTR) {
			fail(out, n == 0 ? EIO : errno);
		}
	}
}

static void
pack(struct mu_bytes_out *out, ZSTD_EndDirective directive)
{
	ZSTD_inBuffer in = { out->plain, out->used, 0 };
	ZSTD_outBuffer to;
	size_t left;

	do {
		to = (ZSTD_outBuffer) { out->packed, BYTES_ROOM, 0 };
		left = ZSTD_compressStream2(out->zstd, &to, &in, directive);
		if (ZSTD_isError(left))
			fail(out, ENOMEM);
		else
			write_all(out, out->packed, to.pos);
	} while (out->error == 0 &&
	    (directive == ZSTD_e_end ? left > 0 : in.pos < in.size));
	out->used = 0;
}

void
mu_bytes_out_open(struct mu_bytes_out *out, int fd, bool look)
{
	unsigned char version[MU_NUMBER_MOST];

	*out = (struct mu_bytes_out) { .fd = fd };
	out->zstd = ZSTD_createCCtx();
	out->plain = malloc(BYTES_ROOM);
	out->packed = malloc(BYTES_ROOM);
	if (out->zstd == NULL || out->plain == NULL || out->packed == NULL ||
	    ZSTD_isError(ZSTD_CCtx_setParameter(
		out->zstd, ZSTD_c_compressionLevel, LEVEL)) ||
	    ZSTD_isError(
		ZSTD_CCtx_setParameter(out->zstd, ZSTD_c_checksumFlag, 1)))
		fail(out, ENOMEM);
	else if (ftruncate(fd, 0) != 0 || lseek(fd, 0, SEEK_SET) != 0)
		fail(out, errno);
	if (!look)
		return;
	write_all(out, MU_LOOK_MAGIC, sizeof(MU_LOOK_MAGIC));
	write_all(out, version, mu_number_write(version, MU_LOOK_VERSION));
}

void
mu_put_bytes(struct mu_bytes_out *out, const void *bytes, size_t size)
{
	const char *at = bytes;
	size_t part;

	for (; size > 0 && out->error == 0; at += part, size -= part) {
		if (out->used == BYTES_ROOM)
			pack(out, ZSTD_e_continue);
		part = BYTES_ROOM - out->used;
		if (part > size)
			part = size;
		memcpy(out->plain + out->used, at, part);
		out->used += part;
	}
}

void
mu_put_number(struct mu_bytes_out *out, uint64_t number)
{
	unsigned char bytes[MU_NUMBER_MOST];

	mu_put_bytes(out, bytes, mu_number_write(bytes, number));
}

void
mu_put_signed(struct mu_bytes_out *out, int64_t number)
{
	mu_put_number(out, mu_zigzag(number));
}

void
mu_put_string(struct mu_bytes_out *out, const char *text)
{
	size_t length = strlen(text);

	mu_put_number(out, length);
	mu_put_bytes(out, text, length);
}

bool
mu_bytes_out_end(struct mu_bytes_out *out)
{
	if (out->error == 0)
		pack(out, ZSTD_e_end);
	return out->error == 0;
}

void
mu_bytes_out_close(struct mu_bytes_out *out)
{
	ZSTD_freeCCtx(out->zstd);
	free(out->plain);
	free(out->packed);
	*out = (struct mu_bytes_out) { .fd = -1 };
}

bool
mu_bytes_in_open(
    struct mu_bytes_in *in, const void *bytes, size_t size, uint64_t *version)
{
	size_t at = sizeof(MU_LOOK_MAGIC);

	*in = (struct mu_bytes_in) { .bytes = bytes, .size = size };
	if (size <= at || memcmp(bytes, MU_LOOK_MAGIC, at) != 0)
		return false;
	*version = in->bytes[at];
	in->at = at + 1;
	in->zstd = ZSTD_createDCtx();
	in->plain = malloc(BYTES_ROOM);
	in->bad = in->zstd == NULL || in->plain == NULL ||
	    ZSTD_isError(ZSTD_DCtx_setParameter(
		in->zstd, ZSTD_d_windowLogMax, WINDOW_LOG));
	return true;
}

/* Unpack more, when nothing is left. */
static void
unpack(struct mu_bytes_in *in)
{
	ZSTD_inBuffer from = { in->bytes, in->size, in->at };
	ZSTD_outBuffer to = { in->plain, BYTES_ROOM, 0 };
	size_t left;

	in->begin = in->end = 0;
	while (to.pos == 0 && !in->bad && !in->ended) {
		left = ZSTD_decompressStream(in->zstd, &to, &from);
		in->bad = ZSTD_isError(left) ||
		    (left > 0 && to.pos == 0 && from.pos == from.size);
		in->ended = !in->bad && left == 0;
	}
	in->at = from.pos;
	in->end = to.pos;
}

static bool
have(struct mu_bytes_in *in)
{
	if (in->begin == in->end && !in->bad && !in->ended)
		unpack(in);
	if (in->begin == in->end)
		in->bad = true;
	return !in->bad;
}

uint64_t
mu_get_number(struct mu_bytes_in *in)
{
	uint64_t number = 0, byte;
	unsigned shift;

	for (shift = 0; have(in); shift += 7) {
		byte = in->plain[in->begin++];
		if (shift == 63 && byte > 1)
			break;
		number |= (byte & 0x7f) << shift;
		if (byte < 0x80)
			return number;
	}
	in->bad = true;
	return 0;
}

int64_t
mu_get_signed(struct mu_bytes_in *in)
{
	return mu_unzigzag(mu_get_number(in));
}

uint64_t
mu_get_most(struct mu_bytes_in *in, uint64_t most)
{
	uint64_t number = mu_get_number(in);

	if (number <= most)
		return number;
	in->bad = true;
	return 0;
}

void
mu_get_bytes(struct mu_bytes_in *in, void *bytes, size_t size)
{
	char *to = bytes;
	size_t part;

	for (; size > 0 && have(in); to += part, size -= part) {
		part = in->end - in->begin;
		if (part > size)
			part = size;
		memcpy(to, in->plain + in->begin, part);
		in->begin += part;
	}
	memset(to, 0, size);
}

bool
mu_bytes_in_ends(struct mu_bytes_in *in)
{
	if (in->begin == in->end && !in->bad && !in->ended)
		unpack(in);
	return !in->bad && in->begin == in->end && in->ended &&
	    in->at == in->size;
}

void
mu_bytes_in_close(struct mu_bytes_in *in)
{
	ZSTD_freeDCtx(in->zstd);
	free(in->plain);
	*in = (struct mu_bytes_in) { .bytes = NULL };
}
