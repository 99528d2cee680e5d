/*
 * The looks of an earlier watch, from the lines that it or a program's own
 * watch (option looks_path) has written: lib/watch/lines.h.
 *
 * Runs in: the command.
 */
#ifndef LIB_WATCH_REPLAY_H
#define LIB_WATCH_REPLAY_H

#include <stdio.h>

#include "lib/watch/look.h"

struct mu_replay {
	const char *path;
	FILE *file;
	char *line; /* of SIZE bytes */
	size_t size, number;
	uint64_t mono_ns; /* of the latest look */
};

/* Close in any case. */
enum mu_status mu_replay_open(
    struct mu_replay *replay, const char *path, struct mu_why *why);
void mu_replay_close(struct mu_replay *replay);

/*
 * Fill in the next LOOK, without groups. Lines without a look, as that of a
 * verdict, are skipped. MU_OK with *FOUND false: there is none. An error names
 * the line; a last line without an end is that of a program that was killed,
 * and is skipped.
 */
enum mu_status mu_replay_next(struct mu_replay *replay,
    struct mu_watch_look *look, bool *found, struct mu_why *why);

#endif
