/*
 * These calls affect only the sweeper, a process with separate memory: the
 * program's priority, limits and score do not change.
 */
#include "lib/helpers/sweeper_limits.h"

#include <sched.h>
#include <string.h>
#include <sys/resource.h>

#include "lib/state/library.h"
#include "mu/procfs.h"
#include "mu/sys.h"
#include "mu/text.h"

/*
 * Added to the program's nice value. The pass must end before its deadline on a
 * machine that is never idle, and its caller waits for it. A pass that takes
 * 0.7 s by itself (a million blocks, all lost) took 1.4 s beside four busy
 * threads on two cores; with 5 it took 3 to 5 s, with 10 11 to 14 s, and with
 * 19 more than the 30 s of the default timeout.
 */
#define NICE 5
#define NICE_MAX 19

/* The system call getpriority(2) returns 20 - nice, which is never negative. */
#define NICE_ZERO 20

#define MIB ((size_t)1 << 20)

/* Tables may take this much in any case: no machine swaps for so little. */
#define LIMIT_MIN (16 * MIB)

/* Used if the available memory is not known. */
#define LIMIT_NONE (SIZE_MAX / 2)

/*
 * A core file of the sweeper would be as large as the program. A limit of 1
 * prevents the file, as 0 does, and also the pipe to a program in core_pattern,
 * which 0 does not (do_coredump in fs/coredump.c). It cannot be raised where
 * the hard limit is 0.
 */
void
mu_sweeper_limits_begin(void)
{
	static const struct rlimit none = { 1, 1 };

	mu_sys4(SYS_prlimit64, 0, RLIMIT_CORE, (long)&none, 0);
}

/*
 * A sweeper with an inherited real-time policy would keep ordinary threads off
 * its CPU until it is done. SCHED_BATCH never preempts the running thread when
 * it wakes up. SCHED_IDLE is kept, as the change would raise the priority.
 */
void
mu_sweeper_limits_yield(void)
{
	static const struct sched_param priority = { 0 };
	long policy = mu_sys1(SYS_sched_getscheduler, 0);
	long nice = mu_sys2(SYS_getpriority, PRIO_PROCESS, 0);

	if (policy >= 0 && policy != SCHED_IDLE)
		mu_sys3(
		    SYS_sched_setscheduler, 0, SCHED_BATCH, (long)&priority);
	if (nice < 0)
		return;
	nice = NICE_ZERO - nice + NICE;
	mu_sys3(SYS_setpriority, PRIO_PROCESS, 0,
	    nice < NICE_MAX ? nice : NICE_MAX);
}

/* Half: the program may use the other half during the pass. */
void
mu_sweeper_limits_limit(struct mu_arena *tables, size_t available)
{
	size_t limit = mu_library.options.max_memory;

	if (limit == 0 && available != SIZE_MAX) {
		limit = available / 2;
		if (limit < LIMIT_MIN)
			limit = LIMIT_MIN;
	}
	tables->limit = limit > 0 ? limit : LIMIT_NONE;
}

/* Format "512k" or "64m", rounded up, as the option accepts it. */
static void
shown(size_t bytes, char *text, size_t size)
{
	bool small = bytes < 16 * MIB && bytes % MIB != 0;
	size_t unit = small ? 1024 : MIB;

	mu_text_format(text, size, "%zu%s", bytes / unit + (bytes % unit != 0),
	    small ? "k" : "m");
}

void
mu_sweeper_limits_explain(
    const struct mu_arena *tables, enum mu_status status, struct mu_why *why)
{
	bool preset = mu_library.options.max_memory == 0;
	char is[32], needed[32];

	if (tables->refused == 0 ||
	    (status != MU_ERR_NO_MEMORY && status != MU_PARTIAL))
		return;
	shown(tables->limit, is, sizeof(is));
	/*
	 * It is not known what more will be needed after the refused request.
	 */
	shown(tables->refused + MIB - 1 - (tables->refused + MIB - 1) % MIB,
	    needed, sizeof(needed));
	mu_why_cure(why,
	    status == MU_PARTIAL ? "max_memory is %s%s, %s would do"
				 : "max_memory is %s%s, needed: %s or more",
	    is, preset ? " (half of what is available)" : "", needed);
}
