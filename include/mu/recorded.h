/*
 * The recorder's records of live blocks, as they lie in the memory of the
 * recorded process.
 *
 * The recorder writes them without a lock. Readers are the recorder's own
 * reports, a pass in a frozen image, and the command in another process or in a
 * core; the last two treat them as hostile input like the rest of the subject.
 * Addresses are of the subject.
 *
 * The records are a shadow: four bytes (a word) for every 16 bytes of address
 * space, in spans of 32 MiB that are mapped as blocks appear. Every block
 * covers at least two words (recorders request 32 bytes from allocators that
 * would otherwise give 16).
 *
 * Runs in: any.
 */
#ifndef MU_RECORDED_H
#define MU_RECORDED_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#define MU_RECORDED_MAGIC "muRecordedBlocks" /* 16 bytes, no NUL */
#define MU_RECORDED_VERSION 1
#define MU_RECORDED_ALIGNED __attribute__((aligned(256)))

/* gcc 15 warns of a string whose array has no room for the NUL. */
#if defined(__has_attribute) && __has_attribute(nonstring)
#define MU_NO_NUL __attribute__((nonstring))
#else
#define MU_NO_NUL
#endif

#define MU_SHADOW_SPAN_SHIFT 25 /* a span covers 32 MiB of addresses */
#define MU_SHADOW_WORD_SHIFT 4  /* a word stands for 16 bytes */
#define MU_SHADOW_WORDS (1u << (MU_SHADOW_SPAN_SHIFT - MU_SHADOW_WORD_SHIFT))
#define MU_SHADOW_SPANS (1u << (48 - MU_SHADOW_SPAN_SHIFT))

/*
 * The word that stands for a block's first 16 bytes:
 *
 * bit 0      1
 * bit 1      freed by the program, held back by the recorder
 * bits 2, 3  enum mu_block_kind
 * bits 4-31  the stack: an enum mu_stack_id, or a unit of the depot
 *
 * The next word is twice the requested size. For a block of 2^30 bytes and more
 * it is MU_SHADOW_LARGE, and the two words after it are twice the lower 30 bits
 * and twice the upper ones. So bit 0 is 1 in first words only. The first word
 * is written last. When the block is freed only the first word is cleared: an
 * even word that does not follow a first word is meaningless.
 */
#define MU_SHADOW_START 1u
#define MU_SHADOW_FREED 2u
#define MU_SHADOW_LARGE 0xfffffffeu

enum mu_block_kind {
	MU_BLOCK_MALLOC,
	MU_BLOCK_NEW,
	MU_BLOCK_NEW_ARRAY,
	MU_BLOCK_IGNORED, /* by any of them, and not to be reported */
};

enum mu_stack_id {
	MU_STACK_NONE,      /* no block is recorded here */
	MU_STACK_OFF,       /* capture was off, or the block not sampled */
	MU_STACK_EMPTY,     /* no frame found, or a size that is not recorded */
	MU_STACK_OFF_CHILD, /* the same, allocated after a fork */
	MU_STACK_EMPTY_CHILD,
	MU_STACK_FIRST = 8, /* this and larger numbers are units of the depot */
};

/* The first word of a live block. STACK has at most 28 bits. */
static inline uint32_t
mu_shadow_word(uint32_t stack, enum mu_block_kind kind)
{
	return stack << 4 | (uint32_t)kind << 2 | MU_SHADOW_START;
}

/* The stack in a first word: an enum mu_stack_id, or a unit of the depot. */
static inline uint32_t
mu_shadow_stack(uint32_t word)
{
	return word >> 4;
}

/*
 * The function that allocated the block, from a first word; a word of the
 * subject may hold any of the four values.
 */
static inline enum mu_block_kind
mu_shadow_kind(uint32_t word)
{
	return (enum mu_block_kind)(word >> 2 & 3);
}

/*
 * A stack in the depot. The depot consists of blocks of 2^MU_DEPOT_BLOCK_SHIFT
 * units of 16 bytes; an entry lies within one block and is never moved or
 * freed.
 */
#define MU_DEPOT_UNIT 16
#define MU_DEPOT_BLOCK_SHIFT 16 /* 1 MiB */
#define MU_DEPOT_BLOCKS (1u << (28 - MU_DEPOT_BLOCK_SHIFT))
#define MU_STACK_MAX_FRAMES 256

enum mu_stack_flag {
	MU_STACK_CHILD = 1,  /* allocated after a fork of a tracked process */
	MU_STACK_SLOT = 2,   /* of a single block: struct mu_stack_slot */
	MU_STACK_LAYOUT = 4, /* not stored; used inside the recorder only */
	MU_STACK_SCRIPT = 8, /* no stack: see MU_FRAME_SCRIPT */
};

struct mu_stack {
	uint32_t hash;
	uint32_t next; /* unit of the next stack in its bucket, or 0 */
	uint16_t num_frames;
	uint16_t flags;
	uint32_t reserved; /* used by the recorder only */
	uint64_t frames[]; /* addresses inside the call instructions, innermost
			      first; see MU_FRAME_SHIFT */
};

/*
 * What LeakTracer keeps for each block; starts with the fields of struct
 * mu_stack.
 */
struct mu_stack_slot {
	uint32_t hash, next;
	uint16_t num_frames; /* 0 */
	uint16_t flags;      /* includes MU_STACK_SLOT */
	uint32_t reserved;
	uint64_t time_ns; /* CLOCK_MONOTONIC of the allocation */
	uint32_t stack;   /* unit of the struct mu_stack */
	uint32_t reserved2;
};

/*
 * A module as frames name it, also after dlclose() has unloaded it. Modules
 * that were loaded at the same addresses are in the order of their loading.
 */
