/*
 * The signal that threads are parked with: see parking_choice.h.
 */
#include "ptrace/parking_choice.h"

#include <string.h>

#include "mu/text.h"
#include "ptrace/parking_handler.h"
#include "ptrace/proc.h"

#define STATUS_SIZE 4096 /* /proc/PID/status has about 1500 bytes */

/*
 * pthread_create(), fork() and others of glibc block everything for moments,
 * its own signals too, which no other code does by libc's functions.
 */
#define LOOKS 50
#define LOOK_NS (1000 * 1000ull)

struct signal_state {
	mu_sigmask blocked, pending;
};

/* "SigBlk:\t0000000000010000" after KEY. */
static mu_sigmask
take_mask(const char *status, const char *key)
{
	const char *at = strstr(status, key);
	uint64_t mask = 0;

	if (at != NULL) {
		at += strlen(key);
		mu_proc_number(&at, at + strlen(at), 16, &mask);
	}
	return mask;
}

/* False: the thread has ended. */
static bool
read_state(pid_t pid, pid_t tid, struct signal_state *state)
{
	char path[64], status[STATUS_SIZE];

	mu_text_format(path, sizeof(path), "/proc/%d/task/%d/status", pid, tid);
	if (mu_sys_read_file(AT_FDCWD, path, status, sizeof(status)) < 0 ||
	    strstr(status, "\nState:\tZ") != NULL)
		return false;
	*state = (struct signal_state) {
		.blocked = take_mask(status, "\nSigBlk:\t"),
		.pending = take_mask(status, "\nSigPnd:\t"),
	};
	return true;
}

static mu_sigmask
usable(void)
{
	mu_sigmask mask = 0;
	int i;

	for (i = 0; i < MU_PARKING_SIGNALS; i++)
		if (!mu_parking_is_handled(mu_parking_signals[i]))
			mask |= mu_signal_bit(mu_parking_signals[i]);
	return mask;
}

/* What of MASK thread TID lets through. */
static mu_sigmask
let_through(pid_t pid, pid_t tid, mu_sigmask mask)
{
	struct signal_state state;
	int look;

	for (look = 0; look < LOOKS; look++) {
		if (!read_state(pid, tid, &state))
			return mask;
		if ((mask & ~state.blocked) != 0)
			return mask & ~state.blocked;
		mu_sys_sleep_ns(LOOK_NS);
	}
	return 0;
}

enum mu_status
mu_parking_choose(struct mu_parking *parking,
    const struct mu_task_list *listing, struct mu_why *why)
{
	mu_sigmask mask = usable();
	size_t i, others = 0;
	long error = -1;
	pid_t tid;

	for (i = 0; i < listing->count; i++) {
		tid = listing->tids[i];
		if (tid == parking->except)
			continue;
		others++;
		mask = let_through(parking->pid, tid, mask);
		if (mask == 0)
			return mu_why(why, MU_ERR_SIGNALS_BLOCKED,
			    "thread %d blocks every signal that could stop it"
			    " (SIGURG, SIGWINCH, 33, 32)",
			    tid);
	}
	if (others == 0)
		return MU_OK;
	for (i = 0; i < MU_PARKING_SIGNALS; i++)
		if (mask & mu_signal_bit(mu_parking_signals[i]))
			break;
	error = mu_parking_install(mu_parking_signals[i]);
	if (error < 0)
		return mu_why(why, mu_status_from_errno((int)-error),
		    "cannot install a handler for signal %d (error %ld)",
		    mu_parking_signals[i], -error);
	parking->signo = mu_parking_signals[i];
	return MU_OK;
}

bool
mu_parking_lost(const struct mu_parking *parking, pid_t tid)
{
	mu_sigmask bit = mu_signal_bit(parking->signo);
	struct signal_state state;

	return read_state(parking->pid, tid, &state) &&
	    ((state.blocked | state.pending) & bit) == 0;
}
