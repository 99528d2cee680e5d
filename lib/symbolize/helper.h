/*
 * Names are found by a separate process, the helper.
 *
 * The files with the names are untrusted: they may crash or occupy their
 * reader, or lie on a file system that does not answer. The helper has the
 * rights of the subject's owner, limits, and a deadline; names that it does not
 * find by then are missing. It is forked from the caller, so it has the source
 * and all that this reads from.
 *
 * One thread at a time.
 *
 * Runs in: the command, and the helper that it forks.
 */
#ifndef SYMBOLIZE_HELPER_H
#define SYMBOLIZE_HELPER_H

#include "lib/symbolize/cache.h"
#include "lib/symbolize/confinement.h"
#include "lib/symbolize/symbol_wire.h"
#include "lib/symbolize/symbols.h"

#define MU_BLAMED_MAX 16

struct mu_symbol_question {
	const char *path; /* file in which ADDRESS is an offset, as addr2line
			     takes it; NULL: an address of the source */
	uintptr_t address;
	const struct mu_typed_block *block; /* at ADDRESS, whose type is wanted;
					       NULL: none */
	enum mu_declared_question declared; /* about ADDRESS, or an id */
	bool call;   /* inlined functions are wanted, too */
	bool detail; /* return the detail of its module */
	bool rules;  /* return those of a frame at ADDRESS */
};

/* All zero: not known. Strings belong to the helper, until its close. */
struct mu_symbol_answer {
	struct mu_symbol symbol; /* without a module: in no file */
	struct mu_type type;
	struct mu_frame_rules rules;
	const struct mu_declared *declared; /* NULL: nothing is known */
	enum mu_symbols_detail detail;
	bool given; /* the helper has answered */
};

/* A question at which a helper died. */
struct mu_blamed {
	char *path;
	uintptr_t address;
	enum mu_symbols_limit limit; /* for its module in the next helper */
};

struct mu_symbol_helper {
	/* Set by the caller, and used until the close. */
	const struct mu_symbols_source *source; /* NULL: all have paths */
	const char
	    *folder; /* look for files with paths below it first; NULL: none */
	struct mu_rights rights;

	/*
	 * Finds the type of a block, in the helper; *STATE is NULL at first.
	 * Strings are used before the next call. NULL: types are not known.
	 */
	bool (*find_type)(void **state, struct mu_symbols *symbols,
	    const struct mu_typed_block *block, struct mu_type *type);

	/* The same for what debug information declares. */
	const struct mu_declared *(*find_declared)(void **state,
	    struct mu_symbols *symbols, enum mu_declared_question question,
	    uint64_t address);

	/* The first error as text; "": none. */
	char why[160];

	/* Zero at first. */
	pid_t pid; /* 0: none is running */
	int fd;
	struct mu_helper_page *page; /* shared with the helper */
	struct mu_cache cache;       /* of our user, for a subject of ours */
	uint64_t asked;              /* of this one, before this time */
	unsigned starts;
	struct mu_arena arena; /* for the answers */
	struct mu_wire_reader reader;
	struct mu_blamed blamed[MU_BLAMED_MAX];
	size_t num_blamed;
};

/*
 * Answer COUNT QUESTIONS in ANSWERS, which is zeroed, until DEADLINE_NS.
 * Returns false if some have no or only a partial answer; helper->why says why.
 * The process stays for further questions. Without a source, strings are valid
 * until the next call only.
 */
bool mu_symbol_helper_ask(struct mu_symbol_helper *helper,
    const struct mu_symbol_question *questions,
    struct mu_symbol_answer *answers, size_t count, uint64_t deadline_ns);

/* End the process; if that fails it is left behind. Accepts a zeroed HELPER. */
void mu_symbol_helper_close(struct mu_symbol_helper *helper);

/* The process, and the page shared with its parent: lib/symbolize/helper_*.c */
struct mu_helper_page {
	uint64_t begun; /* questions begun since the start */
	struct mu_patience patience;
};

/* Returns false if there is no process. */
bool mu_helper_start(struct mu_symbol_helper *helper);
void mu_helper_stop(struct mu_symbol_helper *helper);

/*
 * Kill a child. One that waits in the kernel for a file system ends when that
 * responds, or never: after 0.1 s it is left to init.
 */
void mu_helper_kill(pid_t pid);

#endif