struct mu_recorded_module {
	uint64_t start, end;         /* addresses of its code */
	uint64_t offset;             /* file offset of START */
	uint64_t bias;               /* load bias */
	uint64_t path, id;           /* strings; the build-id in hex, or "-" */
	uint32_t path_size, id_size; /* bytes, with the NUL */
	uint32_t gone;  /* rank in the order of unloading, from 1 on; 0 while it
			   is loaded */
	uint32_t first; /* index of this module's first entry, if it was loaded
			   more than once */
	uint32_t again; /* enum mu_module_again */
	uint32_t reserved;
};

/* What was later loaded at a module's addresses, once the array was full. */
enum mu_module_again {
	MU_MODULE_UNKNOWN, /* nothing, or not known */
	MU_MODULE_SAME,    /* the same module, and no other */
	MU_MODULE_OTHER,
};

#define MU_RECORDED_MODULES 1024 /* at most */

/*
 * The upper bits of a frame, which are 0 in every user address, tell modules
 * apart that were loaded at the same address one after the other. In the depot
 * they hold the highest "gone" of the modules that had been at this address
 * before, so that stacks of two modules differ. mu_recorded_frame() replaces
 * them, for readers, by the index of the module in the array, from 1 on; 0
 * means that the module is still loaded or not in the array.
 */
#define MU_FRAME_SHIFT 48

/* The address of FRAME, without the number of an unloaded module. */
static inline uint64_t
mu_frame_address(uint64_t frame)
{
	return frame >> MU_FRAME_SHIFT > MU_RECORDED_MODULES
	    ? frame
	    : frame & ((UINT64_C(1) << MU_FRAME_SHIFT) - 1);
}

/*
 * ADDRESS as a frame in the unloaded module INDEX (below MU_RECORDED_MODULES).
 */
static inline uint64_t
mu_frame_of_module(uint64_t address, size_t index)
{
	return address | (uint64_t)(index + 1) << MU_FRAME_SHIFT;
}

/* Convert FRAME of a depot for readers; MODULES are those of its recorder. */
static inline uint64_t
mu_recorded_frame(
    const struct mu_recorded_module *modules, size_t count, uint64_t frame)
{
	uint64_t address = mu_frame_address(frame);
	uint64_t before = frame >> MU_FRAME_SHIFT;
	const struct mu_recorded_module *module = modules;
	size_t i, found = MU_RECORDED_MODULES;

	for (i = 0; i < count && i < MU_RECORDED_MODULES; i++, module++) {
		if (address - module->start >= module->end - module->start)
			continue;
		if (module->gone == 0)
			return address;
		if (module->gone > before || module->again == MU_MODULE_SAME)
			found = i;
		if (module->gone > before)
			break;
	}
	if (found == MU_RECORDED_MODULES)
		return address;
	module = &modules[found];
	return mu_frame_of_module(
	    address, module->first < found ? module->first : found);
}

/*
 * A frame of an interpreted function, such as CPython's: a unit of the depot,
 * whose entry is MU_STACK_SCRIPT with two words instead of frames. The first
 * one has the units of two texts, of the file below those of the function, the
 * second one has the line, or 0. The words of a text are its bytes, ended by
 * one or more zeros.
 */
#define MU_SCRIPT_TEXT_WORDS 128 /* at most */
#define MU_FRAME_SCRIPT (UINT64_C(0xfffe) << MU_FRAME_SHIFT)

/* True if FRAME is one. */
static inline bool
mu_frame_is_script(uint64_t frame)
{
	return frame >> MU_FRAME_SHIFT == MU_FRAME_SCRIPT >> MU_FRAME_SHIFT;
}

enum mu_recorded_flag {
	MU_RECORDED_STACKS = 1,     /* stacks are captured, or can be */
	MU_RECORDED_GUARDED = 2,    /* blocks begin inside malloc's blocks */
	MU_RECORDED_LEAKTRACER = 4, /* entries are slots, not shared stacks */
	MU_RECORDED_STOPPED = 8,    /* out of memory: blocks are missing */
	MU_RECORDED_IGNORES = 16,   /* there may be MU_BLOCK_IGNORED */
};

/*
 * A variable in the recorder's data, found by its magic. MU_RECORDED_ALIGNED
 * puts it into one page: pages that were not modified are not searched, and
 * .data and .bss are mappings that are searched one by one.
 */
struct mu_recorded {
	unsigned char magic[16] MU_NO_NUL;
	uint32_t version;
	uint32_t size;  /* of this struct, bytes */
	uint32_t flags; /* enum mu_recorded_flag */
	uint32_t max_frames;
	uint64_t directory;    /* uint64_t[MU_SHADOW_SPANS]: a span's words,
				  or 0; 0 = nothing recorded yet */
	uint64_t depot;        /* uint64_t[MU_DEPOT_BLOCKS]: blocks, or 0 */
	uint64_t sample_bytes; /* 0 = every block has its stack */
	uint64_t max_guard; /* a block begins at most this many bytes after the
			      start of malloc's */
	uint64_t lowest, highest; /* bounds of all block addresses so far; may
				     be wider than needed */
	uint64_t min_size, max_size; /* sizes whose stacks are recorded */
	uint64_t modules;     /* struct mu_recorded_module[num_modules] */
	uint64_t num_modules; /* only grows; entries are never removed */
	uint64_t reserved[6];
};

/*
 * True if ABOUT, a copy of untrusted memory, has a version that this code
 * reads.
 */
static inline bool
mu_recorded_is(const struct mu_recorded *about)
{
	return memcmp(about->magic, MU_RECORDED_MAGIC, sizeof(about->magic)) ==
	    0 &&
	    about->version == MU_RECORDED_VERSION &&
	    about->size >= sizeof(*about);
}

#endif
