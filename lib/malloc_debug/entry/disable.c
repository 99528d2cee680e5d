/*
 * memunreachable_disable(): blocks that this thread allocates are recorded as
 * ignored, on the careful path, so that the short ones know nothing of it.
 */
#include "lib/malloc_debug/entry/disable.h"

#include "lib/malloc_debug/entry/startup.h"
#include "lib/malloc_debug/shadow/live.h"
#include "lib/malloc_debug/shadow/recording.h"
#include "lib/malloc_debug/state/state.h"

static _Thread_local unsigned depth;

enum mu_block_kind
disable_kind(enum mu_block_kind kind)
{
	return depth > 0 ? MU_BLOCK_IGNORED : kind;
}

/* From now on frees clear words, and the short paths write them. */
static bool
is_recording(void)
{
	if (!startup_ready())
		return false;
	if (live_directory == NULL && !recording_start())
		recording_stop();
	return __atomic_load_n(&recording_on, __ATOMIC_ACQUIRE);
}

__attribute__((visibility("default"))) bool
memunreachable_recorder_disable(void)
{
	if (depth == 0) {
		if (!is_recording())
			return false;
		__atomic_or_fetch(&memunreachable_recorded.flags,
		    MU_RECORDED_IGNORES, __ATOMIC_RELEASE);
		__atomic_add_fetch(&disabled_calls, 1, __ATOMIC_SEQ_CST);
		recorder_refresh();
	}
	depth++;
	return true;
}

__attribute__((visibility("default"))) bool
memunreachable_recorder_enable(void)
{
	if (depth == 0)
		return false;
	if (--depth == 0) {
		__atomic_sub_fetch(&disabled_calls, 1, __ATOMIC_SEQ_CST);
		recorder_refresh();
	}
	return true;
}
