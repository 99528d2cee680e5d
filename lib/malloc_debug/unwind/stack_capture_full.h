/*
 * Stacks by the compiler's unwinder.
 */
#ifndef LIB_MALLOC_DEBUG_UNWIND_STACK_CAPTURE_FULL_H
#define LIB_MALLOC_DEBUG_UNWIND_STACK_CAPTURE_FULL_H

#include "lib/malloc_debug/unwind/stack_capture.h"

/* As stack_capture(); 0 if there is no unwinder, or START was not found. */
size_t stack_capture_by_compiler(
    struct stack_start start, uintptr_t *frames, size_t max);

#endif
