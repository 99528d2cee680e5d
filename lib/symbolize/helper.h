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
 */
#ifndef SYMBOLIZE_HELPER_H
#define SYMBOLIZE_HELPER_H

#include "lib/symbolize/confinement.h"
#include "lib/symbolize/symbol_wire.h"
#include "lib/symbolize/symbols.h"

#define MU_BLAMED_MAX 16

struct mu_symbol_question {
	const char *path; /* of the file that ADDRESS is an offset in, as
			     addr2line takes it; NULL: of the source */
	uintptr_t address;
	bool call;   /* inlined functions are wanted, too */
	bool detail; /* the detail of its module is wanted */
};

/* All zero: not known. Strings are the helper's, until its close. */
struct mu_symbol_answer {
	struct mu_symbol symbol; /* without a module: in no file */
	enum mu_symbols_detail detail;
	bool given; /* the helper has answered */
};

/* A question at which a helper ended. */
struct mu_blamed {
	char *path;
	uintptr_t address;
	enum mu_symbols_limit limit; /* for its module, in the next helper */
};

struct mu_symbol_helper {
	/* Set by the caller, and borrowed until the close. */
	const struct mu_symbols_source *source; /* NULL: all have paths */
	const char *folder; /* files with paths are below it, or where they
			       were; NULL: none */
	struct mu_rights rights;

	/* The first error, in words; "": none. */
	char why[160];

	/* Zero at first. */
	pid_t pid; /* 0: none runs */
	int fd;
	struct mu_helper_page *page; /* shared with the helper */
	uint64_t asked;              /* of this one, before this time */
	unsigned starts;
	struct mu_arena arena; /* for what was answered */
	struct mu_wire_reader reader;
	struct mu_blamed blamed[MU_BLAMED_MAX];
	size_t num_blamed;
};

/*
 * Answer COUNT QUESTIONS in ANSWERS, zeroed, until DEADLINE_NS. False: some are
 * not answered, or only in part; helper->why says why. The process stays for
 * further questions. Without a source, strings are valid until the next call
 * only.
 */
bool mu_symbol_helper_ask(struct mu_symbol_helper *helper,
    const struct mu_symbol_question *questions,
    struct mu_symbol_answer *answers, size_t count, uint64_t deadline_ns);

/* Ends the process; one that cannot be ended is left behind. Accepts one that
 * is zero. */
void mu_symbol_helper_close(struct mu_symbol_helper *helper);

/* The process, and what it shares with its parent: lib/symbolize/helper_*.c */
struct mu_helper_page {
	uint64_t begun; /* questions, since it was started */
};

/* False: there is no process. */
bool mu_helper_start(struct mu_symbol_helper *helper);
void mu_helper_stop(struct mu_symbol_helper *helper);

/*
 * Kill a child. A child that waits in the kernel for a file system ends when
 * that answers, or never: after 0.1 s it is left to init.
 */
void mu_helper_kill(pid_t pid);

#endif
