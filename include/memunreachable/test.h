/*
 * Tests that name what they lost. Between memunreachable_test_begin() and
 * memunreachable_test_end() lies one test; what became unreachable there is its
 * failure. <memunreachable/check.h>, <memunreachable/gtest.h> and
 * <memunreachable/catch2.h> do this for each test of their framework;
 * memunreachable_test_begin(3) shows it for others.
 *
 * One test runs at a time in a process. A child of fork() continues with a copy
 * of the test.
 */
#ifndef MEMUNREACHABLE_TEST_H
#define MEMUNREACHABLE_TEST_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif
#pragma GCC visibility push(default)

/*
 * Begin the test NAME, which is copied (first 255 bytes): a pass notes what is
 * unreachable. Returns false if the heap was not checked; the end of the test
 * then says why. Blocks of malloc are zeroed from the first begin on, so that
 * none has old addresses (option fill_memory).
 */
bool memunreachable_test_begin(const char *name);

/*
 * Return NULL if nothing became unreachable since the test began, or since the
 * last call. Otherwise the text for the failure's message, without a newline at
 * its end: what was lost, with stacks if a recorder is in, or why it is not
 * known whether there is something. It is valid until the next call.
 * A block that was named is not named again while it is allocated.
 *
 * One pass looks. What seems lost is looked at twice more, 50 ms apart.
 */
const char *memunreachable_test_end(void);

/* The bytes that the last end named as lost; 0: none, or that is not known. */
size_t memunreachable_test_lost(void);

/*
 * A frame of the calling thread from which its stack is searched. A listener of
 * a framework lies where the frames of the test lay: slots that it has not
 * written still hold what the test left there, and would hide what it lost.
 * <memunreachable/test_frames.h> finds the frame that called both.
 */
struct MemunreachableFrame {
	uintptr_t sp; /* the lowest address of the frame, above ours; 0: none */
	size_t count; /* of REGISTERS, which functions preserve, as they are in
			 that frame: rbx, rbp, r12 to r15; x19 to x29 */
	uintptr_t registers[16];
};

/*
 * The same from FRAME (NULL: as above). NEXT: nothing ran between the end of
 * the last test and this begin, so that no pass is needed if that one is known.
 */
bool memunreachable_test_begin_at(
    const char *name, const struct MemunreachableFrame *frame, bool next);
const char *memunreachable_test_end_at(const struct MemunreachableFrame *frame);

#pragma GCC visibility pop
#ifdef __cplusplus
}
#endif

/*
 * Run STATEMENTS as the test NAME. If they lost memory, FAIL(text) is called,
 * which may be a macro and may leave. Variables in STATEMENTS belong to the
 * calling function, and so keep what they point to: call a function there.
 */
#define MEMUNREACHABLE_TEST(name, fail, ...)     \
	do {                                     \
		memunreachable_test_begin(name); \
		__VA_ARGS__;                     \
		MEMUNREACHABLE_NO_LEAKS(fail);   \
	} while (0)

/* FAIL(text) if something was lost since the test began, or since the last. */
#define MEMUNREACHABLE_NO_LEAKS(fail)                                         \
	do {                                                                  \
		const char *memunreachable_lost_ = memunreachable_test_end(); \
		if (memunreachable_lost_ != (const char *)0)                  \
			fail(memunreachable_lost_);                           \
	} while (0)

#endif
