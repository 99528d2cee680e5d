/*
 * What a program of the corpus is made of.
 *
 * Each is a corpus_scenario() that loses some blocks and keeps others like
 * them. What is lost is said where it is allocated, by a scope: whatever the
 * thread allocates within it and does not free before the checkpoint, also in
 * libraries, is expected to be lost, and nothing else is. So the expected set
 * is a list of addresses, made without asking any tool.
 *
 * The record is kept in mapped memory, addresses inverted.
 */
#ifndef TESTS_CORPUS_CORPUS_H
#define TESTS_CORPUS_CORPUS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define NOINLINE __attribute__((noinline, noipa))
#ifdef __clang__
#undef NOINLINE
#define NOINLINE __attribute__((noinline))
#endif

#ifdef __cplusplus
extern "C" {
#endif

/* Defined by each program. Called once; the checkpoint follows. */
void corpus_scenario(void);

/* What this thread allocates between the two is lost, under this name. */
void corpus_lose(const char *name);
void corpus_lose_end(void);

/* One block that was allocated outside of a scope is lost after all. */
void corpus_lost(const void *block, const char *name);

/* One block of a scope is not lost after all: P points into it. */
void corpus_kept(const void *p);

/* Hold P in a global variable; a static one might be optimised away. */
void corpus_keep(const void *p);

/* End a thread's part: post to the main thread, then sleep for good. Called
 * where no caller's frame holds a lost address. */
void corpus_park(void);

/* Wait for N threads to be parked. */
void corpus_await_parked(int n);

/* Overwrite the dead stack below the caller, and the registers. */
void corpus_scrub(void);

/* Say why nothing can be seen here, and end. */
void corpus_skip(const char *why) __attribute__((noreturn));

/* For the compiler: P is used, and memory may have changed. */
static inline void *
corpus_use(const void *p)
{
	void *q = (void *)(uintptr_t)p;

	__asm__ volatile("" : "+r"(q) : : "memory");
	return q;
}

#ifdef __cplusplus
}

struct lose_scope {
	explicit lose_scope(const char *name)
	{
		corpus_lose(name);
	}
	lose_scope(const lose_scope &) = delete;
	lose_scope &operator=(const lose_scope &) = delete;
	~lose_scope()
	{
		corpus_lose_end();
	}
};
#endif

#endif
