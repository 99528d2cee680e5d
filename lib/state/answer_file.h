/*
 * The result of at_exit as a binary file, for the command that runs the
 * program: a header, then the entries.
 *
 * The file is read on the same machine during the same run: numbers are in
 * native byte order, and a reader of another build refuses it by its sizes.
 */
#ifndef LIB_STATE_ANSWER_FILE_H
#define LIB_STATE_ANSWER_FILE_H

#include <stdbool.h>
#include <stdint.h>

#include "lib/pipe/answer.h"
#include "lib/state/options.h"
#include "memunreachable/memunreachable.h"

#define MU_ANSWER_MAGIC 0x726577736e61756dull /* "muanswer" */
#define MU_ANSWER_VERSION 6
#define MU_ANSWER_ASK ".ask" /* at the end of a socket's name: forked_end.h */

struct mu_answer_header {
	uint64_t magic;
	uint32_t version;
	uint32_t header_size; /* bytes */
	int32_t pid;
	uint32_t cure; /* index of the remedy in info.reason; 0: none */
	struct UnreachableMemoryInfo info; /* info.leaks is NULL */
	struct mu_pipe_usage usage;
	struct mu_groups_info groups;
	/*
	 * info.num_reported entries and groups.count groups, packed
	 * (lib/pipe/entries.h), follow
	 */
};

/*
 * Write INFO, whose reason has its remedy at CURE, the packed ENTRIES with
 * GROUPS, and USAGE to the file PATH.PID, which is created with mode 0600 and
 * not through a link. Returns false if not all could be written; the file is
 * removed then.
 *
 * Runs in: original.
 */
bool mu_answer_file_write(const char *path,
    const struct UnreachableMemoryInfo *info, size_t cure,
    const struct mu_entries *entries, const struct mu_pipe_usage *usage,
    const struct mu_groups_info *groups);

/*
 * True if mu_answer_file_write() can have written HEADER for process PID to a
 * file of SIZE bytes. Pure.
 */
bool mu_answer_file_check(
    const struct mu_answer_header *header, uint64_t size, int pid);

#endif
