/*
 * Questions about names with their answers, as they are kept in a saved look:
 * recorded when the look is saved, and answered from there when it is shown,
 * perhaps on another machine.
 *
 * An answer that several questions have is kept once.
 *
 * Runs in: the command.
 */
#ifndef SYMBOLIZE_KEPT_NAMES_H
#define SYMBOLIZE_KEPT_NAMES_H

#include "lib/symbolize/helper.h"

/* Which answer a question has. */
struct mu_kept_question {
	uint64_t address;
	uint32_t kind;   /* what was asked for: see kept_names.c */
	uint32_t answer; /* index */
};

#define MU_KEPT_KINDS 1024u /* any kind is less */

struct mu_kept_names {
	bool replay;   /* answers questions, otherwise records them */
	bool contents; /* texts of blocks are kept, too */
	struct mu_kept_question *questions; /* by kind and address if REPLAY */
	size_t num_questions, max_questions;

	/* recorded */
	struct mu_wire_writer wire;
	uint32_t *slots; /* by hash: 1 + index in ENDS, or 0 */
	size_t num_slots;
	size_t *begins, *ends; /* of each answer in the wire's buffer */
	size_t num_answers, max_begins, max_ends;
	bool failed; /* no memory: some are missing */

	/* answered */
	struct mu_arena arena;
	struct mu_wire_answer *answers;
};

/* For recording. Close in any case. */
void mu_kept_names_open(struct mu_kept_names *kept, bool contents);

/* Forget all that was recorded. */
void mu_kept_names_reset(struct mu_kept_names *kept);

/* Note the ANSWERS to QUESTIONS that were given. */
void mu_kept_names_note(struct mu_kept_names *kept,
    const struct mu_symbol_question *questions,
    const struct mu_symbol_answer *answers, size_t count);

/* Sort the questions, and keep one of each. */
void mu_kept_names_sort(struct mu_kept_names *kept);

/*
 * Begin to answer: KEPT has questions, and the SIZE BYTES of the wire with
 * NUM_ANSWERS answers, which are untrusted. Returns false if they are damaged,
 * or memory is exhausted.
 */
bool mu_kept_names_replay(struct mu_kept_names *kept, const char *bytes,
    size_t size, size_t num_answers);

/* Answer what is known: sets GIVEN. Returns false if some are not. */
bool mu_kept_names_answer(const struct mu_kept_names *kept,
    const struct mu_symbol_question *questions,
    struct mu_symbol_answer *answers, size_t count);

/*
 * The name of thread TID: noted, or found; NULL: not known. The found one is
 * valid until the close.
 */
void mu_kept_names_note_thread(
    struct mu_kept_names *kept, pid_t tid, const char *name);
const char *mu_kept_names_thread(const struct mu_kept_names *kept, pid_t tid);

/* Accepts the zero value. */
void mu_kept_names_close(struct mu_kept_names *kept);

#endif
