/*
 * Find the malloc blocks of this process that nothing points to any more.
 *
 * A pass stops the process for the length of a fork, then marks and sweeps the
 * copy-on-write image while the process runs on, and reports every block of
 * the stock glibc heap that no root reaches. Between passes the library costs
 * nothing: it has no thread, no signal handler and no open file. See
 * memunreachable(7).
 *
 * Sizes are in bytes, times in nanoseconds, addresses are of this process.
 *
 * Threads: every function may be called from any thread at any time. One pass
 * runs at a time: a second caller waits for the first pass to end, at most as
 * long as the option timeout says. A call from within a pass (from a root
 * provider, or from a signal handler that interrupted a pass) fails with
 * MEMUNREACHABLE_BUSY. Do not call from a signal handler that interrupted
 * malloc in the same thread: the call fails with MEMUNREACHABLE_BUSY or
 * MEMUNREACHABLE_HEAP_INCONSISTENT, possibly only after the timeout.
 *
 * In C++ this header also declares Android's classes and functions, in
 * namespace android, inline over the C ABI.
 */
#ifndef MEMUNREACHABLE_MEMUNREACHABLE_H
#define MEMUNREACHABLE_MEMUNREACHABLE_H

#include <features.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifndef __GLIBC__
#error "memunreachable reads the heap of glibc; this is another C library"
#endif
#ifndef __LP64__
#error "memunreachable is for 64-bit programs only"
#endif

/* How a pass ended. Values never change; new ones are added at the end. */
enum MemunreachableStatus {
	MEMUNREACHABLE_COMPLETE = 0, /* every block was checked */
	MEMUNREACHABLE_PARTIAL = 1,  /* reason says what was left out */
	/* The heap was not checked: */
	MEMUNREACHABLE_BAD_ARGUMENT = 2, /* NULL info, version not 0 */
	MEMUNREACHABLE_BUSY = 3,         /* within a pass, or within malloc */
	MEMUNREACHABLE_TIMEOUT = 4,
	MEMUNREACHABLE_NO_MEMORY = 5,
	MEMUNREACHABLE_NO_RESOURCES = 6, /* no descriptor or no process */
	MEMUNREACHABLE_PTRACE_YAMA = 7,
	MEMUNREACHABLE_PTRACE_SECCOMP = 8,
	MEMUNREACHABLE_NOT_DUMPABLE = 9,
	MEMUNREACHABLE_ALREADY_TRACED = 10,
	MEMUNREACHABLE_NO_PERMISSION = 11,
	MEMUNREACHABLE_NO_PROC = 12, /* /proc is missing or hidden */
	MEMUNREACHABLE_FOREIGN_ALLOCATOR = 13,
	MEMUNREACHABLE_HEAP_INCONSISTENT = 14,
	MEMUNREACHABLE_UNKNOWN_GLIBC = 15,
	MEMUNREACHABLE_HELPER_DIED = 16, /* collector or sweeper */
	MEMUNREACHABLE_TARGET_GONE = 17,
	MEMUNREACHABLE_SIGNALS_BLOCKED = 18, /* by a thread, and the option
						stop excludes ptrace */
};

/* How the threads were stopped. New values are added at the end. */
enum MemunreachableStop {
	MEMUNREACHABLE_STOP_NONE = 0,   /* no thread was stopped */
	MEMUNREACHABLE_STOP_PTRACE = 1, /* by a process that traces them */
	MEMUNREACHABLE_STOP_SIGNAL = 2, /* in a signal handler, as ptrace was
					   refused or the option stop says */
};

#define MEMUNREACHABLE_MAX_FRAMES 16
#define MEMUNREACHABLE_CONTENTS_LENGTH 32

/* Where a reference lies. New kinds are added at the end. */
enum MemunreachableReferenceKind {
	MEMUNREACHABLE_REFERENCE_GLOBAL = 1, /* variable of a module */
	MEMUNREACHABLE_REFERENCE_STACK = 2,  /* stack of another thread */
	MEMUNREACHABLE_REFERENCE_CALLER = 3, /* stack of the calling thread */
	MEMUNREACHABLE_REFERENCE_REGISTER = 4,
	MEMUNREACHABLE_REFERENCE_TLS = 5, /* __thread, pthread_setspecific() */
	MEMUNREACHABLE_REFERENCE_MAPPING = 6, /* other memory of the program */
	MEMUNREACHABLE_REFERENCE_ROOT_REGION = 7, /* a registered root region */
	MEMUNREACHABLE_REFERENCE_ROOT_VALUE = 8,  /* the block is ignored, or
						     of a root provider */
	MEMUNREACHABLE_REFERENCE_KERNEL = 9, /* epoll data, value of a timer */
	MEMUNREACHABLE_REFERENCE_BLOCK = 10, /* malloc block */
};

