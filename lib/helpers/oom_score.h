/*
 * The order in which the OOM killer chooses processes:
 * /proc/self/oom_score_adj, from -1000 (never) to 1000 (first).
 *
 * Runs in: any.
 */
#ifndef LIB_HELPERS_OOM_SCORE_H
#define LIB_HELPERS_OOM_SCORE_H

#define MU_OOM_FIRST 1000

/* The value of the calling process; 0 if it cannot be read. */
int mu_oom_score(void);

/*
 * Set the value. Lowering it below the value that root had set needs
 * CAP_SYS_RESOURCE.
 */
void mu_oom_score_set(int score);

/* Set the lowest value that the calling process may have. */
void mu_oom_score_lower(void);

#endif
