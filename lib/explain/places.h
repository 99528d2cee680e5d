/*
 * Names of the places that hold blocks: variables by their symbols, stacks and
 * registers by their threads.
 *
 * Symbols are asked of a separate process, as those of a report are
 * (lib/symbolize/helper.h): they come from files of the subject.
 */
#ifndef LIB_EXPLAIN_PLACES_H
#define LIB_EXPLAIN_PLACES_H

#include "heapwalk/explain/held.h"
#include "heapwalk/refer/locate.h"
#include "lib/explain/explained.h"
#include "lib/symbolize/helper.h"

/* A variable, or one word that has no name. */
struct mu_variable {
	struct mu_range range; /* must come first: mu_ranges_upper() */
	const char *name;      /* or NULL */
	const char *module;    /* or NULL */
	uintptr_t offset;      /* of RANGE in the module */
};

struct mu_places {
	const struct mu_snapshot *snap;
	const struct mu_blocks *blocks;
	struct mu_arena *arena; /* of the explanation */
	struct mu_arena *tables;
	struct mu_owners owners;
	struct mu_symbols_source source;
	struct mu_symbol_helper helper;
	uint64_t deadline_ns;          /* for names; set by the caller */
	struct mu_variable *variables; /* by address */
	size_t num_variables, max_variables;
};

/*
 * SOURCE and RIGHTS are as for a mu_symbol_helper; SOURCE's mappings are set
 * here. Returns false if memory is exhausted. Close in any case.
 */
bool mu_places_open(struct mu_places *places, const struct mu_snapshot *snap,
    const struct mu_blocks *blocks, const struct mu_symbols_source *source,
    const struct mu_rights *rights, struct mu_arena *arena,
    struct mu_arena *tables);
void mu_places_close(struct mu_places *places);

/*
 * Ask for the variables at the COUNT addresses of WORDS of modules, which are
 * by address. Names that are not found in time are missing. Returns false if
 * memory is exhausted.
 */
bool mu_places_ask(
    struct mu_places *places, const struct mu_held_word *words, size_t count);

/* Describe the place of WORD. */
void mu_place_of_word(struct mu_places *places, const struct mu_held_word *word,
    struct mu_step *step);

/* Describe the place of a reference. */
void mu_place_of_referrer(struct mu_places *places,
    const struct mu_referrer *item, struct mu_step *step);

/* Find the types of the blocks among COUNT steps, where they are known. */
void mu_places_ask_types(
    struct mu_places *places, struct mu_step *const *steps, size_t count);

/* The first bytes of BLOCK, which it must still have when its type is found. */
void mu_places_typed_block(
    const struct mu_block *block, struct mu_typed_block *typed);

/*
 * True if TYPE is that of a whole block: what is before an object with a tag
 * belongs to it.
 */
static inline bool
mu_type_names_block(const struct mu_type *type)
{
	return type->name != NULL &&
	    (type->offset == 0 || type->source == MU_TYPE_TAG);
}

/*
 * Find the functions in whose frames the STACK steps among these lie, as far as
 * each stack can be followed.
 */
void mu_places_ask_frames(
    struct mu_places *places, struct mu_step *const *steps, size_t count);

/* The name of thread TID, in the explanation's memory; NULL: not known. */
const char *mu_places_thread_name(const struct mu_places *places, pid_t tid);

/* Any address in the main program; 0: not known. */
uintptr_t mu_places_program(const struct mu_places *places);

/*
 * Where the variables of the main program are in the thread with INDEX; false:
 * not known.
 */
bool mu_places_thread_variables(
    const struct mu_places *places, size_t index, uintptr_t *address);

/* TEXT in the explanation's memory; NULL is NULL. */
const char *mu_places_keep(const struct mu_places *places, const char *text);

/* STEP, a block, has variables of the thread with the index THREAD. */
void mu_place_in_thread(
    const struct mu_places *places, size_t thread, struct mu_step *step);

/* Describe block NUMBER. */
void mu_place_of_block(
    const struct mu_places *places, uint32_t number, struct mu_step *step);

#endif
