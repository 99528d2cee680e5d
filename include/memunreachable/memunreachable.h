/*
 * Find the malloc blocks of this process that nothing points to any more.
 *
 * On demand: the process is stopped for the length of a fork, a copy-on-write
 * image of it is marked and swept while it runs on, and every block of the
 * stock glibc heap that no root reaches is reported. No cost until asked, no
 * thread, no handler, no open file. See memunreachable(7).
 *
 * All sizes are bytes, all times nanoseconds, all addresses of this process.
 *
 * Threads: every function may be called from any thread at any time. One pass
 * runs at a time: a second caller waits for its turn (at most the option
 * timeout), a call from within a pass (a root provider, a signal handler that
 * interrupted one) fails with MEMUNREACHABLE_BUSY. None of the calls may be
 * made where the calling thread is inside malloc itself (a signal handler
 * that interrupted it): such a call fails with MEMUNREACHABLE_BUSY or
 * MEMUNREACHABLE_HEAP_INCONSISTENT, possibly only after the timeout.
 *
 * In C++ the same header gives Android's classes and functions in namespace
 * android, inline over the C ABI.
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

/* How a pass ended. The values never change; new ones are added at the end. */
enum MemunreachableStatus {
	MEMUNREACHABLE_COMPLETE = 0, /* every block was judged */
	MEMUNREACHABLE_PARTIAL = 1,  /* reason says what was left out */
	/* Not checked, because: */
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
	MEMUNREACHABLE_SIGNALS_BLOCKED = 18, /* by a thread, where ptrace was
						not to be tried */
};

/* How the threads were stopped. New ways are added at the end. */
enum MemunreachableStop {
	MEMUNREACHABLE_STOP_NONE = 0,   /* they were not */
	MEMUNREACHABLE_STOP_PTRACE = 1, /* by a process that traces them */
	MEMUNREACHABLE_STOP_SIGNAL = 2, /* in a handler, where ptrace was
					   refused or the option stop said so */
};

#define MEMUNREACHABLE_MAX_FRAMES 16
#define MEMUNREACHABLE_CONTENTS_LENGTH 32

/* Where a reference lies. New kinds are added at the end. */
enum MemunreachableReferenceKind {
	MEMUNREACHABLE_REFERENCE_GLOBAL = 1, /* variable of a module */
	MEMUNREACHABLE_REFERENCE_STACK = 2,  /* of another thread */
	MEMUNREACHABLE_REFERENCE_CALLER = 3, /* stack of the calling thread */
	MEMUNREACHABLE_REFERENCE_REGISTER = 4,
	MEMUNREACHABLE_REFERENCE_TLS = 5, /* __thread, pthread_setspecific() */
	MEMUNREACHABLE_REFERENCE_MAPPING = 6, /* other memory of the program */
	MEMUNREACHABLE_REFERENCE_ROOT_REGION = 7, /* registered as such */
	MEMUNREACHABLE_REFERENCE_ROOT_VALUE = 8,  /* the block is ignored, or a
						     root provider named it */
	MEMUNREACHABLE_REFERENCE_KERNEL = 9, /* epoll data, value of a timer */
	MEMUNREACHABLE_REFERENCE_BLOCK = 10, /* malloc block */
};

/* How many references memunreachable_why_reachable() describes at most. */
#define MEMUNREACHABLE_MAX_REFERENCES 65536

/* One word that points into a block. Zero and "" where there is nothing. */
struct MemunreachableReference {
	int kind;          /* enum MemunreachableReferenceKind */
	int thread;        /* whose stack, register or variable: its tid */
	uintptr_t address; /* where the word lies; 0 in a register, in the
			      kernel, and of a root value */
	uintptr_t value;   /* the word */
	ptrdiff_t into;    /* where it points to, from the first byte of the
			      block; negative: at the header before it, which
			      counts where malloc keeps no other pointer */
	ptrdiff_t offset;  /* of the word: from the module's load address
			      (GLOBAL: what addr2line takes), from the stack
			      pointer (STACK, CALLER), from the thread pointer
			      (TLS), else from begin */
	uintptr_t begin;   /* of the block, the root region, or the mapping */
	size_t size;       /* of that; of a block: usable bytes */
	bool reachable;    /* false: in a block that is itself unreachable */
	char name[23];     /* of the register: "rbx", "xmm3 word 0" */
	const char *path;  /* module, or name of the mapping; never NULL; valid
			      in the callback only */
	size_t reserved[8];
};

/*
 * REFERENCE is valid until the function returns. True: go on with the next.
 */
typedef bool (*memunreachable_reference_fn)(
    void *ctx, const struct MemunreachableReference *reference);

/* The library itself is compiled with -fvisibility=hidden. */
#ifndef __cplusplus
#pragma GCC visibility push(default)

