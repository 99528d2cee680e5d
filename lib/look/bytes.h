/*
 * The bytes of a saved look (memunreachable-look(5)): numbers of variable
 * length in a zstd stream.
 *
 * Runs in: the command.
 */
#ifndef LIB_LOOK_BYTES_H
#define LIB_LOOK_BYTES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <zstd.h>

#define MU_LOOK_MAGIC "MuLook\n" /* 8 bytes, with the NUL */
#define MU_LOOK_VERSION 2u
#define MU_LOOK_NO_SCRIPTS 1u /* the version without these */

#define MU_NUMBER_MOST 10 /* bytes of one number */

struct mu_bytes_out {
	int fd;
	ZSTD_CCtx *zstd;
	unsigned char *plain, *packed; /* of BYTES_ROOM */
	size_t used;                   /* of PLAIN */
	int error; /* errno of what failed first; 0: nothing */
};

/*
 * Begin a stream at the start of FD, which is emptied; LOOK: with the magic and
 * the version of a saved look before it. Close in any case.
 */
void mu_bytes_out_open(struct mu_bytes_out *out, int fd, bool look);

/* After an error nothing is written. */
void mu_put_bytes(struct mu_bytes_out *out, const void *bytes, size_t size);
void mu_put_number(struct mu_bytes_out *out, uint64_t number);
void mu_put_signed(struct mu_bytes_out *out, int64_t number);
void mu_put_string(struct mu_bytes_out *out, const char *text);

/* Write what is left. Returns false after an error. */
bool mu_bytes_out_end(struct mu_bytes_out *out);
void mu_bytes_out_close(struct mu_bytes_out *out);

/* Write NUMBER at TO, which has MU_NUMBER_MOST bytes; returns how many. */
static inline size_t
mu_number_write(unsigned char *to, uint64_t number)
{
	size_t length = 0;

	for (; number >= 0x80; number >>= 7)
		to[length++] = (unsigned char)(number | 0x80);
	to[length++] = (unsigned char)number;
	return length;
}

/* Small if NUMBER is near zero. */
static inline uint64_t
mu_zigzag(int64_t number)
{
	return (uint64_t)number << 1 ^ (uint64_t)(number >> 63);
}

/* The number that mu_zigzag() has made small. */
static inline int64_t
mu_unzigzag(uint64_t number)
{
	return (int64_t)(number >> 1 ^ -(number & 1));
}

struct mu_bytes_in {
	const unsigned char *bytes; /* the whole file */
	size_t size, at;
	ZSTD_DCtx *zstd;
	unsigned char *plain;
	size_t begin, end; /* what is left of PLAIN */
	bool ended;        /* the stream has */
	bool bad;          /* damaged, or too short */
};

/*
 * Read the SIZE BYTES of a file, which must stay there. Returns false if it is
 * no saved look; *VERSION is that of one. Close in any case.
 */
bool mu_bytes_in_open(
    struct mu_bytes_in *in, const void *bytes, size_t size, uint64_t *version);

/* 0, and IN->bad, if there is none. */
uint64_t mu_get_number(struct mu_bytes_in *in);
int64_t mu_get_signed(struct mu_bytes_in *in);

/* A number that is at most MOST; otherwise 0, and IN->bad. */
uint64_t mu_get_most(struct mu_bytes_in *in, uint64_t most);

/* SIZE bytes. */
void mu_get_bytes(struct mu_bytes_in *in, void *bytes, size_t size);

/* True if nothing follows, and the stream's checksum is right. */
bool mu_bytes_in_ends(struct mu_bytes_in *in);
void mu_bytes_in_close(struct mu_bytes_in *in);

#endif
