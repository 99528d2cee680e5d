/*
 * The process that cleans up after the keeper: see keeper.h.
 *
 * Runs in: watchdog.
 */
#include "lib/helpers/keeper_drop.h"
#include "lib/helpers/keeper_socket.h"
#include "mu/procfs.h"
#include "mu/sys.h"

void
mu_watchdog_body(void *arg)
{
	struct mu_keeper_work *work = arg;
	const int keep[] = { work->life, work->ended, mu_procfs_descriptor() };

	mu_keeper_isolate("mu-watchdog", keep, sizeof(keep) / sizeof(keep[0]));
	while (!mu_keeper_socket_await_close(
	    work->life, mu_sys_now_ns() + MU_KEEPER_LOOK_NS))
		mu_keeper_kill_stopped(work->keeper);
	if (!work->done)
		mu_keeper_drop_left(work);
	mu_sys_exit(0);
}