struct LeakBacktrace {
	size_t num_frames; /* 0 if no stack was recorded */
	uintptr_t frames[MEMUNREACHABLE_MAX_FRAMES]; /* with a number of the
			module above bit 47 where dlclose() has unloaded it */
	size_t num_more;       /* that were recorded behind those */
	const uintptr_t *more; /* they, until the report is freed; NULL in
				  copies that C++ makes */
	size_t cut;            /* 1: the recorder kept no more, and the stack
				  may go on */
	size_t reserved[5];
};

/* One entry: a lost block, what was lost with it, and others like it. */
struct Leak {
	uintptr_t begin; /* first byte, as malloc returned it */
	size_t size;     /* usable bytes: at least what was asked for */
	size_t referenced_count, referenced_size; /* unreachable blocks that
						     this one leads to */
	size_t similar_count, similar_size; /* further entries with the same
					       backtrace, merged into this */
	size_t similar_referenced_count, similar_referenced_size;
	size_t total_size; /* of all of these; the report's order */
	unsigned char contents[MEMUNREACHABLE_CONTENTS_LENGTH]; /* the first
				min(size, 32) bytes, the rest zero */
	struct LeakBacktrace backtrace;
	size_t reserved[8];
};

/* The answer of one pass. */
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
	 * In words. When complete: "", or which options (use_stacks=0 and
	 * others like it) made this answer differ from the usual one, or that
	 * the heap of a glibc that is not known was read as its neighbour's.
	 */
	char reason[256];
	uint64_t pause_ns;  /* how long threads were stopped at a time: the
			       longest, if a pass looked more than once */
	uint64_t total_ns;  /* from call to answer */
	size_t num_threads; /* that were stopped, with the calling one */
	int stop;           /* enum MemunreachableStop */
	unsigned tries;     /* how often they were stopped */
	/*
	 * Entries that there are, whatever the limit, but 0 with a limit of 0,
	 * for which none are made, and the unreachable blocks that are in no
	 * entry of leaks. These count once; the figures of entries count a
	 * block for each entry that leads to it.
	 */
	size_t num_entries, unreported_leaks, unreported_bytes;
	/*
	 * Usable bytes of the smallest and the largest first block of an entry
	 * without a backtrace, whatever the limit; 0, 0: there is none.
	 */
	size_t unrecorded_min, unrecorded_max;
	size_t sample_bytes; /* one in about as many bytes has a stack; 0: all
				blocks whose stack was wanted, or none */
};

/*
 * Run a pass. INFO must be zeroed before the first use (version is read). At
 * most LIMIT entries are returned in info->leaks, sorted by total_size, ties
 * by address; the totals always count everything.
 *
 * True if the heap was judged: status is MEMUNREACHABLE_COMPLETE or
 * MEMUNREACHABLE_PARTIAL. False otherwise: status and reason say why, the
 * totals are zero. Prints nothing unless the option verbosity is 1 or more.
 *
 * info->leaks lies in memory that later passes do not take for a reference.
 * Copies of the addresses that the caller makes do hide the leaks from them:
 * see memunreachable_unsearched_alloc().
 */
bool GetUnreachableMemory(struct UnreachableMemoryInfo *info, size_t limit);

/* Release info->leaks and zero INFO. NULL and zeroed INFO are accepted. */
void FreeUnreachableMemoryInfo(struct UnreachableMemoryInfo *info);

/*
 * Run a pass and return its report as text, or why there is none. Never NULL
 * but when malloc fails. free() it. LOG_CONTENTS: show the first 32 bytes of
 * each block (heap contents may be secrets).
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
 * Run a pass and log it: the totals, then one record a leak, to stderr or where
 * the options say; before them the steps if the option verbosity is 1 or more.
 * False if the pass failed; the log says why. Uses no malloc.
 */
bool LogUnreachableMemory(bool log_contents, size_t limit);

/*
 * True only if a pass judged the whole heap and found nothing unreachable.
 * About to return false, it logs the report (10 entries at most) or why it
 * could not check, so that a failed assertion explains itself.
 */
bool NoLeaks(void);

/*
 * The same from a function with a large frame, such as a test's listener that
 * formats messages: slots of it that were not written yet still hold what dead
 * frames left there, and keep lost blocks. Of this thread's stack only what is
 * at FRAME and above counts, and registers. Call it with
 * __builtin_frame_address(0), from the function itself: then its own variables
 * do not count, and all of its callers do. Of a frame further out, what the
 * functions in between saved of its registers does not count either. A FRAME
 * below the stack pointer, or of another stack, changes nothing.
 */
bool memunreachable_no_leaks_from(const void *frame);

/*
 * Never report the block that P points into, nor what it leads to. Holds
 * until memunreachable_unignore_object() with the same P; a block that is
 * freed and allocated again stays ignored. False if P is NULL or no memory is
 * left.
 */
bool memunreachable_ignore_object(const void *p);
bool memunreachable_unignore_object(const void *p);

