/*
 * All access to the subject: a stopped process (our own image, another process,
 * or a core file) as threads, mappings and memory.
 *
 * heapwalk/ owns this type and sees nothing else; ptrace/ fills it. Every byte
 * that comes through it is hostile until checked.
 *
 * Runs in: any.
 */
#ifndef HEAPWALK_SUBJECT_SNAPSHOT_H
#define HEAPWALK_SUBJECT_SNAPSHOT_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "heapwalk/subject/reach.h"
#include "mu/range.h"

struct mu_workers;
struct mu_saved; /* heapwalk/subject/saved.h */

struct mu_thread {
	pid_t tid;
	uintptr_t sp;       /* stack pointer; 0 = unknown, no live stack */
	uintptr_t pc;       /* program counter; 0 = unknown */
	uintptr_t tp;       /* thread pointer (x86-64: fs base); 0 = none */
	size_t first_value; /* index into snapshot->values */
	size_t num_values;  /* register words, general and vector */
	bool calling;       /* asked for the pass, so it is not in malloc */
	long call; /* number of the system call that it is in; -1: none, or not
		      known */
	uintptr_t argument; /* of that, the first; in no call any word */
};

/*
 * One line of /proc/PID/maps:
 *	7f1c2a5d5000-7f1c2a629000 r--p 001a1000 fe:01 4325  /usr/lib/libc.so.6
 *	range                     prot offset   dev   inode name
 */
struct mu_mapping {
	struct mu_range range;
	bool readable, writable, executable, shared;
	uint64_t offset; /* bytes into the file */
	unsigned dev_major, dev_minor;
	uint64_t inode;   /* 0 = no file */
	const char *name; /* "" if the line has none; never NULL */
};

struct mu_memory;

struct mu_memory_ops {
	const char *name; /* "self", "process", "core" */

	/*
	 * View SIZE bytes of the subject at ADDRESS; NULL unless all of them
	 * can be read. Valid until the snapshot is released. Pages that turn
	 * out to be unreadable read as zeros and are counted in skipped_pages.
	 * Any alignment.
	 */
	const void *(*view)(
	    struct mu_memory *memory, uintptr_t address, size_t size);

	/*
	 * The same for a few bytes anywhere, for following lists: a view, or a
	 * copy in BUFFER. If NULL, use view().
	 */
	const void *(*peek)(struct mu_memory *memory, uintptr_t address,
	    size_t size, void *buffer);

	/*
	 * Copy RANGE, whole pages for which view() works, to BUFFER, for memory
	 * that is read in order and once. Any thread may call it. Returns false
	 * if RANGE is empty or present: use view(). If NULL, that is always so.
	 */
	bool (*read)(
	    struct mu_memory *memory, struct mu_range range, void *buffer);

	/*
	 * The first part of RANGE that may have anything but zeros or
	 * unmodified file contents; whole pages, clipped to RANGE, never too
	 * small. Returns false if there is none.
	 */
	bool (*populated)(struct mu_memory *memory, struct mu_range range,
	    struct mu_range *part);

	/*
	 * Make the contents of MAPPING, anonymous memory that the program has
	 * made inaccessible, available to view(). Returns false if there are
	 * none; if NULL, that is always so.
	 */
	bool (*unlock)(
	    struct mu_memory *memory, const struct mu_mapping *mapping);
};

struct mu_memory {
	const struct mu_memory_ops *ops;
	size_t page_size;
	size_t skipped_pages; /* mapped readable, but not readable */
	size_t closed_pages;  /* those that the subject cannot read either */
	bool blind; /* populated() knows nothing and returns all of RANGE */
	bool fresh; /* a fork, whose pages were not read before */
	void *ctx;
};

/*
 * A heap of the program: see struct MemunreachableHeap in the public header.
 * All functions but iterate may be NULL.
 */
struct mu_program_heap {
	char name[32];
	int (*iterate)(uintptr_t base, size_t size,
	    void (*callback)(uintptr_t base, size_t size, void *arg),
	    void *arg);
	void (*disable)(void);
	void (*enable)(void);
	ptrdiff_t (*backtrace)(void *pointer, uintptr_t *frames, size_t count);
	int (*memory)(void (*callback)(uintptr_t base, size_t size, void *arg),
	    void *arg);
};

struct mu_snapshot {
	pid_t pid;
	struct mu_thread *threads;
	size_t num_threads;
	uintptr_t *values; /* words of all threads' registers */
	size_t num_values;
	uint16_t *regnos; /* of each value: mu/arch/register_names.h; or NULL */

