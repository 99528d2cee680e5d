/*
 * The memory that a copy of a process may take from it. The pages that the
 * process writes while the copy lives are copied by the kernel and charged to
 * the process's own memory group: where the group is nearly full, the OOM
 * killer runs. So its headroom is compared with the need before there is a
 * copy, and watched while there is one.
 *
 * Runs in: original, keeper.
 */
#ifndef LIB_STATE_ROOM_H
#define LIB_STATE_ROOM_H

#include <stdbool.h>
#include <stdint.h>

#include "heapwalk/memory/headroom.h"
#include "mu/status.h"

struct mu_room {
	struct mu_headroom headroom;
	pid_t pid;
	size_t tables;  /* bytes: a copy needs its own */
	size_t private; /* bytes that may be copied by being written */
	size_t shared;  /* bytes of shared memory, which are copied, too */
	size_t pooled;  /* bytes in huge pages of the kernel's pool */
	size_t own;     /* bytes that the search itself needs */
	size_t reader;  /* bytes that who reads the copy takes, or rather may
			   take */
	size_t reader_least; /* of these, at least */
	bool apart;       /* OWN and READER are charged elsewhere, to no group
			     that limits the process */
	bool traced;      /* a copy that is killed stops, with its memory */
	unsigned active;  /* how much the process runs; MU_ROOM_ACTIVE: a
			     thread does all the time, or nothing is known */
	size_t left;      /* bytes, when last looked at */
	size_t need;      /* bytes that would have been enough */
	bool tight;       /* less is left than the copy may need at worst */
	uint64_t next_ns; /* when to look again */
};

#define MU_ROOM_ACTIVE 256u

/*
 * Read the limits of process PID, which searches a copy of itself. Call
 * mu_room_close() in any case. A limit that cannot be read does not count.
 */
void mu_room_open(struct mu_room *room, pid_t pid);

/* The same, for who has read STATUS, that of PID or of a thread of it. */
void mu_room_open_with(struct mu_room *room, pid_t pid, const char *status);

/*
 * Add the needs of the calling process, which is another one than the process
 * that is checked: memory for what it reads (heapwalk/memory/remote_window.h)
 * and for its tables. They count if the same cgroup limits both.
 */
void mu_room_add_reader(struct mu_room *room);

/*
 * Decide whether a copy may be made. PREFERRED: the OOM killer takes the copy
 * before the process (mu_room_prefer). MU_OK, or MU_ERR_NO_MEMORY with both
 * numbers.
 *
 * What must stay free is as much as the process can write before the copy is
 * gone. Where that is not there, this takes 20 ms, to see how much it runs.
 *
 * No copy where a fork would share private pages of the pool of huge pages
 * (MAP_HUGETLB). At the next write the kernel needs one more of these, for
 * which there is mostly none: the process gets SIGBUS, or, if it has reserved
 * the memory, the copy loses the page (hugetlb_wp() in mm/hugetlb.c). Nor of
 * another process whose group is not seen, or may hardly start any more
 * threads: MU_ERR_RESOURCES.
 */
enum mu_status mu_room_judge(
    struct mu_room *room, bool preferred, struct mu_why *why);

/*
 * True if the OOM killer can be made to prefer the copy of process PID. Not if
 * the process itself has the highest score, or may not write there: it is not
 * dumpable.
 */
bool mu_room_can_prefer(pid_t pid);

/* The OOM killer shall take process COPY before all others. */
void mu_room_prefer(pid_t copy);

/*
 * True if so little is left that the copy must be ended. Reads the limits only
 * at room->next_ns, more often the less is left.
 */
bool mu_room_is_short(struct mu_room *room);

/* Bytes that a check needs at worst: the program writes all of its memory. */
size_t mu_room_need(const struct mu_room *room);

/* "the container has 20 MiB left, a check needs about 150 MiB" */
enum mu_status mu_room_refuse(const struct mu_room *room, struct mu_why *why);

/* Accepts one that was never opened, if headroom.meminfo is -1. */
void mu_room_close(struct mu_room *room);

#endif
