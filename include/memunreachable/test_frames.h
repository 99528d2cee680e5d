/*
 * For listeners of test frameworks: the innermost frame that is on the stack at
 * the begin and at the end of a test. It called the test; what lies below it
 * belongs to dead frames of the test and to those of listeners. It is found by
 * the unwinder of gcc or clang (libgcc_s or libunwind), which the compiler
 * links.
 *
 *	struct memunreachable_frames frames = { 0 };
 *
 *	memunreachable_frames_begin(&frames, name, false);
 *	run_test();
 *	lost = memunreachable_frames_end(&frames);
 *
 * Between the two, blocks may be held that malloc would give to the test: the
 * runner's dead variables still have their addresses.
 */
#ifndef MEMUNREACHABLE_TEST_FRAMES_H
#define MEMUNREACHABLE_TEST_FRAMES_H

#include <memunreachable/test.h>
#include <stdlib.h>
#include <string.h>
#include <unwind.h>

#define MEMUNREACHABLE_MAX_TEST_FRAMES 128
#define MEMUNREACHABLE_MAX_HELD 128

/* Sizes of blocks that dead variables point to: chunks of 32 to 272 bytes. */
#define MEMUNREACHABLE_HELD_SIZES 16

/*
 * glibc's cache of a thread has seven blocks of a size, 16 from 2.43 on; when
 * it is empty it is filled again from a list of others. Of both there must be
 * none that was not looked at.
 */
#define MEMUNREACHABLE_HELD_DEPTH 32

/* The frames of a runner and of its callers. */
#define MEMUNREACHABLE_HELD_STACK 8192

/* An activation of a function. */
struct memunreachable_activation {
	uintptr_t function;
	uintptr_t top; /* the stack pointer of its caller */
};

/* The stack at the begin of a test; all zero at first. */
struct memunreachable_frames {
	size_t count; /* innermost first */
	struct memunreachable_activation at[MEMUNREACHABLE_MAX_TEST_FRAMES];
	struct memunreachable_activation runner; /* called the last test */
	size_t num_held;
	void *held[MEMUNREACHABLE_MAX_HELD];
};

/* A walk up the stack. */
struct memunreachable_walk {
	const struct memunreachable_frames *known;
	size_t known_count;
	struct memunreachable_frames *taken; /* NULL: not */
	uintptr_t function;                  /* of FRAME; 0: none yet */
	struct MemunreachableFrame frame; /* the last one, or what is found */
	struct memunreachable_activation found;
};

static inline bool
memunreachable_walk_knows(const struct memunreachable_walk *walk,
    const struct memunreachable_activation *one)
{
	size_t i;

	for (i = 0; i < walk->known_count; i++)
		if (walk->known->at[i].function == one->function &&
		    walk->known->at[i].top == one->top)
			return true;
	return walk->known->runner.function == one->function &&
	    walk->known->runner.top == one->top;
}

/* One frame further out: CONTEXT has its registers and stack pointer. */
static inline _Unwind_Reason_Code
memunreachable_walk_step(struct _Unwind_Context *context, void *arg)
{
#if defined(__x86_64__)
	static const int preserved[] = { 3, 6, 12, 13, 14, 15 };
#else
	static const int preserved[] = { 19, 20, 21, 22, 23, 24, 25, 26, 27, 28,
		29 };
#endif
	struct memunreachable_walk *walk = (struct memunreachable_walk *)arg;
	struct memunreachable_activation last;
	size_t i;

	last.function = walk->function;
	last.top = (uintptr_t)_Unwind_GetCFA(context);
	if (last.function != 0 && walk->taken != NULL &&
	    walk->taken->count < MEMUNREACHABLE_MAX_TEST_FRAMES)
		walk->taken->at[walk->taken->count++] = last;
	if (last.function != 0 && walk->found.function == 0 &&
	    memunreachable_walk_knows(walk, &last)) {
		walk->found = last;
		if (walk->taken == NULL)
			return _URC_END_OF_STACK;
	}
	walk->function = (uintptr_t)_Unwind_GetRegionStart(context);
	if (walk->found.function != 0)
		return _URC_NO_REASON;
	walk->frame.sp = last.top;
	walk->frame.count = sizeof(preserved) / sizeof(*preserved);
	for (i = 0; i < walk->frame.count; i++)
		walk->frame.registers[i] =
		    (uintptr_t)_Unwind_GetGR(context, preserved[i]);
	return _URC_NO_REASON;
}

