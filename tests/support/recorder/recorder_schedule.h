/*
 * The schedule of looks at the heap: at call number RECORDER_FIRST (1000), then
 * each time that the number has grown by RECORDER_GROWTH percent (100), and at
 * the end of the program. RECORDER_LOG names the file; without it only the
 * program's own requests cause looks.
 */
#ifndef TESTS_SUPPORT_RECORDER_RECORDER_SCHEDULE_H
#define TESTS_SUPPORT_RECORDER_RECORDER_SCHEDULE_H

#include <stdlib.h>
#include <string.h>

#include "tests/support/recorder/recorder_look.h"

static char log_path[256], program[32];
static size_t calls, next_look = SIZE_MAX, first_look = 1000, growth = 100;
static size_t unknown; /* blocks freed without a known allocation */

static inline void
die(const char *words)
{
	mu_sys_write(2, words, strlen(words));
	abort();
}

static inline int
open_log(void)
{
	int fd = -1;

	if (log_path[0] != '\0')
		fd = mu_sys_open(
		    log_path, O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC, 0666);
	return fd >= 0 ? fd : 2;
}

bool
recorder_check(const char *when, bool unproven, struct recorder_row *row)
{
	struct rlimit limits[LOOK_LIMITS];
	struct look *look;
	bool agrees;

	gate_close();
	look_lift_limits(limits);
	look = look_open();
	if (look == NULL)
		die("recorder: no memory to look at the heap\n");
	look->when = when;
	look->unproven = unproven;
	look->calls = __atomic_load_n(&calls, __ATOMIC_RELAXED);
	look->log = open_log();
	memcpy(look->program, program, sizeof(program));
	if (recorded_open())
		look_now(look);
	if (unknown > 0)
		look_say(look, "  %s: %s: %zu unknown blocks were freed\n",
		    program, when, unknown);
	if (look->log != 2)
		mu_sys_close(&look->log);
	if (row != NULL)
		*row = look->row;
	agrees = look->ended && unknown == 0 && look_agrees(look);
	look_close(look);
	look_restore_limits(limits);
	gate_open();
	return agrees;
}

/* The thread that raises the mark looks. */
static inline void
look_when_due(void)
{
	size_t due = __atomic_load_n(&next_look, __ATOMIC_RELAXED);
	size_t now = __atomic_load_n(&calls, __ATOMIC_RELAXED);

	if (gate_depth == 0 && now >= due &&
	    __atomic_compare_exchange_n(&next_look, &due,
		now + now / 100 * growth + 1, false, __ATOMIC_RELAXED,
		__ATOMIC_RELAXED))
		recorder_check("running", false, NULL);
}

/* bash defines its own getenv(). */
static inline const char *
setting(const char *name)
{
	size_t length = strlen(name);
	char **each;

	for (each = environ; each != NULL && *each != NULL; each++)
		if (strncmp(*each, name, length) == 0 && (*each)[length] == '=')
			return *each + length + 1;
	return NULL;
}

static inline void
set_number(size_t *number, const char *name)
{
	const char *value = setting(name);

	if (value != NULL)
		*number = strtoul(value, NULL, 10);
}

/* The settings, when the program starts. */
static inline void
look_begin(const char *name)
{
	const char *path = setting("RECORDER_LOG");

	strncpy(program, name, sizeof(program) - 1);
	set_number(&first_look, "RECORDER_FIRST");
	set_number(&growth, "RECORDER_GROWTH");
	if (path == NULL)
		return;
	strncpy(log_path, path, sizeof(log_path) - 1);
	next_look = first_look;
}

#endif