	/*
	 * The first thread has ended before others: where its frames began, on
	 * [stack]. 0: it has not, or that is not known.
	 */
	uintptr_t ended_frames;

	struct mu_mapping *mappings; /* by address, no overlaps */
	size_t num_mappings;

	struct mu_memory memory;

	/* Words that only the kernel holds: epoll data, timer values. */
	uintptr_t *kernel_values;
	size_t num_kernel_values;
	bool knows_stacks; /* they include the threads' alternate stacks */

	/* Our own memory, which is not searched; by address, may overlap. */
	struct mu_range *own;
	size_t num_own;

	/*
	 * Address of a recorder's struct mu_recorded; 0: search for it. A
	 * recorder's tables hold no pointers and are not searched; any order.
	 */
	uintptr_t recorded;
	bool unrecorded; /* there is no recorder */
	const struct mu_range *tables;
	size_t num_tables;

	/*
	 * Heaps that the program registered. NULL: their functions cannot be
	 * called because the subject is another process.
	 */
	const struct mu_program_heap *program_heaps;
	size_t num_program_heaps;

	/* Roots that the program registered. */
	struct mu_range *root_regions;
	size_t num_root_regions;
	uintptr_t *root_values; /* ignored objects, words of root providers */
	size_t num_root_values;

	const struct mu_saved *saved; /* of a saved look; NULL: it is none */

	struct mu_reach reach; /* which places and words count */

	/* Threads that share the reading; NULL: the calling thread only. */
	struct mu_workers *workers;

	/*
	 * malloc is not frozen: a thread may be in the middle of a change. A
	 * locked arena is then one that is being changed.
	 */
	bool unfrozen;
	bool only_moment; /* this snapshot cannot be taken again, or others were
			     no better */

	/* See mu_reference_by_header(). */
	bool no_headers;

	/* The C library: "2.36" is 2, 36; 0, 0 = unknown. */
	unsigned glibc_major, glibc_minor;
	bool glibc_inferred; /* inferred: believed only if everything fits */
	/* Any address inside libc's text; 0: find it by name. */
	uintptr_t libc_address;

	/*
	 * The function that the program's calls of malloc lead to, 0 = unknown;
	 * and, if it may not be glibc's, blocks that it returned
	 * (lib/state/malloc_probe.h).
	 */
	uintptr_t malloc_address;
	const uintptr_t *probes;
	size_t num_probes;
};

/*
 * The one of COUNT mappings, sorted by address, that holds ADDRESS, or the next
 * one, or NULL.
 */
const struct mu_mapping *mu_mapping_from(
    const struct mu_mapping *mappings, size_t count, uintptr_t address);

/* The mapping that holds ADDRESS, by binary search, or NULL. */
const struct mu_mapping *mu_snapshot_mapping(
    const struct mu_snapshot *snap, uintptr_t address);

/*
 * RANGE belongs to the heap: make anonymous mappings in it that the program has
 * made inaccessible (mprotect() of pages inside a block) readable from now on,
 * as a whole, if the memory has their contents.
 */
void mu_snapshot_unlock(const struct mu_snapshot *snap, struct mu_range range);

/* True if RANGE overlaps memory of our own. */
bool mu_snapshot_is_own(const struct mu_snapshot *snap, struct mu_range range);

/* View of a whole object of the subject; NULL if not readable. */
static inline const void *
mu_snapshot_view(const struct mu_snapshot *snap, uintptr_t address, size_t size)
{
	struct mu_memory *memory = (struct mu_memory *)&snap->memory;

	return memory->ops->view(memory, address, size);
}

/* The same, perhaps in BUFFER: see peek() above. */
static inline const void *
mu_snapshot_peek(const struct mu_snapshot *snap, uintptr_t address, size_t size,
    void *buffer)
{
	struct mu_memory *memory = (struct mu_memory *)&snap->memory;

	return memory->ops->peek == NULL
	    ? memory->ops->view(memory, address, size)
	    : memory->ops->peek(memory, address, size, buffer);
}

/* One word of the subject; false if it cannot be read. */
static inline bool
mu_snapshot_word(
    const struct mu_snapshot *snap, uintptr_t address, uintptr_t *word)
{
	const void *view = mu_snapshot_peek(snap, address, sizeof(*word), word);

	if (view == NULL)
		return false;
	if (view != word)
		__builtin_memcpy(word, view, sizeof(*word));
	return true;
}

#endif
