/*
 * Capture the same stack twice, by the recorder and by the compiler's unwinder.
 */
#ifndef TESTS_SUPPORT_RECORDER_STACK_COMPARE_H
#define TESTS_SUPPORT_RECORDER_STACK_COMPARE_H

#include <check.h>
#include <stdint.h>
#include <string.h>
#include <unwind.h>

#include "lib/malloc_debug/unwind/stack_capture.h"
#include "lib/malloc_debug/unwind/stack_depot.h"
#include "mu/arch/unwind.h"

#define COMPARE_MAX 512

struct compared {
	uintptr_t frames[COMPARE_MAX]; /* of the last comparison */
	size_t num;
	unsigned times;
};

extern struct compared compared;

/*
 * From the caller on: captured once cold and once warm, put together with the
 * depot, found by its layout, cut short, and by the thorough way.
 */
void compare_here(void);

void compare_setup(void);

/* What stands behind a call keeps it from being a jump. */
#define KEEP(value) __asm__ volatile("" ::"g"(value) : "memory")

#if defined(__clang__)
#define OPTIMIZED(how)
#else
#define OPTIMIZED(how) __attribute__((optimize(how)))
#endif
#define FUNCTION(how) __attribute__((noinline)) OPTIMIZED(how)

#endif
