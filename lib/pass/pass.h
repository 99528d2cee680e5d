/*
 * One pass. It lies on a separate stack, or below the frames of the calling
 * thread that are searched.
 */
#ifndef LIB_PASS_PASS_H
#define LIB_PASS_PASS_H

#include "lib/pass/request.h"
#include "lib/pipe/result.h"
#include "lib/state/image.h"

struct mu_pass {
	const struct mu_request *request;
	struct mu_image image;   /* seen by collector and sweeper */
	struct mu_result result; /* of the last look */
};

/*
 * Where the packed entries of PASS are: NULL if they do not outlive it. Then it
 * has them in its own memory: a mapping of theirs takes 6 us.
 */
struct mu_results *mu_pass_results(const struct mu_pass *pass);

/*
 * Run a pass and fill INFO (zeroed by the caller, except version). The caller
 * frees info->leaks, which is set if request->array asks for it. Returns true
 * if the heap was checked.
 *
 * Runs in: original.
 */
bool mu_pass_run(
    const struct mu_request *request, struct UnreachableMemoryInfo *info);

#endif
