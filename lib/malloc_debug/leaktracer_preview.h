/*
 * Bytes of memory that may be gone.
 *
 * Runs in: the original, any thread.
 */
#ifndef DEBUG_LEAKTRACER_PREVIEW_H
#define DEBUG_LEAKTRACER_PREVIEW_H

#include <stddef.h>
#include <stdint.h>

/* At most SIZE bytes from ADDRESS, and how many they are. */
size_t leaktracer_preview(uintptr_t address, void *buffer, size_t size);

#endif
