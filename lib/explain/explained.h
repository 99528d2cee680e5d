/*
 * What an explanation says: who holds the heap, and who holds one block.
 *
 * All strings and arrays are in its arena. Strings come from the subject: they
 * are terminated, but may contain anything.
 */
#ifndef LIB_EXPLAIN_EXPLAINED_H
#define LIB_EXPLAIN_EXPLAINED_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "lib/symbolize/symbols.h"
#include "lib/types/type.h"
#include "mu/arena.h"

struct mu_look_writer; /* lib/look/write.h */

/* What is wanted; all zero: nothing. */
struct mu_explain {
	size_t retained; /* how many of the largest holders */
	bool why;        /* who holds the block at ADDRESS */
	bool all;        /* and every reference to it */
	uintptr_t address;
	const char *why_type; /* who holds the blocks of this type, or of those
				 that match this pattern; NULL: not wanted */
	size_t why_count;     /* how many of these, the nearest ones first */
	bool in_use;          /* what lives, by size */

	bool collections; /* with it: what variables hold, by path */

	/* With it: what has not changed for so many seconds; NULL: not wanted
	 */
	struct mu_stale *stale;
	uint32_t stale_seconds;

	struct mu_look_writer *save; /* write all that is found; or NULL */
};

/* True if anything beyond the leaks is shown. */
static inline bool
mu_explain_shows(const struct mu_explain *explain)
{
	return explain->retained > 0 || explain->why ||
	    explain->why_type != NULL || explain->in_use;
}

/* True if anything beyond the leaks is asked for. */
static inline bool
mu_explain_wanted(const struct mu_explain *explain)
{
	return mu_explain_shows(explain) || explain->save != NULL;
}

enum mu_step_kind {
	MU_STEP_VARIABLE,    /* of a module */
	MU_STEP_STACK,       /* of a thread */
	MU_STEP_TLS,         /* a thread's variables */
	MU_STEP_REGISTER,    /* of a thread */
	MU_STEP_THREAD,      /* its stack and registers */
	MU_STEP_REGION,      /* a root region of the program */
	MU_STEP_MAPPING,     /* other memory */
	MU_STEP_VALUE,       /* held by the kernel, or an ignored object */
	MU_STEP_ALLOCATOR,   /* malloc itself */
	MU_STEP_INTERPRETER, /* CPython's own links and lists */
	MU_STEP_BLOCK,
	MU_STEP_MORE, /* COUNT steps that are left out */
	MU_STEP_KINDS
};

/* A place with a pointer to the next one. */
struct mu_step {
	enum mu_step_kind kind;
	const char *name;    /* of a variable, register, mapping; or NULL */
	const char *module;  /* path; or NULL */
	const char *type;    /* of a block or a variable; or NULL */
	const char *field;   /* ".orders[3].first": where the pointer is; or
				NULL */
	const char *element; /* of a block that is a part of a container: the
				element that leads on: "[\"alice\"].orders"; ""
				if it leads to another part; or NULL */
	bool certain;        /* the type is proven, otherwise probable */
	bool content;        /* it is what the bytes look like */
	enum mu_type_counter counter; /* of the object at OBJECT of a block */
	size_t object;
	uintptr_t address; /* where the place begins; 0: not in memory */
	size_t size;       /* bytes; 0: not known */
	bool points;       /* OFFSET and INTO are known */
	size_t offset;     /* of the pointer, from ADDRESS */
	size_t into;       /* what it points to, from the next one's begin */
	pid_t thread;      /* 0: none */
	const char *thread_name; /* or NULL */
	const char *function;    /* whose frame it is in, or that allocated it;
				    or NULL */
	const char *file;
	unsigned line;
	bool counted; /* the type is a container of COUNT elements */
	size_t count; /* of these, or of MU_STEP_MORE */
};

struct mu_retained {
	struct mu_step holder; /* a root, or a block that several roots hold */
	size_t bytes, blocks;  /* what would be lost without it */
	bool about;            /* only doubtful words lead to it */

	/* From a root to the block below it in which much of it comes
	 * together. */
	struct mu_step *path;
	size_t num_steps;
	size_t point_bytes, point_blocks; /* what that block retains */
};

struct mu_why_held {
	bool known;           /* otherwise there was no time or memory */
	bool found;           /* there is such a block */
	bool reachable;       /* otherwise it is lost */
	bool about;           /* only doubtful words lead to it */
	struct mu_step *path; /* from a root to the block */
	size_t num_steps;
	struct mu_step *referrers; /* if all are wanted */
	size_t num_referrers;
	size_t total_referrers; /* more, if there are very many */

	/* If the object counts its references, and all were found: */
	const char *counter; /* its name; otherwise NULL */
	size_t uses;         /* what it says */
	size_t references;   /* how many there are */
};

/* The blocks of a type that is asked for. */
struct mu_why_type {
	bool known;           /* otherwise there was no time or memory */
	size_t blocks, bytes; /* all that are reachable */
	struct mu_why_held *nearest;
	size_t count;
};

/* Blocks of one size, and of one type if that is known. */
struct mu_in_use {
	size_t size;      /* usable bytes */
	const char *type; /* or NULL */
	bool certain;     /* it is proven, otherwise probable */
	bool content;     /* it is what the bytes look like */
	size_t count;
	size_t duplicates; /* of them, text that an earlier block has, too */
	size_t stale;      /* of them, those that have not changed for long */
	uint32_t seconds; /* for how long none of these has; 0: there is none */
};

/* Blocks that one stack allocated. */
struct mu_in_use_stack {
	size_t count, bytes;      /* usable */
	size_t asked;             /* bytes */
	uintptr_t *pcs;           /* innermost first */
	struct mu_symbol *frames; /* of each; without a module: not known */
	size_t num_frames;
};

/* What variables hold by one path. */
struct mu_collection {
	const char *name; /* "cache.sessions" */
	size_t elements;
	size_t bytes; /* usable, of all that is behind the path */
};

/* Blocks with the same text. */
struct mu_duplicate {
	uintptr_t address; /* of the first one */
	size_t size;       /* usable bytes of each */
	size_t length;     /* of the text */
	size_t count;
	const char *text; /* its beginning */
};

struct mu_explained {
	struct mu_explain wanted;
	struct mu_arena arena;
	char note[512]; /* what is missing and why; "": nothing */
	bool cut;       /* there was no time or memory for all names */
	size_t live_bytes, live_blocks; /* all blocks in use, lost ones left
					   out */

	struct mu_retained *retained; /* by bytes */
	size_t num_retained;
	size_t holders; /* how many there are */

	struct mu_why_held why;
	struct mu_why_type why_type;

	struct mu_in_use *in_use; /* by bytes */
	size_t num_in_use;
	size_t num_sizes;                         /* how many there are */
	size_t duplicate_blocks, duplicate_bytes; /* what equal text wastes */
	struct mu_duplicate *duplicates;          /* by what they waste */
	size_t num_duplicates;

	struct mu_collection *collections; /* by bytes */
	size_t num_collections;

	/* Blocks whose requested size a recorder knows. */
	size_t recorded_blocks, recorded_bytes; /* usable */
	size_t asked_bytes;

	struct mu_in_use_stack *stacks; /* by bytes */
	size_t num_stacks;
	size_t total_stacks; /* how many there are */
};

/* Accepts NULL. */
void mu_explained_free(struct mu_explained *explained);

/* The words of KIND in JSON: "variable". */
const char *mu_step_kind_name(enum mu_step_kind kind);

#endif
