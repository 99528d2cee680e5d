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
 */
#ifndef SYMBOLIZE_SYMBOL_WIRE_H
#define SYMBOLIZE_SYMBOL_WIRE_H

#include <limits.h>
#include <stdint.h>

#include "lib/symbolize/symbols.h"
#include "mu/arena.h"

struct mu_wire_question {
	uint64_t address;
	uint32_t path_length; /* below PATH_MAX; 0: an address of the subject */
	uint16_t call;        /* inlined functions are wanted, too */
	uint16_t detail;      /* the module's detail is wanted */
};

enum mu_wire_kind { MU_WIRE_STRING = 1, MU_WIRE_SYMBOL };

struct mu_wire_head {
	uint32_t kind, length; /* bytes that follow */
};

#define MU_WIRE_STRING_MAX ((uint32_t)32 << 10) /* bytes */
#define MU_WIRE_STRINGS_MAX ((uint32_t)1 << 22) /* from one writer */
#define MU_WIRE_INLINED_MAX ((uint32_t)64)      /* for one symbol */

struct mu_wire_symbol {
	uint64_t offset;
	uint32_t module; /* 0: the address is in no file */
	uint32_t build_id, function, file, line;
	uint32_t detail; /* enum mu_symbols_detail */
	uint32_t num_inlined;
	uint32_t reserved;
};

struct mu_wire_inlined {
	uint32_t function, file, line;
};

/* Initialise to zero, except the descriptor. Uses malloc. */
struct mu_wire_writer {
	int fd;
	bool failed; /* no reader or no memory: nothing more is sent */
	char *buffer;
	size_t used;
	struct mu_wire_sent *sent; /* strings that have numbers */
	uint32_t num_strings;
};

void mu_wire_write(struct mu_wire_writer *writer,
    const struct mu_symbol *symbol, enum mu_symbols_detail detail);
void mu_wire_flush(struct mu_wire_writer *writer);
void mu_wire_writer_close(struct mu_wire_writer *writer);

/* Initialise to zero, except the arena, which holds strings and arrays. */
struct mu_wire_reader {
	struct mu_arena *arena;
	const char **strings; /* by number minus 1; from malloc */
	size_t num_strings, max_strings;
};

enum mu_wire_read {
	MU_WIRE_MORE, /* the bytes end within a record */
	MU_WIRE_READ, /* one symbol */
	MU_WIRE_BAD,  /* invalid, or no memory */
};

/*
 * Take one symbol, with the strings before it, from LENGTH BYTES; *USED is how
 * many are consumed.
 */
enum mu_wire_read mu_wire_read(struct mu_wire_reader *reader, const char *bytes,
    size_t length, size_t *used, struct mu_symbol *symbol,
    enum mu_symbols_detail *detail);

/* Strings stay in the arena, but lose their numbers. */
void mu_wire_reader_reset(struct mu_wire_reader *reader);

#endif
