/* Blocks of the recorder, made by hand: no allocator has the addresses. */
#ifndef TESTS_SUPPORT_RECORDER_RECORDED_BLOCKS_H
#define TESTS_SUPPORT_RECORDER_RECORDED_BLOCKS_H

#include <check.h>

#include "lib/malloc_debug/shadow/live.h"
#include "lib/malloc_debug/state/state.h"
#include "lib/malloc_debug/unwind/stack_depot.h"

#define MADE_AT ((uintptr_t)0x610000000000)

void made_begin(void);
void made_end(void);
uintptr_t made_of_stack(size_t size, uint32_t stack);

/* Its stack is FIRST, FIRST + 1, ... */
uintptr_t made(size_t size, uintptr_t first, size_t frames, uint16_t flags);

#endif
