/*
 * What the LEAKTRACER_ variables say. Any value counts as set, an empty one
 * too.
 *
 * Runs in: the original, before main().
 */
#ifndef DEBUG_LEAKTRACER_SETTINGS_H
#define DEBUG_LEAKTRACER_SETTINGS_H

#include <stdbool.h>
#include <stddef.h>

enum leaktracer_role {
	LEAKTRACER_ROLE_START,
	LEAKTRACER_ROLE_STOP,
	LEAKTRACER_ROLE_REPORT,
	LEAKTRACER_ROLES,
};

/* Texts are the environment's. */
struct leaktracer_settings {
	bool given; /* any of them is */
	bool banner;
	bool start; /* monitor from the first allocation on */
	bool only_unreachable;
	size_t frames;                 /* 0 = not said */
	int signals[LEAKTRACER_ROLES]; /* 0 = none */
	const char *signal_report;     /* file */
	const char *exit_report;       /* file; NULL = no report */
	int exit_code;                 /* on leaks; 0 = as it is */
};

/* Of this process; constant once main() runs. */
extern struct leaktracer_settings leaktracer_settings;

/*
 * LOOK_UP is getenv() or stands in for it. SAY is told in one line what is
 * wrong with a value, which then counts as not set.
 */
void leaktracer_settings_read(struct leaktracer_settings *settings,
    const char *(*look_up)(const char *name),
    void (*say)(const char *name, const char *value, const char *expected));

#endif
