/*
 * The settings in the LEAKTRACER_ variables. An empty variable counts as set.
 *
 * Runs in: the original, before main().
 */
#ifndef LIB_MALLOC_DEBUG_LEAKTRACER_SETTINGS_H
#define LIB_MALLOC_DEBUG_LEAKTRACER_SETTINGS_H

#include <stdbool.h>
#include <stddef.h>

enum leaktracer_role {
	LEAKTRACER_ROLE_START,
	LEAKTRACER_ROLE_STOP,
	LEAKTRACER_ROLE_REPORT,
	LEAKTRACER_ROLES,
};

/* Strings point into the environment. */
struct leaktracer_settings {
	bool given; /* any variable is set */
	bool banner;
	bool start; /* monitor from the first allocation on */
	bool only_unreachable;
	size_t frames;                 /* 0 = not set */
	int signals[LEAKTRACER_ROLES]; /* 0 = none */
	const char *signal_report;     /* file */
	const char *exit_report;       /* file; NULL = no report */
	int exit_code;                 /* on leaks; 0 = unchanged */
};

/* The settings of this process; constant once main() runs. */
extern struct leaktracer_settings leaktracer_settings;

/*
 * LOOK_UP is getenv() or replaces it. SAY is called with an invalid value and
 * what was expected; the variable then counts as not set.
 */
void leaktracer_settings_read(struct leaktracer_settings *settings,
    const char *(*look_up)(const char *name),
    void (*say)(const char *name, const char *value, const char *expected));

#endif
