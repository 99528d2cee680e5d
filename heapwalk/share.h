/*
 * What the workers of a marking have in common: work that nobody has begun.
 *
 * Each has a stack of its own; whoever has nothing left takes, in this order,
 * a batch that another gave, a piece of a long block or root, or the next
 * ticket: a part of what the marking begins with. It is over when all that
 * came are hungry.
 *
 * Runs in: sweeper (any). Uses no malloc, no errno, no libc lock.
 */
#ifndef HEAPWALK_SHARE_H
#define HEAPWALK_SHARE_H

#include "heapwalk/references.h"
#include "heapwalk/workers.h"

#define MU_SHARE_BATCH 256 /* blocks */
#define MU_SHARE_TICKET_ROOTS 4

/* What words are read from: whether their addresses matter, where they lie. */
enum mu_words_of {
	MU_WORDS_BLOCK,
	MU_WORDS_ROOT,
	MU_WORDS_CODE,       /* a root that is searched at every byte */
	MU_WORDS_BLOCK_CODE, /* a block that is */
};

static inline bool
mu_words_are_code(enum mu_words_of of)
{
	return of == MU_WORDS_CODE || of == MU_WORDS_BLOCK_CODE;
}

/* A long block or a root, begun up to AT. */
struct mu_stretch {
	const char *view; /* the subject's bytes at BEGIN */
	uintptr_t begin, at, end;
	uintptr_t filled; /* populated up to here; then ask again */
	enum mu_words_of of;
};

/* Words to be scanned. */
struct mu_piece {
	struct mu_range range;
	const char *view; /* the subject's bytes at range.begin */
	enum mu_words_of of;
};

enum mu_shared {
	MU_SHARED_NOTHING, /* and there will be no more */
	MU_SHARED_BATCH,
	MU_SHARED_PIECE,
	MU_SHARED_TICKET,
};

/* What one that was hungry got. */
struct mu_portion {
	struct mu_piece piece;
	size_t ticket;
	uintptr_t *batch; /* room for MU_SHARE_BATCH, the caller's */
	size_t batch_count;
};

struct mu_share {
	/* Set by the caller; MEMORY may be NULL: everything is populated. */
	const struct mu_blocks *blocks;
	struct mu_memory *memory;

	int lock; /* of all that follows */
	unsigned active, hungry;
	bool over;
	bool sweeps;   /* a stack was full: all leave blocks to a sweep */
	int attention; /* hungry, over or sweeps: never locked */
	int news;      /* futex: changes when a hungry one should look */
	size_t next_ticket, num_tickets;
	struct mu_stretch *stretches;
	size_t num_stretches;
	uintptr_t (*batches)[MU_SHARE_BATCH];
	size_t batch_counts[MU_WORKERS_MAX];
	size_t num_batches; /* not more than are hungry */
};

/* For WORKERS at most. False: no memory. */
bool mu_share_open(
    struct mu_share *share, unsigned workers, struct mu_arena *arena);

/* A new round of NUM_TICKETS; worker 0 takes part already. */
void mu_share_begin(struct mu_share *share, size_t num_tickets);

/* Another comes; false: all is over. Who takes part takes until the end. */
bool mu_share_join(struct mu_share *share);
enum mu_shared mu_share_take(
    struct mu_share *share, struct mu_portion *portion);

/* Is it worth while to see whether somebody is hungry, or all is over? */
static inline bool
mu_share_calls(const struct mu_share *share)
{
	return __atomic_load_n(&share->attention, __ATOMIC_RELAXED) != 0;
}

static inline bool
mu_share_is_over(const struct mu_share *share)
{
	return __atomic_load_n(&share->over, __ATOMIC_RELAXED);
}

static inline bool
mu_share_sweeps(const struct mu_share *share)
{
	return __atomic_load_n(&share->sweeps, __ATOMIC_RELAXED);
}

/* Until the end of the round. */
void mu_share_sweep(struct mu_share *share);

/*
 * Has nobody else any work, nor can get some unless the caller, who has, gives
 * or adds it?
 */
bool mu_share_is_alone(struct mu_share *share);

/* False: nobody is hungry, or there is no room. */
bool mu_share_give(
    struct mu_share *share, const uintptr_t *batch, size_t count);

/* False: there is no room, unless for the MU_SHARE_TICKET_ROOTS of a ticket. */
bool mu_share_add(struct mu_share *share, const char *view,
    struct mu_range range, enum mu_words_of of);

/* The first place at or behind ADDRESS where a word counts. */
static inline uintptr_t
mu_share_first(
    const struct mu_blocks *blocks, uintptr_t address, enum mu_words_of of)
{
	return mu_reference_first(blocks, mu_words_are_code(of), address);
}

/* The deadline has passed: nothing more for anybody. */
void mu_share_stop(struct mu_share *share);

#endif
