/*
 * Keep an address where no conservative scan finds it.
 *
 * A test that leaves a plain copy of the pointer behind, in a register, a
 * dead stack slot or a local, tests nothing.
 */
#ifndef TESTS_SUPPORT_HIDE_H
#define TESTS_SUPPORT_HIDE_H

#include <stdint.h>
#include <string.h>

static inline uintptr_t
mu_hide(const void *p)
{
	uintptr_t hidden = ~(uintptr_t)p;

	__asm__ volatile("" : "+r"(hidden));
	return hidden;
}

static inline void *
mu_reveal(uintptr_t hidden)
{
	__asm__ volatile("" : "+r"(hidden));
	return (void *)~hidden;
}

/* Overwrite the dead stack below the caller. */
static __attribute__((noinline, unused)) void
scrub_stack(void)
{
	volatile char dead[32768];

	memset((char *)dead, 0, sizeof(dead));
	__asm__ volatile("" : : "r"(dead) : "memory");
}

#endif
