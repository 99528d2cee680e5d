/*
 * Calls in code, and the constants that they pass.
 *
 * Code is bytes of an untrusted file: what is found may be none, and nothing is
 * read outside of it. ADDRESS is that of the first byte of CODE.
 *
 * Pure.
 */
#ifndef MU_ARCH_CALL_SITE_H
#define MU_ARCH_CALL_SITE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "mu/arch/chosen.h"

/* A call, or a jump in place of a call and a return. */
struct mu_call {
	size_t at;       /* of the instruction */
	uint64_t target; /* the function, or the word with its address */
	bool word;
};

/*
 * Find the first call at *AT or behind it, and move *AT on. Returns false if
 * there is none.
 */
static inline bool mu_call_next(const unsigned char *code, size_t size,
    uint64_t address, size_t *at, struct mu_call *call);

/*
 * The constant that the call at AT passes as argument NUMBER, 0 or 1; false: it
 * is none, or not known.
 */
static inline bool mu_call_constant(
    const unsigned char *code, size_t at, unsigned number, uint64_t *value);

/*
 * If AT is in a stub of the procedure linkage table, at the first instruction
 * that tells: its begin and the word with the address of the function.
 */
static inline bool mu_call_stub(const unsigned char *code, size_t size,
    uint64_t address, size_t at, size_t *begin, uint64_t *word);

#include MU_ARCH(call_site.h)

#endif
