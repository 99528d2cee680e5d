/*
 * A thread that holds known words in all of its registers (x86-64), and not in
 * memory that changes.
 */
#ifndef TESTS_SUPPORT_STOP_FILLED_REGISTERS_H
#define TESTS_SUPPORT_STOP_FILLED_REGISTERS_H

#include "mu/arch/register_names.h"
#include "tests/support/stop/signal_stop.h"

#define PLANT ((uintptr_t)0x7abc12345000) /* + 0x10 a word */

extern const struct kind {
	const char *name;
	void (*hold)(void);
	unsigned registers, words;
} kinds[];

bool has(const struct kind *kind);
uintptr_t vector_plant(unsigned reg, unsigned word);

extern int holder_tid;

void *holder(void *arg);
pthread_t start_holder(void *(*body)(void *), const struct kind *kind);
void end_holder(pthread_t thread);

#endif
