/*
 * Blocks of a thread that are not to be reported: the recorder notes them.
 *
 * Runs in: original.
 */
#include "memunreachable/memunreachable.h"

/* lib/malloc_debug/entry/disable.h */
extern __attribute__((weak)) bool memunreachable_recorder_disable(void);
extern __attribute__((weak)) bool memunreachable_recorder_enable(void);

bool
memunreachable_disable(void)
{
	return memunreachable_recorder_disable != NULL &&
	    memunreachable_recorder_disable();
}

bool
memunreachable_enable(void)
{
	return memunreachable_recorder_enable != NULL &&
	    memunreachable_recorder_enable();
}
