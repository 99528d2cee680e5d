/*
 * Read memory that may be unmapped.
 */
#ifndef LIB_MALLOC_DEBUG_LEAKTRACER_PREVIEW_H
#define LIB_MALLOC_DEBUG_LEAKTRACER_PREVIEW_H

#include <stddef.h>
#include <stdint.h>

/* Copy at most SIZE bytes from ADDRESS. Returns their number. */
size_t leaktracer_preview(uintptr_t address, void *buffer, size_t size);

#endif
