/*
 * Parse a signal by name or number, for the option signal.
 *
 * Runs in: original, also in constructors.
 */
#include <signal.h>

#include "lib/state/options.h"
#include "lib/state/options_token.h"

static const struct {
	const char *name;
	int number;
} signal_names[] = {
	{ "HUP", SIGHUP },
	{ "INT", SIGINT },
	{ "QUIT", SIGQUIT },
	{ "ABRT", SIGABRT },
	{ "IOT", SIGABRT },
	{ "USR1", SIGUSR1 },
	{ "USR2", SIGUSR2 },
	{ "PIPE", SIGPIPE },
	{ "ALRM", SIGALRM },
	{ "TERM", SIGTERM },
	{ "STKFLT", SIGSTKFLT },
	{ "CHLD", SIGCHLD },
	{ "CLD", SIGCHLD },
	{ "CONT", SIGCONT },
	{ "TSTP", SIGTSTP },
	{ "TTIN", SIGTTIN },
	{ "TTOU", SIGTTOU },
	{ "URG", SIGURG },
	{ "XCPU", SIGXCPU },
	{ "XFSZ", SIGXFSZ },
	{ "VTALRM", SIGVTALRM },
	{ "PROF", SIGPROF },
	{ "WINCH", SIGWINCH },
	{ "IO", SIGIO },
	{ "POLL", SIGIO },
	{ "PWR", SIGPWR },
	{ "SYS", SIGSYS },
};

static int
realtime_signal(struct mu_token token)
{
	uint64_t low = (uint64_t)SIGRTMIN, high = (uint64_t)SIGRTMAX, n = 0;
	bool from_low = mu_token_starts(&token, "RTMIN");

	if (!from_low && !mu_token_starts(&token, "RTMAX"))
		return 0;
	if (token.length > 0) {
		if (!mu_token_starts(&token, from_low ? "+" : "-") ||
		    !mu_token_number(token, high - low, &n))
			return 0;
	}
	return (int)(from_low ? low + n : high - n);
}

static bool
can_be_awaited(int number)
{
	switch (number) {
	case SIGKILL:
	case SIGSTOP:
	case SIGSEGV:
	case SIGBUS:
	case SIGFPE:
	case SIGILL:
	case SIGTRAP:
		return false;
	default:
		/*
		 * glibc reserves the first real-time signals (usually two) for
		 * setuid() and pthread_cancel().
		 */
		return number > 0 && (number < 32 || number >= SIGRTMIN) &&
		    number <= SIGRTMAX;
	}
}

int
mu_options_signal_token(struct mu_token token)
{
	uint64_t number;
	size_t i;

	if (mu_token_number(token, (uint64_t)SIGRTMAX, &number))
		return can_be_awaited((int)number) ? (int)number : 0;
	mu_token_starts(&token, "SIG");
	for (i = 0; i < sizeof(signal_names) / sizeof(*signal_names); i++) {
		if (mu_token_is(token, signal_names[i].name))
			return signal_names[i].number;
	}
	return realtime_signal(token);
}

int
mu_options_signal(const char *text)
{
	struct mu_token token = { text, strlen(text) };

	return mu_options_signal_token(token);
}
