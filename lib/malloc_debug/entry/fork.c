/* The child has one thread; glibc has reset its own malloc by then. */
#include "lib/malloc_debug/entry/fork.h"

#include <pthread.h>

#include "lib/malloc_debug/dumps/journal.h"
#include "lib/malloc_debug/dumps/watch.h"
#include "lib/malloc_debug/entry/exit_wait.h"
#include "lib/malloc_debug/shadow/gate.h"
#include "lib/malloc_debug/shadow/recording.h"
#include "lib/malloc_debug/shadow/sampling.h"
#include "lib/malloc_debug/shadow/stack_id.h"
#include "lib/malloc_debug/state/kept_stderr.h"
#include "lib/malloc_debug/state/state.h"

static void
child(void)
{
	recorder_enter();
	if (recording_on)
		stack_id_fork_child();
	sampling_fork_child();
	gate_fork_child();
	journal_fork_child();
	watch_fork_child();
	exit_wait_fork_child();
	kept_stderr_drop();
	recorder_leave();
}

void
fork_watch(void)
{
	pthread_atfork(NULL, NULL, child);
}
