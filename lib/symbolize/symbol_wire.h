/*
 * The format of questions and answers about names between two processes, over a
 * socket.
 *
 * A question is a mu_wire_question followed by the path. Answers come in the
 * order of the questions: each is a mu_wire_head and its bytes; for a symbol
 * these are a mu_wire_symbol and its mu_wire_inlined. Strings are sent once,
 * before the symbol that needs them first, and are numbered from 1; 0 means
 * none. The reader treats all bytes as hostile: the writer has parsed untrusted
 * files.
 *
 * Runs in: the command and its helper.
 */
#ifndef SYMBOLIZE_SYMBOL_WIRE_H
#define SYMBOLIZE_SYMBOL_WIRE_H

#include <limits.h>
#include <stdint.h>

#include "lib/symbolize/frame_rules.h"
#include "lib/symbolize/symbols.h"
#include "lib/types/declared.h"
#include "lib/types/type.h"
#include "mu/arena.h"

struct mu_wire_question {
	uint64_t address;
	uint32_t path_length; /* below PATH_MAX; 0: an address of the subject */
	uint16_t call;        /* inlined functions are wanted, too */
	uint16_t detail;      /* the module's detail is wanted */
	uint64_t size;        /* of a block whose type is wanted; 0: none */
	uint32_t num_head;    /* bytes in HEAD, at most its size */
	uint32_t rules;       /* those of a frame there are wanted, too */
	unsigned char head[32]; /* of the block */
	uint16_t declared;      /* enum mu_declared_question */
	uint16_t wants_id;      /* of the block's type */
	uint32_t reserved;
	uint64_t held_at; /* a word that leads to the block */
};

enum mu_wire_kind { MU_WIRE_STRING = 1, MU_WIRE_SYMBOL };

struct mu_wire_head {
	uint32_t kind, length; /* bytes that follow */
};

#define MU_WIRE_STRING_MAX ((uint32_t)32 << 10) /* bytes of one record */
#define MU_WIRE_STRINGS_MAX ((uint32_t)1 << 22) /* from one writer */
#define MU_WIRE_INLINED_MAX ((uint32_t)64)      /* for one symbol */

struct mu_wire_symbol {
	uint64_t offset, begin, end;
	uint32_t module; /* 0: the address is in no file */
	uint32_t build_id, function, file, line;
	uint32_t detail; /* enum mu_symbols_detail */
	uint32_t num_inlined;
	uint32_t type, type_text, type_site;
	uint32_t type_counter; /* enum mu_type_counter */
	uint16_t type_source, type_certain;
	uint32_t declared; /* 1: a mu_wire_declared follows the inlined */
	uint64_t type_offset, type_id;
	struct mu_frame_rules rules;
};

/* What is declared, before its fields: see struct mu_declared. */
struct mu_wire_declared {
	uint64_t id, size;
	uint32_t name, num_fields;
	uint32_t count_at, count_of;
	uint32_t flags; /* MU_WIRE_COMPLETE and so on */
	uint32_t num_keys;
};

enum {
	MU_WIRE_COMPLETE = 1,
	MU_WIRE_EXTENDED = 2,
	MU_WIRE_VIRTUAL = 4,
	MU_WIRE_FLEXIBLE = 8,
	MU_WIRE_SCALAR = 16,
	MU_WIRE_NODE_BASE = 32,
	MU_WIRE_COUNTED = 64,
	MU_WIRE_COUNT_ENDS = 128,
	MU_WIRE_LETTERS = 256,
	MU_WIRE_PARTED = 512,
};

/* A part of a key; they are behind the fields. */
struct mu_wire_key {
	uint32_t kind, at, size, name;
};

struct mu_wire_field {
	uint64_t type;
	int64_t offset;
	uint32_t name, count, stride;
	uint16_t from, flags; /* MU_WIRE_ONE_OF and so on */
	uint32_t queue_at, queue;
};

enum {
	MU_WIRE_ONE_OF = 1,
	MU_WIRE_PIECES = 2,
	MU_WIRE_REFERENCE = 4,
};

struct mu_wire_inlined {
	uint32_t function, file, line;
};

/*
 * Initialise to zero, except the descriptor. Uses malloc; what it allocates
 * stays until mu_wire_close(), or until the process, which does nothing else,
 * ends.
 */
struct mu_wire_writer {
	int fd;      /* -1: all bytes stay in BUFFER */
	bool failed; /* no reader or no memory: nothing more is sent */
	char *buffer;
	size_t used, room;         /* bytes of it */
	size_t record;             /* where the last symbol begins in it */
	struct mu_wire_sent *sent; /* strings that have numbers */
	uint32_t num_strings;
};

/* What is known of an address, or of the block there. */
struct mu_wire_answer {
	struct mu_symbol symbol;
	enum mu_symbols_detail detail;
	struct mu_type type;
	struct mu_frame_rules rules;
	const struct mu_declared *declared; /* NULL: nothing */
};

/*
 * Queue ANSWER; mu_wire_flush() writes all that is queued. A write error ends
 * the stream: the reader sees its end.
 */
void mu_wire_write(
    struct mu_wire_writer *writer, const struct mu_wire_answer *answer);
void mu_wire_flush(struct mu_wire_writer *writer);

/* Free what it has, without a flush. */
void mu_wire_close(struct mu_wire_writer *writer);

/* Initialise to zero, except the arena, which holds strings and arrays. */
struct mu_wire_reader {
	struct mu_arena *arena;
	const char **strings; /* by number minus 1; from malloc */
	size_t num_strings, max_strings;
};

enum mu_wire_read {
	MU_WIRE_MORE, /* the bytes end within a record */
	MU_WIRE_READ, /* one answer */
	MU_WIRE_BAD,  /* invalid, or no memory */
};

/*
 * Take one answer, with the strings before it, from LENGTH BYTES; *USED is how
 * many are consumed.
 */
enum mu_wire_read mu_wire_read(struct mu_wire_reader *reader, const char *bytes,
    size_t length, size_t *used, struct mu_wire_answer *answer);

/* Strings stay in the arena, but lose their numbers. */
void mu_wire_reader_reset(struct mu_wire_reader *reader);

#endif
