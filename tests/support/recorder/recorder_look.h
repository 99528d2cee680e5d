/*
 * Look at the heap once, in a copy of the process.
 *
 * The copy is a child without an exit signal, which no wait() of the program
 * returns, and has a separate stack, because that of a thread may be small.
 */
#ifndef TESTS_SUPPORT_RECORDER_RECORDER_LOOK_H
#define TESTS_SUPPORT_RECORDER_RECORDER_LOOK_H

#include <sched.h>
#include <sys/resource.h>
#include <sys/stat.h>

#include "lib/state/allocator_freeze.h"
#include "tests/support/heaps/self_snapshot.h"
#include "tests/support/recorder/recorder_compare.h"

#define LOOK_LIMITS 3
static const int look_limits[LOOK_LIMITS] = { RLIMIT_AS, RLIMIT_DATA,
	RLIMIT_NOFILE };

/* What a program took away from itself is not taken from the look. */
static inline void
look_lift_limits(struct rlimit *saved)
{
	struct rlimit lifted;
	size_t i;

	for (i = 0; i < LOOK_LIMITS; i++) {
		getrlimit(look_limits[i], &saved[i]);
		lifted.rlim_cur = lifted.rlim_max = saved[i].rlim_max;
		setrlimit(look_limits[i], &lifted);
	}
}

static inline void
look_restore_limits(const struct rlimit *saved)
{
	size_t i;

	for (i = 0; i < LOOK_LIMITS; i++)
		setrlimit(look_limits[i], &saved[i]);
}

static inline struct look *
look_open(void)
{
	long address = mu_sys_mmap(NULL, sizeof(struct look),
	    PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS);

	return mu_sys_failed(address) ? NULL : (struct look *)address;
}

static inline void
look_close(struct look *look)
{
	mu_sys_munmap(look, sizeof(*look));
}

/*
 * What does not come through the recorder (malloc_trim(), a thread that ends
 * and empties its tcache) holds an arena's mutex. A heap that cannot be frozen
 * is left to the walk to refuse.
 */
static inline void
look_freeze(struct look *look)
{
	struct mu_image *image = &look->image;
	struct mu_snapshot *self = &image->stop.self;

	image->caller = &look->caller;
	image->job.pid = look->pid;
	image->job.tid = mu_sys_gettid();
	image->job.deadline_ns = mu_sys_now_ns() + 30 * MU_NS_PER_SEC;
	mu_arena_open(&image->job.arena, (size_t)1 << 24);
	if (mu_mappings_read(image->job.pid, &self->mappings,
		&self->num_mappings, &image->job.arena,
		&image->job.why) != MU_OK)
		return;
	sscanf(gnu_get_libc_version(), "%u.%u", &self->glibc_major,
	    &self->glibc_minor);
	self->libc_address = (uintptr_t)gnu_get_libc_version;
	mu_memory_self_open(&self->memory, &image->stop.self_memory,
	    self->mappings, self->num_mappings);
	if (mu_allocator_find(image) == MU_OK)
		mu_allocator_freeze(image);
}

static inline void
look_thaw(struct look *look)
{
	mu_allocator_thaw(&look->image);
	close_self(&look->image.stop.self.memory);
	mu_arena_close(&look->image.job.arena);
}

/* All, those that never allocated too: a folder each, and two links more. */
static inline size_t
look_count_threads(void)
{
	struct stat about;

	return stat("/proc/self/task", &about) == 0 ? about.st_nlink - 2 : 0;
}

/* The gate is closed. True: the copy ended by itself. */
static inline bool
look_now(struct look *look)
{
	mu_sigmask mask;
	int status = 0;
	pid_t copy;

	look->pid = mu_sys_getpid();
	look->num_threads = threads_list(look->threads, TOLD_MAX);
	look->row.threads = look_count_threads();
	mu_sys_block_signals(&mask);
	look_freeze(look);
	copy =
	    clone(look_in_copy, look->stack + LOOK_STACK, CLONE_UNTRACED, look);
	look_thaw(look);
	while (copy > 0 && mu_sys_wait(copy, &status, MU_WALL) == -EINTR)
		;
	if (copy < 0 || !look->ended)
		look_say(look, "  %s: %s: the copy ended with %#x\n",
		    look->program, look->when, (unsigned)status);
	mu_sys_restore_signals(&mask);
	return look->ended;
}

#endif
