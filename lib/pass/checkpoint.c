#include "lib/pass/checkpoint.h"

#include "lib/pass/pass.h"
#include "lib/state/library.h"
#include "lib/state/log_sink.h"

static struct mu_checkpoint *
make(const struct mu_unreachable *unreachable)
{
	struct mu_checkpoint *checkpoint =
	    mu_results_new_bytes(&mu_library.results,
		sizeof(*checkpoint) +
		    unreachable->count * sizeof(*checkpoint->blocks));
	size_t i;

	if (checkpoint == NULL) {
		mu_log_sink_line(MU_LOG_ERROR,
		    "no memory for a checkpoint of %zu unreachable blocks",
		    unreachable->count);
		return NULL;
	}
	for (i = 0; i < unreachable->count; i++)
		checkpoint->blocks[i] =
		    (struct mu_known) { unreachable->blocks[i],
			    unreachable->words[i], MU_KNOWN_CONTENTS, 0 };
	checkpoint->count = unreachable->count;
	return checkpoint;
}

__attribute__((noinline)) struct mu_checkpoint *
mu_checkpoint_ask(const struct mu_caller *caller,
    const struct mu_checkpoint *earlier, struct UnreachableMemoryInfo *info)
{
	struct mu_unreachable unreachable = { .with_words = true };
	struct mu_request request = {
		.caller = caller,
		.log_policy = MU_LOG_POLICY_FAILURE,
		.since = earlier,
		.unreachable = &unreachable,
	};
	struct mu_checkpoint *checkpoint = NULL;

	if (mu_pass_run(&request, info))
		checkpoint = make(&unreachable);
	if (unreachable.blocks != NULL)
		mu_results_free(&mu_library.results, unreachable.blocks);
	return checkpoint;
}

struct MemunreachableCheckpoint *
memunreachable_checkpoint(void)
{
	struct UnreachableMemoryInfo info = { 0 };
	struct mu_caller caller;

	mu_caller_capture(&caller);
	return (struct MemunreachableCheckpoint *)mu_checkpoint_ask(
	    &caller, NULL, &info);
}

void
memunreachable_checkpoint_free(struct MemunreachableCheckpoint *checkpoint)
{
	if (checkpoint != NULL)
		mu_results_free(&mu_library.results, checkpoint);
}
