/*
 * Names of statuses, and the text of a failure.
 *
 * Runs in: any.
 */
#include "mu/status.h"

#include <errno.h>
#include <signal.h>
#include <stdarg.h>
#include <string.h>

#include "mu/text.h"

#define BETWEEN "; "
#define FORMAT_SIZE 512 /* longest format */

static const struct row {
	const char *word, *name, *cure, *advice;
} rows[] = {
#define ROW(id, public, word, name, cure, command_cure, advice) \
	{ #word, name, cure, advice },
	MU_STATUS_LIST(ROW)
#undef ROW
};

static const struct row *
row_of(enum mu_status status)
{
	static const struct row unknown = { "unknown", "unknown status", "",
		"" };

	return (unsigned)status < MU_STATUS_COUNT ? &rows[status] : &unknown;
}

const char *
mu_status_word(int status)
{
	return row_of((enum mu_status)status)->word;
}

const char *
mu_status_name(enum mu_status status)
{
	return row_of(status)->name;
}

const char *
mu_status_cure(enum mu_status status)
{
	return row_of(status)->cure;
}

const char *
mu_status_advice(enum mu_status status)
{
	return row_of(status)->advice;
}

/*
 * Arguments of a va_list cannot be skipped, so the text is formatted twice:
 * whole, and without the remedy, to see where the remedy begins. The mark
 * counts in the format only, not in arguments.
 */
static void
fill(struct mu_why *why, const char *format, va_list args)
{
	const char *mark = strchr(format, MU_CURE[0]);
	char joined[FORMAT_SIZE];
	size_t before, cause, whole;
	va_list again;

	why->cure = 0;
	if (mark == NULL || mark - format >= FORMAT_SIZE) {
		mu_text_vformat(why->text, sizeof(why->text), format, args);
		return;
	}
	before = (size_t)(mark - format);
	memcpy(joined, format, before);
	joined[before] = '\0';
	va_copy(again, args);
	cause = mu_text_vformat(why->text, sizeof(why->text), joined, again);
	va_end(again);
	mu_text_format(
	    joined + before, sizeof(joined) - before, BETWEEN "%s", mark + 1);
	whole = mu_text_vformat(why->text, sizeof(why->text), joined, args);
	cause += sizeof(BETWEEN) - 1;
	if (cause >= sizeof(why->text))
		return;
	if (whole > cause)
		why->cure = (unsigned short)cause;
	else
		why->text[cause - (sizeof(BETWEEN) - 1)] = '\0';
}

enum mu_status
mu_why(struct mu_why *why, enum mu_status status, const char *format, ...)
{
	va_list args;

	if (why != NULL) {
		va_start(args, format);
		fill(why, format, args);
		va_end(args);
	}
	return status;
}

void
mu_why_cure(struct mu_why *why, const char *format, ...)
{
	size_t length = strlen(why->text);
	va_list args;

	if (length + sizeof(BETWEEN) > sizeof(why->text))
		return;
	length += mu_text_format(
	    why->text + length, sizeof(why->text) - length, BETWEEN);
	if (why->cure == 0)
		why->cure = (unsigned short)length;
	va_start(args, format);
	mu_text_vformat(
	    why->text + length, sizeof(why->text) - length, format, args);
	va_end(args);
}

void
mu_why_drop_cure(struct mu_why *why)
{
	if (why->cure > 0)
		why->text[why->cure - strlen(BETWEEN)] = '\0';
	why->cure = 0;
}

void
mu_why_after(
    struct mu_why *why, const struct mu_why *first, const char *between)
{
	struct mu_why second = *why;
	size_t before = strlen(first->text) + strlen(between);

	mu_text_format(why->text, sizeof(why->text), "%s%s%s", first->text,
	    between, second.text);
	if (second.cure == 0)
		why->cure = first->cure;
	else
		why->cure = before + second.cure < sizeof(why->text)
		    ? (unsigned short)(before + second.cure)
		    : 0;
}

bool
mu_status_join(enum mu_status *status, struct mu_why *why, enum mu_status next,
    const struct mu_why *next_why)
{
	if (next == MU_OK || (next == MU_PARTIAL && *status == MU_PARTIAL))
		return true;
	*status = next;
	*why = *next_why;
	return next == MU_PARTIAL;
}

bool
mu_why_check(const struct mu_why *why)
{
	const char *end = memchr(why->text, '\0', sizeof(why->text));

	return end != NULL && why->text + why->cure <= end &&
	    (why->cure == 0 || why->cure >= strlen(BETWEEN));
}

/*
 * With every signal blocked, a helper can only die of SIGKILL or of a signal
 * that the kernel forces: a fault, a seccomp filter, a debugger's breakpoint.
 */
static const struct death {
	int signo;
	const char *name, *guess;
} deaths[] = {
	{ SIGKILL, " (SIGKILL)", "was memory short?" },
	{ SIGSYS, " (SIGSYS)", "by a seccomp filter?" },
	{ SIGTRAP, " (SIGTRAP)", "a breakpoint?" },
	{ SIGSEGV, " (SIGSEGV)", "" },
	{ SIGBUS, " (SIGBUS)", "" },
	{ SIGILL, " (SIGILL)", "" },
	{ 0, "", "" },
};

enum mu_status
mu_why_died(struct mu_why *why, const char *who, int wait_status)
{
	const struct death *death = deaths;
	int signo = wait_status & 0x7f;

	if (wait_status < 0)
		return mu_why(why, MU_ERR_HELPER_DIED, "%s died", who);
	if (signo == 0)
		return mu_why(why, MU_ERR_HELPER_DIED,
		    "%s ended with exit status %d", who,
		    wait_status >> 8 & 0xff);
	while (death->signo != 0 && death->signo != signo)
		death++;
	return mu_why(why, MU_ERR_HELPER_DIED,
	    "%s was killed by signal %d%s" MU_CURE "%s", who, signo,
	    death->name, death->guess);
}

enum mu_status
mu_status_from_errno(int error)
{
	switch (error) {
	case 0:
		return MU_OK;
	case ENOMEM:
		return MU_ERR_NO_MEMORY;
	case EMFILE:
	case ENFILE:
	case EAGAIN: /* clone: RLIMIT_NPROC, pids cgroup */
		return MU_ERR_RESOURCES;
	case EPERM:
	case EACCES:
		return MU_ERR_NO_PERMISSION;
	case ESRCH:
		return MU_ERR_TARGET_GONE;
	case ETIMEDOUT:
		return MU_ERR_TIMEOUT;
	case EBUSY:
		return MU_ERR_BUSY;
	case ENOENT:
		return MU_ERR_NO_PROC;
	case EINVAL:
		return MU_ERR_ARGUMENT;
	default:
		return MU_ERR_RESOURCES;
	}
}