/* memunreachable_why_reachable() describes at most this many references. */
#define MEMUNREACHABLE_MAX_REFERENCES 65536

/* One word that points into a block. Fields that do not apply are 0 or "". */
struct MemunreachableReference {
	int kind;          /* enum MemunreachableReferenceKind */
	int thread;        /* tid of the thread whose stack, register or
			      variable it is */
	uintptr_t address; /* of the word; 0 in a register, in the kernel, and
			      for a root value */
	uintptr_t value;   /* the word */
	ptrdiff_t into;    /* value minus the first byte of the block; negative
			      if it points to the malloc header before the
			      block, which counts where malloc keeps no other
			      pointer */
	ptrdiff_t offset;  /* of the word: from the module's load address
			      (GLOBAL: what addr2line takes), from the stack
			      pointer (STACK, CALLER), from the thread pointer
			      (TLS), else from begin */
	uintptr_t begin;   /* of the block, root region or mapping that holds
			      the word */
	size_t size;       /* of the same; of a block: usable bytes */
	bool reachable;    /* false: in a block that is itself unreachable */
	char name[23];     /* of the register: "rbx", "xmm3 word 0" */
	const char *path;  /* module, or name of the mapping; never NULL; valid
			      in the callback only */
	size_t reserved[8];
};

/*
 * REFERENCE is valid until the function returns. Returning false ends the
 * enumeration.
 */
typedef bool (*memunreachable_reference_fn)(
    void *ctx, const struct MemunreachableReference *reference);

/* The library itself is compiled with -fvisibility=hidden. */
#ifndef __cplusplus
#pragma GCC visibility push(default)

struct LeakBacktrace {
	size_t num_frames; /* 0 if no stack was recorded */
	uintptr_t frames[MEMUNREACHABLE_MAX_FRAMES]; /* a module that dlclose()
			has unloaded is numbered in the bits above 47 */
	size_t num_more;       /* recorded frames that follow */
	const uintptr_t *more; /* those frames, valid until the report is
				  freed; NULL in copies made by C++ */
	size_t cut;            /* 1: the recorder kept no more frames; the
				  stack may be deeper */
	size_t reserved[5];
};

/* One entry: a leaked block, what leaked with it, and similar entries. */
struct Leak {
	uintptr_t begin; /* first byte, as malloc returned it */
	size_t size;     /* usable bytes: at least what was requested */
	size_t referenced_count, referenced_size; /* unreachable blocks that
						     this one leads to */
	size_t similar_count, similar_size; /* further entries with the same
					       backtrace, merged into this */
	size_t similar_referenced_count, similar_referenced_size;
	size_t total_size; /* sum of the four sizes; entries are sorted by it */
	unsigned char contents[MEMUNREACHABLE_CONTENTS_LENGTH]; /* the first
				min(size, 32) bytes, then zeros */
	struct LeakBacktrace backtrace;
	size_t reserved[8];
};

/* The result of one pass. */
struct UnreachableMemoryInfo {
	struct Leak *leaks;  /* owned; see FreeUnreachableMemoryInfo() */
	size_t num_reported; /* entries in leaks, at most the limit */
	size_t num_leaks;    /* ALL unreachable blocks, whatever the limit */
	size_t leak_bytes;
	size_t num_allocations; /* all live blocks */
	size_t allocation_bytes;
	size_t version; /* set by the caller: must be 0 */
	int status;     /* enum MemunreachableStatus */
	/*
	 * The cause as text. With MEMUNREACHABLE_COMPLETE: "", or which
	 * options (such as use_stacks=0) made this answer differ from the
	 * usual one, or that an unknown release of glibc was read with the
	 * layout of a neighbouring one.
	 */
	char reason[256];
	uint64_t pause_ns;  /* how long threads were stopped, or the signals of
			       a program's only thread were blocked; the
			       longest such time if there were several */
	uint64_t total_ns;  /* from call to return */
	size_t num_threads; /* stopped threads and the calling one */
	int stop;           /* enum MemunreachableStop */
	unsigned tries;     /* how often the threads were stopped */
	/*
	 * The number of entries whatever the limit (0 with a limit of 0: no
	 * entries are made then), and the unreachable blocks that no entry in
	 * leaks covers. Here each block counts once; the figures of an entry
	 * count a block in every entry that leads to it.
	 */
	size_t num_entries, unreported_leaks, unreported_bytes;
	/*
	 * Smallest and largest usable size of the first block of an entry
	 * without a backtrace, whatever the limit; both 0 if there is none.
	 */
	size_t unrecorded_min, unrecorded_max;
	size_t sample_bytes; /* if stacks were sampled: one block in about this
				many bytes has one; otherwise 0 */
};

