/*
 * How to find the caller of a frame: the rules for one address, from the
 * call-frame information of its module.
 *
 * Only stack and frame pointer are followed. Code that needs other registers,
 * or expressions, and frames of signal handlers have no rules.
 */
#ifndef SYMBOLIZE_FRAME_RULES_H
#define SYMBOLIZE_FRAME_RULES_H

#include <elfutils/libdwfl.h>
#include <stdbool.h>
#include <stdint.h>

enum mu_frame_base { MU_FRAME_UNKNOWN, MU_FRAME_SP, MU_FRAME_FP };

/*
 * The frame ends at the CFA, which is its BASE plus CFA. Where the caller's
 * frame pointer and the return address are saved, they are at an offset from
 * the CFA. All registers that are saved lie in SAVED_WORDS words below the CFA.
 * Fixed layout: it is sent as it is.
 */
struct mu_frame_rules {
	int32_t base;          /* enum mu_frame_base */
	int32_t cfa, fp, link; /* bytes */
	int16_t fp_saved;      /* 0 or 1 */
	int16_t saved_words;   /* of any size; MU_FRAME_SAVED_MOST: not known */
	int16_t link_saved;    /* 0 or 1 */
	int16_t reserved;
};

#define MU_FRAME_SAVED_MOST INT16_MAX

/* Returns false if there are no rules for ADDRESS in MODULE. */
bool mu_frame_rules_find(
    Dwfl_Module *module, uintptr_t address, struct mu_frame_rules *rules);

/* True if a reader may use RULES, which come from another process. */
bool mu_frame_rules_check(const struct mu_frame_rules *rules);

#endif
