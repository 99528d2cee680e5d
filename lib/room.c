/*
 * The room for a copy: see lib/room.h.
 *
 * Uses no malloc, no errno, no libc lock.
 */
#include "lib/room.h"

#include <string.h>

#include "mu/procfs.h"
#include "mu/sys.h"
#include "mu/text.h"
#include "ptrace/proc.h"

#define MIB ((size_t)1 << 20)

/* Stacks and tables of a small search. */
#define OWN (4 * MIB)

/*
 * What must stay free while there is a copy: a thread that writes all over its
 * memory makes the kernel copy 1 to 2 GB/s, until the watch gets a CPU on
 * a busy machine, and while the copy's memory is taken down (30 ms a gigabyte).
 * More than all of the private memory cannot be copied.
 */
#define RESERVE_MIN (4 * MIB)
#define RESERVE (64 * MIB)
#define RESERVE_PART 16 /* of the private memory */

/* The next look comes before the fastest writer has used half of the rest. */
#define BYTES_PER_US 8192 /* twice as fast as any was seen */
#define LOOK_MIN_NS (100 * 1000ull)
#define LOOK_MAX_NS (20 * 1000 * 1000ull)

#define GROUPS_SIZE 4096 /* of /proc/PID/cgroup: compared up to here */

#define PREFERRED "1000" /* OOM_SCORE_ADJ_MAX */

static size_t
reserve_of(const struct mu_room *room)
{
	size_t reserve = RESERVE + room->private / RESERVE_PART;

	if (reserve > room->private)
		reserve = room->private;
	return reserve > RESERVE_MIN ? reserve : RESERVE_MIN;
}

static size_t
least_for(const struct mu_room *room)
{
	return room->page_tables + OWN + reserve_of(room);
}

size_t
mu_room_need(const struct mu_room *room)
{
	return least_for(room) + room->private + room->shared + room->mirror;
}

static size_t
status_bytes(const char *status, const char *key)
{
	int64_t kib = mu_proc_status_number(status, key, 0, 10);

	return kib < 0 || kib > INT64_MAX / 1024 ? 0 : (size_t)kib * 1024;
}

void
mu_room_open(struct mu_room *room, pid_t pid)
{
	char path[64], status[MU_PROC_STATUS_SIZE];

	*room = (struct mu_room) { .left = SIZE_MAX };
	mu_headroom_open(&room->headroom, pid);
	mu_text_format(path, sizeof(path), "/proc/%d/status", pid);
	if (mu_procfs_read(path, status, sizeof(status)) <= 0)
		return;
	room->page_tables = status_bytes(status, "\nVmPTE:");
	room->private = status_bytes(status, "\nRssAnon:");
	room->shared = status_bytes(status, "\nRssShmem:");
}

void
mu_room_add_mirror(struct mu_room *room, pid_t pid)
{
	char path[64], own[GROUPS_SIZE], other[GROUPS_SIZE];

	mu_text_format(path, sizeof(path), "/proc/%d/cgroup", pid);
	if (mu_procfs_read("/proc/self/cgroup", own, sizeof(own)) > 0 &&
	    mu_procfs_read(path, other, sizeof(other)) > 0 &&
	    strcmp(own, other) == 0)
		room->mirror = room->private;
}

enum mu_status
mu_room_judge(struct mu_room *room, bool preferred, struct mu_why *why)
{
	size_t most = mu_room_need(room);

	room->left = mu_headroom_left(&room->headroom, most);
	room->tight = room->left < most;
	room->next_ns = 0;
	if (room->left >= (preferred ? least_for(room) : most))
		return MU_OK;
	return mu_room_refuse(room, why);
}

static int
open_score(pid_t pid, int flags)
{
	char path[64];

	mu_text_format(path, sizeof(path), "/proc/%d/oom_score_adj", pid);
	return mu_procfs_open(path, flags);
}

bool
mu_room_can_prefer(pid_t pid)
{
	int fd = open_score(pid, O_RDWR);
	char score[16] = PREFERRED;

	if (fd >= 0)
		mu_sys_read(fd, score, sizeof(score));
	mu_sys_close(&fd);
	return strncmp(score, PREFERRED, strlen(PREFERRED)) != 0;
}

/* Of the copy alone: it shares its memory with no other process. */
void
mu_room_prefer(pid_t copy)
{
	int fd = open_score(copy, O_WRONLY);

	if (fd >= 0)
		mu_sys_write(fd, PREFERRED, strlen(PREFERRED));
	mu_sys_close(&fd);
}

bool
mu_room_is_short(struct mu_room *room)
{
	size_t reserve = reserve_of(room), spare;
	uint64_t now = mu_sys_now_ns(), nap_ns = LOOK_MAX_NS;

	if (now < room->next_ns)
		return false;
	room->left = mu_headroom_left(&room->headroom, reserve);
	if (room->left < reserve)
		return true;
	spare = (room->left - reserve) / 2 / BYTES_PER_US;
	if (spare < LOOK_MAX_NS / 1000)
		nap_ns = spare * 1000;
	room->next_ns = now + (nap_ns > LOOK_MIN_NS ? nap_ns : LOOK_MIN_NS);
	return false;
}

enum mu_status
mu_room_refuse(const struct mu_room *room, struct mu_why *why)
{
	size_t in_groups =
	    mu_headroom_left_in_groups(&room->headroom, SIZE_MAX);

	return mu_why(why, MU_ERR_NO_MEMORY,
	    "the %s has %zu MiB left, a check needs about %zu MiB",
	    in_groups <= room->left || in_groups < mu_room_need(room)
		? "container"
		: "machine",
	    room->left / MIB, (mu_room_need(room) + MIB - 1) / MIB);
}

void
mu_room_close(struct mu_room *room)
{
	mu_headroom_close(&room->headroom);
}