/*
 * Run a pass. Zero INFO before the first use (version is read). At most LIMIT
 * entries are returned in info->leaks, sorted by total_size, ties by address;
 * the totals always count everything.
 *
 * Returns true if the heap was checked: status is MEMUNREACHABLE_COMPLETE or
 * MEMUNREACHABLE_PARTIAL. Otherwise false: status and reason say why, and the
 * totals are zero. Prints nothing unless the option verbosity is 1 or more.
 *
 * Later passes do not search info->leaks. If the caller copies the addresses
 * elsewhere, these copies are references and hide the leaks from later passes:
 * see memunreachable_unsearched_alloc().
 */
bool GetUnreachableMemory(struct UnreachableMemoryInfo *info, size_t limit);

struct MemunreachableCheckpoint;

/*
 * The same for what became unreachable since CHECKPOINT; see
 * memunreachable_checkpoint(). Blocks of the checkpoint count as allocations
 * only. NULL: everything counts.
 */
bool GetNewUnreachableMemory(struct UnreachableMemoryInfo *info,
    const struct MemunreachableCheckpoint *checkpoint, size_t limit);

/* Release info->leaks and zero INFO. INFO may be NULL or zeroed. */
void FreeUnreachableMemoryInfo(struct UnreachableMemoryInfo *info);

/*
 * Run a pass and return its report as text, or the reason why there is none.
 * free() the result; NULL only if malloc fails. LOG_CONTENTS shows the first
 * 32 bytes of each block (heap contents may be secrets).
 */
char *GetUnreachableMemoryString(bool log_contents, size_t limit);

#else /* __cplusplus */
#include "memunreachable/memunreachable_cxx.h"
#pragma GCC visibility push(default)
#endif

