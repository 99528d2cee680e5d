#include "lib/malloc_debug/shadow/recording.h"

#include "lib/malloc_debug/shadow/live.h"
#include "lib/malloc_debug/state/bootstrap.h"
#include "lib/malloc_debug/state/state.h"
#include "lib/malloc_debug/unwind/stack_depot.h"

enum recording_way recording_way;
bool recording_on;
bool recording_all;

bool hooks_active, journal_on, leaktracer_active;
int gate_closed, disabled_calls;

static bool stopped;

/* True if few blocks have words. */
static bool
only_samples(void)
{
	return recorder_options.backtrace &&
	    recorder_options.sample_bytes != 0 && !recorder_options.leak_track;
}

bool
recording_start(void)
{
	struct mu_recorded *recorded = &memunreachable_recorded;

	if (!live_init(only_samples()) || !stack_depot_init())
		return false;
	live_stay_near(bootstrap_memory, BOOTSTRAP_BYTES);
	recorded->depot = (uintptr_t)stack_depot_directory();
	recording_all = recording_wanted();
	__atomic_store_n(&recording_on, !stopped, __ATOMIC_RELEASE);
	return true;
}

void
recording_stop(void)
{
	if (__atomic_exchange_n(&stopped, true, __ATOMIC_ACQ_REL))
		return;
	__atomic_store_n(&recording_on, false, __ATOMIC_RELEASE);
	__atomic_or_fetch(&memunreachable_recorded.flags, MU_RECORDED_STOPPED,
	    __ATOMIC_RELEASE);
	recorder_refresh();
	recorder_say("out of memory: nothing is recorded from here on");
}

/* True if options change blocks, besides recording them. */
static bool
guarded(void)
{
	const struct debug_options *options = &recorder_options;

	return options->front_guard != 0 || options->rear_guard != 0 ||
	    options->expand_alloc != 0 || options->fill_on_alloc != 0 ||
	    options->fill_on_free != 0 || options->free_track != 0 ||
	    options->verify_pointers;
}

bool
recording_wanted(void)
{
	return recorder_options.tracking || guarded();
}

static bool
careful(void)
{
	return guarded() || hooks_active || journal_on || leaktracer_active ||
	    __atomic_load_n(&disabled_calls, __ATOMIC_SEQ_CST) != 0 ||
	    __atomic_load_n(&stopped, __ATOMIC_ACQUIRE);
}

static enum recording_way
way(void)
{
	if (__atomic_load_n(&gate_closed, __ATOMIC_SEQ_CST) != 0)
		return RECORDING_CAREFUL;
	if (live_directory == NULL && !hooks_active && !journal_on)
		return RECORDING_OFF;
	if (careful() || !recording_on)
		return RECORDING_CAREFUL;
	if (!recorder_options.backtrace)
		return RECORDING_PLAIN;
	return only_samples() && live_tallied ? RECORDING_SAMPLED
					      : RECORDING_STACKS;
}

void
recording_choose(void)
{
	enum recording_way chosen;

	/*
	 * Repeat until no input has changed: the last writer has seen all
	 * changes.
	 */
	do {
		chosen = way();
		__atomic_store_n(&recording_way, chosen, __ATOMIC_SEQ_CST);
	} while (chosen != way());
}

void
recorder_refresh(void)
{
	/* During the start-up, which calls this itself at its end. */
	if (__atomic_load_n(&recording_way, __ATOMIC_ACQUIRE) !=
	    RECORDING_NOT_STARTED)
		recording_choose();
}
