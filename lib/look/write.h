/*
 * Write a saved look (memunreachable-look(5)): the graph while the subject's
 * memory can be read, names and outcome when they are known.
 *
 * Runs in: the command.
 */
#ifndef LIB_LOOK_WRITE_H
#define LIB_LOOK_WRITE_H

#include "heapwalk/heaps/heap.h"
#include "heapwalk/recorded/recorded.h"
#include "heapwalk/refer/locate.h"
#include "heapwalk/roots/roots.h"
#include "lib/look/bytes.h"
#include "lib/symbolize/kept_names.h"

struct mu_report; /* lib/writers/report.h */

/* What is written of a search that has marked. */
struct mu_look_parts {
	const struct mu_snapshot *snap;
	const struct mu_heap *heap;
	const struct mu_roots *roots;
	const struct mu_owners *owners;
	const struct mu_recorder *recorder; /* NULL: there is none */
	const uintptr_t *numbers;           /* words that are kept, too */
	size_t num_numbers;
	struct mu_arena *tables; /* rewound at the end */
};

/* FD, CONTENTS and NAMES are set by the caller; the rest is zero. */
struct mu_look_writer {
	int fd;
	bool contents;              /* all bytes of the blocks, too */
	struct mu_kept_names names; /* recorded since the last reset */
	struct mu_bytes_out out;
	bool written; /* the graph is */
	int error;    /* errno of the first failure; 0: none */
};

/* Write the graph; what an earlier look wrote is replaced. */
void mu_look_write_graph(
    struct mu_look_writer *writer, const struct mu_look_parts *parts);

/*
 * Write names and outcome: the end of the file. If it is not complete the file
 * is empty, and writer->error says why; 0: there was no graph.
 */
void mu_look_write_end(
    struct mu_look_writer *writer, const struct mu_report *report);

/* Accepts one that has written nothing. FD stays open. */
void mu_look_writer_close(struct mu_look_writer *writer);

#endif