#ifdef __cplusplus
extern "C" {
#endif

/*
 * Run a pass and log it to stderr or where the options say: the totals, then
 * one record for each leak; with the option verbosity at 1 or more, the steps
 * of the pass first. Returns false if the pass failed; the log says why. Uses
 * no malloc.
 */
bool LogUnreachableMemory(bool log_contents, size_t limit);

/*
 * True only if a pass checked the whole heap and found nothing unreachable.
 * Before it returns false it logs the report (at most 10 entries) or why it
 * could not check, so that a failed assertion explains itself.
 */
bool NoLeaks(void);

/*
 * NoLeaks() for callers with a large stack frame, such as a test listener that
 * formats messages. Stack slots that a frame has not written yet still hold
 * what returned functions left there, and such stale pointers hide leaks. Of
 * the calling thread, only its registers and the stack at FRAME and above are
 * searched.
 *
 * Pass __builtin_frame_address(0) of the calling function: its own variables
 * are then skipped, and all of its callers are searched. With the frame of an
 * outer caller, registers of that caller which the functions in between have
 * saved are skipped too. A FRAME below the stack pointer, or in another stack,
 * has no effect.
 */
bool memunreachable_no_leaks_from(const void *frame);

/*
 * Call in the last handler of atexit(): later passes of this thread search its
 * stack from the caller of exit() on. Frames of libc and of the handler lie
 * where those of main() were, and hold old pointers.
 */
void memunreachable_at_exit(void);

/*
 * A checkpoint is what is unreachable now. With one, later passes report only
 * what became unreachable since, so that each test answers for its own leaks. A
 * block is the same if its address, its size and its first 8 bytes are.
 *
 * memunreachable_checkpoint() runs a pass. It returns NULL if the heap was not
 * checked, and logs why. A checkpoint takes 24 bytes for each unreachable
 * block, in memory that passes do not search. Several threads may use it at a
 * time, children of fork() have a copy. memunreachable_checkpoint_free() takes
 * NULL, too.
 */
struct MemunreachableCheckpoint *memunreachable_checkpoint(void);
void memunreachable_checkpoint_free(
    struct MemunreachableCheckpoint *checkpoint);

/*
 * NoLeaks() for what became unreachable since CHECKPOINT. If that is NULL, as
 * after a failed checkpoint, everything counts.
 */
bool NoNewLeaks(const struct MemunreachableCheckpoint *checkpoint);

/*
 * Do not report the block that P points into, nor the blocks it leads to,
 * until memunreachable_unignore_object() is called with the same P. A block
 * that is freed and allocated again at that address stays ignored. Returns
 * false if P is NULL or memory is exhausted.
 */
bool memunreachable_ignore_object(const void *p);
bool memunreachable_unignore_object(const void *p);

/*
 * From memunreachable_disable() to memunreachable_enable() the blocks that the
 * calling thread allocates are not reported, nor what they lead to, by this or
 * any later pass, also from outside. Calls nest. In C++ there is
 * memunreachable::ScopedDisabler.
 *
 * Needs the recorder, which alone knows when a block was allocated: preload
 * libmemunreachable-malloc-debug.so.0, or link it before libc. Without an
 * option it does nothing until the first call; from then on each block has an
 * entry of four bytes, without a stack. Both return false, and have no effect,
 * if the recorder is not there or out of memory; memunreachable_enable() also
 * if the thread is not disabled.
 */
bool memunreachable_disable(void);
bool memunreachable_enable(void);

/*
 * Search the SIZE bytes at P for pointers in every pass, for memory that a
 * pass does not search otherwise. Unregister with the same P and SIZE, as
 * often as the region was registered. Returns false for an empty region, for
 * one that is not registered, or if memory is exhausted.
 */
bool memunreachable_register_root_region(const void *p, size_t size);
bool memunreachable_unregister_root_region(const void *p, size_t size);

/*
 * A root provider supplies further references, for pointers that only a device
 * or another process holds. Each pass calls it at the start, in the thread
 * that called for the pass, before any thread is stopped. PROVIDER writes up
 * to MAX words (addresses that count as references) to WORDS and returns how
 * many it has. If that is more than MAX it is called again with more room; a
 * negative result is logged, and the pass continues. Unregister with the same
 * pair.
 *
 * A pass that a signal triggers calls PROVIDER in the signal handler while
 * other threads run: it must be async-signal-safe then.
 */
typedef ptrdiff_t (*memunreachable_root_provider)(
    void *ctx, uintptr_t *words, size_t max);
bool memunreachable_register_root_provider(
    memunreachable_root_provider provider, void *ctx);
bool memunreachable_unregister_root_provider(
    memunreachable_root_provider provider, void *ctx);

/*
 * A heap that the program provides, such as a pool with its own memory. The
 * functions have the names and the meaning of those in Android's malloc. Blocks
 * of this heap are checked and reported like those of malloc.
 *
 * The heap's memory must not come from malloc: blocks that lie inside a malloc
 * block are not checked, and the answer is MEMUNREACHABLE_PARTIAL. The memory
 * must be inherited by fork() (no MADV_DONTFORK, no MADV_WIPEONFORK).
 */
struct MemunreachableHeap {
	const char *name; /* shown in messages (first 31 bytes); may be NULL */

	/*
	 * Call CALLBACK with ARG for every live block that begins in the SIZE
	 * bytes at BASE. Returns 0, or an error, which makes the answer
	 * partial. Runs in a copy of the process, in which there is no other
	 * thread, after malloc_disable(): it must not allocate, lock, wait,
	 * fork or leave by longjmp(), has 64 KiB of stack, and what it writes
	 * is lost.
	 */
	int (*malloc_iterate)(uintptr_t base, size_t size,
	    void (*callback)(uintptr_t base, size_t size, void *arg),
	    void *arg);

	/*
	 * Both may be NULL. They keep the heap unchanged from the return of
	 * malloc_disable() to the call of malloc_enable(), some milliseconds
	 * later; usually they lock and unlock a mutex. They run in the thread
	 * that asks for the pass, with all signals blocked, perhaps several
	 * times. There is no deadline, so do not ask for a pass while holding
	 * that mutex, nor in a signal handler that may interrupt its holder.
	 */
	void (*malloc_disable)(void);
	void (*malloc_enable)(void);

	/*
	 * May be NULL. Write the innermost frames of the call that allocated
	 * POINTER, the first byte of a block, to FRAMES, at most FRAME_COUNT.
	 * Returns how many; 0 if the block does not belong to this heap. Runs
	 * in the same copy of the process as malloc_iterate().
	 */
	ptrdiff_t (*malloc_backtrace)(
	    void *pointer, uintptr_t *frames, size_t frame_count);

	/*
	 * May be NULL; Android has no such function. Call CALLBACK with ARG for
	 * each range of memory that holds blocks of this heap and no other data
	 * of the program. The parts of these ranges outside any block, such as
	 * freed blocks, are then not searched for pointers. Memory that is not
	 * mapped makes the answer partial. The rules of malloc_iterate() apply.
	 */
	int (*memory)(void (*callback)(uintptr_t base, size_t size, void *arg),
	    void *arg);
};

/*
 * List HEAP in every pass of this process. HEAP is copied. Unregister with the
 * same contents, before dlclose() unloads its functions: a fault in
 * malloc_iterate() ends a pass with MEMUNREACHABLE_HELPER_DIED, and a fault in
 * malloc_disable() kills the program. Returns false if malloc_iterate is NULL
 * or belongs to another registered heap, if HEAP is not registered, or if
 * memory is exhausted.
 *
 * A tool that looks at this process from outside, such as memunreachable -p,
 * cannot call these functions. Its answer is then MEMUNREACHABLE_PARTIAL, and
 * every block that the memory of these heaps refers to counts as reachable.
 */
bool memunreachable_register_heap(const struct MemunreachableHeap *heap);
bool memunreachable_unregister_heap(const struct MemunreachableHeap *heap);

/*
 * A program that is linked to the library may define this function: its text
 * has options as MEMUNREACHABLE_OPTIONS, which wins. It is called when the
 * library is loaded, before the program's constructors.
 */
const char *memunreachable_default_options(void);

/*
 * Write a report to the log whenever SIGNO arrives, even if the process is idle
 * or inside malloc: the pass runs beside the interrupted thread. An earlier
 * handler is called as well. Returns false and sets errno if SIGNO cannot be
 * caught or memory is exhausted. Repeated calls for one signal are harmless.
 */
bool memunreachable_watch_signal(int signo);

/* What a watch says of its looks. New verdicts are added at the end. */
enum MemunreachableVerdict {
	MEMUNREACHABLE_VERDICT_UNCHECKED = 0, /* no look checked the heap */
	MEMUNREACHABLE_VERDICT_TOO_FEW = 1,   /* fewer than four did */
	MEMUNREACHABLE_VERDICT_STEADY = 2,
	MEMUNREACHABLE_VERDICT_FRAGMENTATION =
	    3,                             /* what malloc holds free
                         grows, and the heap with it; live bytes do not */
	MEMUNREACHABLE_VERDICT_GROWTH = 4, /* live bytes grow */
	MEMUNREACHABLE_VERDICT_LEAK = 5,   /* lost bytes grow */
};

/* One look of a watch. */
struct MemunreachableLook {
	size_t number;      /* 1 for the first one */
	int status;         /* enum MemunreachableStatus */
	const char *reason; /* as in struct UnreachableMemoryInfo; valid until
			       the callback returns */
	int verdict;        /* of the looks up to this one */
	double bytes_per_hour; /* by which it grows, if the verdict says so */
	size_t live_bytes, live_blocks, lost_bytes, lost_blocks;
	size_t free_bytes; /* that malloc holds */
	uint64_t pause_ns;
	size_t reserved[8];
};

/* LOOK is valid until the function returns. */
typedef void (*memunreachable_watch_fn)(
    void *ctx, const struct MemunreachableLook *look);

/*
 * Look at this process again and again, and say what grows. A helper thread,
 * which blocks all signals, runs a pass every INTERVAL_MS, or later if the
 * stops would take more than 1 % of the time, and calls CALLBACK, which may be
 * NULL, with CTX. A child of fork() begins a watch of the same kind, as its
 * looks are at another process.
 *
 * There is one watch at a time. memunreachable_watch_start() returns false and
 * sets errno to EBUSY if there is one, to EINVAL if INTERVAL_MS is 0, to ENOSYS
 * if the program has no threads (glibc before 2.34 without -lpthread), and else
 * as pthread_create() fails. The first look is after one interval.
 *
 * memunreachable_watch_stop() waits for the end of the look and the callback
 * that are under way, unless the callback calls it. Returns false if there was
 * no watch.
 */
bool memunreachable_watch_start(
    uint64_t interval_ms, memunreachable_watch_fn callback, void *ctx);
bool memunreachable_watch_stop(void);

/* The verdict of all looks of this watch, or of the last one if it ended. */
int memunreachable_watch_verdict(void);

/* "leak", "growth", "fragmentation", "steady", "too few looks", "unchecked" */
const char *memunreachable_verdict_name(int verdict);

/*
 * List the references to the block that P points into. Runs a pass and calls
 * CALLBACK (which may be NULL) for each reference that a pass counts: first
 * those in roots, by address; then those in registers and the kernel; then
 * those in other blocks, by address; at most MEMUNREACHABLE_MAX_REFERENCES. A
 * word in a root region is listed a second time as part of its variable or
 * block.
 *
 * Returns the number of references. 0 means that the block is unreachable: a
 * leak. If all references lie in unreachable blocks it is part of a larger
 * leak; call again for those blocks. A negative result is -MemunreachableStatus
 * and means that the block was not checked: -MEMUNREACHABLE_BAD_ARGUMENT if P
 * points into no live block, -MEMUNREACHABLE_PARTIAL if no reference was found
 * but part of the memory could not be searched, otherwise as for
 * GetUnreachableMemory().
 *
 * The caller's own copy of P, in its stack frame or in a callee-saved
 * register, is a reference. Stack frames of the library and words of the block
 * itself are not listed. CALLBACK runs in the calling thread after the pass,
 * with nothing locked or stopped. It may do anything except leave by longjmp()
 * or an exception, which would leak the memory of the answer.
 */
ptrdiff_t memunreachable_why_reachable(
    const void *p, memunreachable_reference_fn callback, void *ctx);

/*
 * Run a pass and call VISIT for every unreachable block, by address, including
 * those that GetUnreachableMemory() counts as referenced by or similar to an
 * entry. SIZE is in usable bytes; if a recorder puts guards around blocks, the
 * program's bytes lie within. Returns false if the heap was not checked; VISIT
 * was not called then. VISIT runs after the pass, with nothing locked or
 * stopped, and may do anything except leave by longjmp() or an exception.
 */
bool memunreachable_each_unreachable(
    void (*visit)(void *ctx, uintptr_t begin, size_t size), void *ctx);

/*
 * Format REFERENCE as one line of text without a newline, such as
 *	55d0c8a04040: /usr/bin/program+0x4040
 * Like snprintf(), writes at most SIZE bytes with the terminating NUL and
 * returns the whole length.
 */
size_t memunreachable_format_reference(
    const struct MemunreachableReference *reference, char *buffer, size_t size);

#ifndef __cplusplus /* C++ has ToString() */
/*
 * Format one leak, or the whole report, as the log shows it. Like snprintf(),
 * writes at most SIZE bytes with the terminating NUL and returns the whole
 * length.
 */
size_t memunreachable_format_leak(
    const struct Leak *leak, bool log_contents, char *buffer, size_t size);
size_t memunreachable_format_info(const struct UnreachableMemoryInfo *info,
    bool log_contents, char *buffer, size_t size);
#endif

/*
 * Allocate SIZE bytes of zeros, in whole pages, that no pass of this process
 * searches. Keep copies of leaked addresses there: elsewhere they would hide
 * the blocks from the next pass. Returns NULL if SIZE is 0 or the kernel has
 * no memory. Free wipes the memory; it returns false if P was not allocated
 * here, or if another thread held the list of these areas for a second.
 */
void *memunreachable_unsearched_alloc(size_t size);
bool memunreachable_unsearched_free(void *p);

/* The name of STATUS, such as "heap inconsistent". Never NULL. */
const char *memunreachable_status_name(int status);

#ifdef __cplusplus
}
#endif

#pragma GCC visibility pop

#endif
