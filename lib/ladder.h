/*
 * The stop ladder: threads are stopped by ptrace; where that is refused, by a
 * signal; where that fails as well, nothing is checked. Same snapshot, same
 * report, from every rung.
 */
#ifndef LIB_LADDER_H
#define LIB_LADDER_H

#include "lib/pass.h"

/*
 * Take an image: pass->sweeper and pass->stop are set when this is MU_OK. Of
 * two refusals the first is the status, and the words have both.
 *
 * Runs in: original, with signals blocked, once mu_allocator_find() has found
 * malloc. Malloc is frozen for as long as it takes, and may be so afterwards.
 */
enum mu_status mu_ladder_run(struct mu_pass *pass);

#endif
