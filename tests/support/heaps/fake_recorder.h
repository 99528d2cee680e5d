/*
 * A recorder made by a test: tables as mu/recorded.h describes them, in
 * separate memory.
 */
#ifndef TESTS_SUPPORT_HEAPS_FAKE_RECORDER_H
#define TESTS_SUPPORT_HEAPS_FAKE_RECORDER_H

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "mu/recorded.h"

#define FAKE_SPAN_SIZE ((size_t)MU_SHADOW_WORDS * sizeof(uint32_t))

struct fake_recorder {
	struct mu_recorded header MU_RECORDED_ALIGNED;
	uint64_t *directory, *depot;
	uint32_t next; /* unit */
};

void *fake_recorder_map(size_t size);
void fake_recorder_open(struct fake_recorder *fake);
void fake_recorder_close(struct fake_recorder *fake);
uint32_t *fake_recorder_word(struct fake_recorder *fake, uintptr_t address);
uint32_t fake_recorder_stack(
    struct fake_recorder *fake, const uintptr_t *frames, size_t count);
void fake_recorder_block(struct fake_recorder *fake, const void *block,
    size_t size, uint32_t stack, bool freed);

#endif
