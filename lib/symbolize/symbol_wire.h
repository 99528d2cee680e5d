/*
 * Questions and answers about names, as two processes exchange them over a
 * socket.
 *
 * A question is a mu_wire_question and the path behind it. The answers come in
 * the order of the questions: each is a mu_wire_head and so many bytes, for a
 * symbol a mu_wire_symbol and its mu_wire_inlined. Strings are sent once, in
 * front of the symbol that needs them first, and have numbers from 1 on; 0 is
 * none. The reader takes the bytes for hostile: the process that wrote them has
 * parsed files of a stranger.
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
	uint16_t detail;      /* the detail of its module is wanted */
};

enum mu_wire_kind { MU_WIRE_STRING = 1, MU_WIRE_SYMBOL };

struct mu_wire_head {
	uint32_t kind, length; /* bytes behind it */
};

#define MU_WIRE_STRING_MAX ((uint32_t)32 << 10) /* bytes */
#define MU_WIRE_STRINGS_MAX ((uint32_t)1 << 22) /* of one writer */
#define MU_WIRE_INLINED_MAX ((uint32_t)64)      /* of one symbol */

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

/* Zero but for the descriptor at first. Uses malloc. */
struct mu_wire_writer {
	int fd;
	bool failed; /* there is no reader, or no memory: nothing more goes */
	char *buffer;
	size_t used;
	struct mu_wire_sent *sent; /* strings that have numbers */
	uint32_t num_strings;
};

void mu_wire_write(struct mu_wire_writer *writer,
    const struct mu_symbol *symbol, enum mu_symbols_detail detail);
void mu_wire_flush(struct mu_wire_writer *writer);
void mu_wire_writer_close(struct mu_wire_writer *writer);

/* Zero but for the arena at first; strings and arrays live in that. */
struct mu_wire_reader {
	struct mu_arena *arena;
	const char **strings; /* by number less 1; malloc's */
	size_t num_strings, max_strings;
};

enum mu_wire_read {
	MU_WIRE_MORE, /* what there is ends within a record */
	MU_WIRE_READ, /* one symbol */
	MU_WIRE_BAD,  /* it makes no sense, or there is no memory */
};

/*
 * Take one symbol and the strings in front of it off LENGTH BYTES; *USED is how
 * many of them are done with.
 */
enum mu_wire_read mu_wire_read(struct mu_wire_reader *reader, const char *bytes,
    size_t length, size_t *used, struct mu_symbol *symbol,
    enum mu_symbols_detail *detail);

/* Strings stay in the arena, and lose their numbers. */
void mu_wire_reader_reset(struct mu_wire_reader *reader);

#endif
