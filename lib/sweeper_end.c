/*
 * Reaping the sweeper: see sweeper_end.h.
 *
 * Uses no malloc, no errno.
 */
#include "lib/sweeper_end.h"

#include <sys/wait.h>

#include "mu/sys.h"

/* How long the end of a sweeper that was killed may take. */
#define REAP_NS (10 * MU_NS_PER_SEC)

/*
 * In a memory group that is nearly full it is asked to give its memory back by
 * itself before it is killed. A process that is being killed has its memory
 * still, and the OOM killer does not count it any more (oom_badness() in
 * mm/oom_kill.c: no task->mm): it would take the program.
 */
#define DROP_NS (MU_NS_PER_SEC / 2)

/*
 * To tear an image down takes some 30 ms a gigabyte. A pidfd would tell of the
 * end at once, and be a descriptor that the program did not open.
 */
#define FIRST_NAP_NS (20 * 1000ull)
#define LONGEST_NAP_NS (1000 * 1000ull)

bool
mu_sweeper_ended(struct mu_pass *pass)
{
	int status = -1;
	pid_t got;

	if (pass->sweeper <= 0)
		return true;
	got = mu_sys_wait(pass->sweeper, &status, MU_WALL | WNOHANG);
	if (got == pass->sweeper || got == -ECHILD) {
		pass->sweeper_status = got == pass->sweeper ? status : -1;
		pass->sweeper = 0;
	}
	return pass->sweeper == 0;
}

void
mu_sweeper_reap(struct mu_pass *pass, uint64_t deadline_ns)
{
	uint64_t nap = FIRST_NAP_NS;
	bool killed = false, asked = !pass->room.tight;

	while (!mu_sweeper_ended(pass)) {
		if (mu_sys_now_ns() >= deadline_ns) {
			/* Nobody lets us wait for it: it is a zombie by now. */
			if (killed)
				return;
			mu_sys_kill(
			    pass->sweeper, asked ? SIGKILL : MU_SWEEPER_DROP);
			deadline_ns =
			    mu_sys_now_ns() + (asked ? REAP_NS : DROP_NS);
			killed = asked;
			asked = true;
		}
		mu_sys_sleep_ns(nap);
		if (nap < LONGEST_NAP_NS)
			nap *= 2;
	}
}
