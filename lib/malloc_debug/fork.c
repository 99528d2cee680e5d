/* The child has one thread; glibc has reset its own malloc by then. */
#include "lib/malloc_debug/fork.h"

#include <pthread.h>

#include "lib/malloc_debug/exit_wait.h"
#include "lib/malloc_debug/gate.h"
#include "lib/malloc_debug/journal.h"
#include "lib/malloc_debug/kept_stderr.h"
#include "lib/malloc_debug/recorder.h"
#include "lib/malloc_debug/recording.h"
#include "lib/malloc_debug/sampling.h"
#include "lib/malloc_debug/stack_id.h"
#include "lib/malloc_debug/watch.h"

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