/*
 * Scan the SIZE bytes at P for pointers in every pass (memory that the pass
 * would not look at by itself). Unregister with the same P and SIZE; a region
 * that was registered n times is unregistered n times. False on an empty
 * region, on one that was not registered, or when no memory is left.
 */
bool memunreachable_register_root_region(const void *p, size_t size);
bool memunreachable_unregister_root_region(const void *p, size_t size);

/*
 * Further references, asked for at the start of every pass, in the thread
 * that asked for the pass, before anything is stopped. PROVIDER writes up to
 * MAX words (addresses that must count as references) to WORDS and returns
 * how many there are; a larger number than MAX makes it be called again with
 * more room, a negative one is logged and the pass goes on. For pointers that
 * only a device or another process holds. Unregister with the same pair.
 *
 * PROVIDER may run inside a signal-triggered pass, while other threads run:
 * it must be async-signal-safe then.
 */
typedef ptrdiff_t (*memunreachable_root_provider)(
    void *ctx, uintptr_t *words, size_t max);
bool memunreachable_register_root_provider(
    memunreachable_root_provider provider, void *ctx);
bool memunreachable_unregister_root_provider(
    memunreachable_root_provider provider, void *ctx);

/*
 * Write a report to the log whenever SIGNO arrives (also when the process is
 * idle or inside malloc; the pass runs beside the interrupted thread). An
 * earlier handler is called as well. False, with errno set, if SIGNO cannot be
 * caught or memory is short. Calling it again for the same signal is harmless.
 */
bool memunreachable_watch_signal(int signo);

/*
 * Who points at the block that P points into? Runs a pass and calls CALLBACK
 * (which may be NULL) for each reference that a pass counts: those in roots
 * by address, those in registers and the kernel, then those in other blocks by
 * address; at most MEMUNREACHABLE_MAX_REFERENCES. A word in a root region is
 * told again with the variable or block that it is part of.
 *
 * Returns how many there are. 0: the block is unreachable, a leak. If all of
 * them lie in blocks that are not reachable it is part of a larger leak; ask
 * again for those that are. Negative: not checked, -MemunreachableStatus:
 * -MEMUNREACHABLE_BAD_ARGUMENT if P points into no live block,
 * -MEMUNREACHABLE_PARTIAL if no reference was found, but not every place
 * could be looked at; otherwise as GetUnreachableMemory().
 *
 * The caller's own copy of P is a reference, in its stack frame or in a
 * register that a call preserves; those of the library's frames are not
 * listed, nor are words of the block itself. CALLBACK is called in the calling
 * thread after the pass, with nothing locked or stopped: it may do anything
 * but leave by longjmp() or an exception, which would lose the answer's
 * memory.
 */
ptrdiff_t memunreachable_why_reachable(
    const void *p, memunreachable_reference_fn callback, void *ctx);

/*
 * Run a pass and call VISIT for every unreachable block by address, also for
 * those that GetUnreachableMemory() counts among what an entry leads to, or as
 * similar to it. SIZE is usable bytes; where a recorder puts guards around
 * blocks, the program's lies within. False: not checked, and VISIT was not
 * called. VISIT is called after the pass, with nothing locked or stopped, and
 * may do anything but leave by longjmp() or an exception.
 */
bool memunreachable_each_unreachable(
    void (*visit)(void *ctx, uintptr_t begin, size_t size), void *ctx);

/*
 * One line of text, without a newline, such as
 *	55d0c8a04040: /usr/bin/program+0x4040
 * As snprintf(): writes at most SIZE bytes with the terminating NUL, returns
 * the whole length.
 */
size_t memunreachable_format_reference(
    const struct MemunreachableReference *reference, char *buffer, size_t size);

#ifndef __cplusplus /* there: ToString() */
/*
 * The text of one leak block, or of the whole report, as the log shows it.
 * As snprintf(): writes at most SIZE bytes with the terminating NUL, returns
 * the whole length.
 */
size_t memunreachable_format_leak(
    const struct Leak *leak, bool log_contents, char *buffer, size_t size);
size_t memunreachable_format_info(const struct UnreachableMemoryInfo *info,
    bool log_contents, char *buffer, size_t size);
#endif

/*
 * SIZE bytes of zeros, as whole pages, that no pass of this process searches:
 * for copies of addresses of lost blocks, which would hide these blocks from
 * the next pass. NULL: SIZE is 0, or the kernel gives none. Free wipes them;
 * false if P is not from here, or another thread held the list of them for a
 * second.
 */
void *memunreachable_unsearched_alloc(size_t size);
bool memunreachable_unsearched_free(void *p);

/* A status in words, such as "heap inconsistent". Never NULL. */
const char *memunreachable_status_name(int status);

#ifdef __cplusplus
}
#endif

#pragma GCC visibility pop

#endif