/*
 * Zero the stack below the caller, from which frames to come would inherit
 * addresses in slots that they do not write.
 */
static __attribute__((noinline, unused)) void
memunreachable_frames_scrub(void)
{
	volatile char dead[16384];

	memset((char *)dead, 0, sizeof(dead));
	__asm__ volatile("" : : "r"(dead) : "memory");
}

/* The next test may get the same block, and an old address would hide it. */
static inline void
memunreachable_frames_release(struct memunreachable_frames *frames)
{
	while (frames->num_held > 0) {
		free(frames->held[--frames->num_held]);
		frames->held[frames->num_held] = NULL;
	}
}

/* If a word of the stack from LOW to HIGH points into the SIZE bytes at P. */
static inline bool
memunreachable_frames_refer(
    uintptr_t low, uintptr_t high, uintptr_t p, size_t size)
{
	const volatile uintptr_t *word = (const volatile uintptr_t *)low;

	for (; word < (const volatile uintptr_t *)high; word++)
		if (*word - p < size)
			return true;
	return false;
}

/*
 * Dead variables of the runner's frame, such as copies of the test's name, hold
 * the addresses of freed blocks. A test that got one of these from malloc and
 * lost it would seem to have it still: until the test ends they are ours.
 */
static __attribute__((noinline, unused)) void
memunreachable_frames_hold(struct memunreachable_frames *frames)
{
	uintptr_t got[MEMUNREACHABLE_HELD_DEPTH];
	uintptr_t low, high;
	size_t i, j, size;

	if (frames->count == 0)
		return;
	low = frames->at[0].top;
	high = frames->at[frames->count - 1].top;
	if (high - low > MEMUNREACHABLE_HELD_STACK)
		high = low + MEMUNREACHABLE_HELD_STACK;
	for (i = 0; i < MEMUNREACHABLE_HELD_SIZES; i++) {
		size = 24 + 16 * i;
		for (j = 0; j < MEMUNREACHABLE_HELD_DEPTH; j++) {
			got[j] = (uintptr_t)malloc(size);
			/* To the compiler it would be unlike any old one. */
			__asm__ volatile("" : "+r"(got[j]) : : "memory");
		}
		while (j-- > 0)
			if (frames->num_held < MEMUNREACHABLE_MAX_HELD &&
			    memunreachable_frames_refer(
				low, high, got[j], size))
				frames->held[frames->num_held++] =
				    (void *)got[j];
			else
				free((void *)got[j]);
	}
}

/* memunreachable_test_begin_at(), from the frame that ran the last test. */
static inline bool
memunreachable_frames_begin(
    struct memunreachable_frames *frames, const char *name, bool next)
{
	struct memunreachable_walk walk;

	memset(&walk, 0, sizeof(walk));
	memunreachable_frames_release(frames);
	walk.known = walk.taken = frames;
	frames->count = 0;
	_Unwind_Backtrace(memunreachable_walk_step, &walk);
	memunreachable_frames_hold(frames);
	memunreachable_frames_scrub();
	return memunreachable_test_begin_at(
	    name, walk.found.function != 0 ? &walk.frame : NULL, next);
}

/* memunreachable_test_end_at(), from the frame that was there at the begin. */
static inline const char *
memunreachable_frames_end(struct memunreachable_frames *frames)
{
	struct memunreachable_walk walk;
	const char *lost;

	memunreachable_frames_scrub();
	memset(&walk, 0, sizeof(walk));
	walk.known = frames;
	walk.known_count = frames->count;
	_Unwind_Backtrace(memunreachable_walk_step, &walk);
	frames->runner = walk.found;
	lost = memunreachable_test_end_at(
	    walk.found.function != 0 ? &walk.frame : NULL);
	memunreachable_frames_release(frames);
	return lost;
}

#endif
