/*
 * Which process the OOM killer takes first: /proc/self/oom_score_adj, from
 * -1000 (never) to 1000 (first).
 *
 * Runs in: any.
 */
#ifndef LIB_HELPERS_OOM_SCORE_H
#define LIB_HELPERS_OOM_SCORE_H

#define MU_OOM_FIRST 1000

/* The calling process's; 0 if it cannot be read. */
int mu_oom_score(void);

/* A process may lower its own below what root gave it with rights only. */
void mu_oom_score_set(int score);

/* The lowest that the calling process may have. */
void mu_oom_score_lower(void);

#endif
