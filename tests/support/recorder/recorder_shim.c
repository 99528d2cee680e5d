/*
 * LD_PRELOADed: passes every allocation on to glibc, records what lives
 * independently of how glibc keeps its heap, and looks at the heap at moments
 * of the program's run (tests/support/recorder/recorder_schedule.h).
 *
 * glibc has exported the __libc_ names since 2.0, so nothing has to be looked
 * up, and nothing can be asked for too early. What they do not have is done
 * with what they do have, as glibc's own malloc.c does it.
 */
#include <errno.h>
#include <limits.h>
#include <malloc.h>
#include <pthread.h>

#include "tests/support/recorder/recorder_schedule.h"

#define EXPORTED __attribute__((visibility("default")))

void *__libc_malloc(size_t);
void *__libc_calloc(size_t, size_t);
void *__libc_realloc(void *, size_t);
void *__libc_memalign(size_t, size_t);
void *__libc_valloc(size_t);
void *__libc_pvalloc(size_t);
void __libc_free(void *);

static pthread_key_t ending;
static bool has_key;

/*
 * In the last of the rounds of destructors, so that other keys' have run: up
 * to then a thread allocates and frees like any.
 */
static void
end_thread(void *round)
{
	if ((size_t)round < PTHREAD_DESTRUCTOR_ITERATIONS)
		pthread_setspecific(ending, (char *)round + 1);
	else
		gate_enter_for_good();
}

static void
enter(void)
{
	gate_enter();
	if (!has_told) {
		threads_report();
		if (has_key)
			pthread_setspecific(ending, (void *)1);
	}
	if (!recorded_open())
		die("recorder: no memory for the table\n");
}

static void
leave(void)
{
	int error = errno;

	gate_leave();
	if (__atomic_add_fetch(&calls, 1, __ATOMIC_RELAXED) >=
	    __atomic_load_n(&next_look, __ATOMIC_RELAXED))
		look_when_due();
	errno = error;
}

static void *
note(void *block)
{
	if (block != NULL &&
	    !recorded_add((uintptr_t)block, malloc_usable_size(block)))
		die("recorder: the table is full\n");
	return block;
}

static void
forget(void *block)
{
	if (block != NULL && recorded_remove((uintptr_t)block) == SIZE_MAX)
		__atomic_fetch_add(&unknown, 1, __ATOMIC_RELAXED);
}

static void
before_fork(void)
{
	gate_close();
}

static void
after_fork(void)
{
	gate_open();
}

/* Its number of calls is its own. */
static void
in_child(void)
{
	num_told = 0;
	threads_report();
	gate_begin();
	calls = 0;
	if (next_look != SIZE_MAX)
		next_look = first_look;
	gate_open();
}

__attribute__((constructor)) static void
begin(void)
{
	gate_pid = mu_sys_getpid();
	/* The main thread has allocated before. */
	if (pthread_key_create(&ending, end_thread) != 0)
		die("recorder: no key left\n");
	has_key = true;
	pthread_atfork(before_fork, after_fork, in_child);
	look_begin(program_invocation_short_name);
}

__attribute__((destructor)) static void
end(void)
{
	if (next_look != SIZE_MAX && calls >= first_look)
		recorder_check("ending", false, NULL);
}

/* ---- the allocator ---- */

EXPORTED void *
malloc(size_t size)
{
	void *block;

	enter();
	block = note(__libc_malloc(size));
	leave();
	return block;
}

EXPORTED void *
calloc(size_t count, size_t size)
{
	void *block;

	enter();
	block = note(__libc_calloc(count, size));
	leave();
	return block;
}

EXPORTED void *
realloc(void *old, size_t size)
{
	void *block;

	enter();
	/* Gone first: another thread may get the address at once. */
	forget(old);
	block = note(__libc_realloc(old, size));
	if (block == NULL && size != 0)
		note(old);
	leave();
	return block;
}

EXPORTED void *
reallocarray(void *old, size_t count, size_t size)
{
	size_t bytes;

	if (__builtin_mul_overflow(count, size, &bytes)) {
		errno = ENOMEM;
		return NULL;
	}
	return realloc(old, bytes);
}

EXPORTED void *
memalign(size_t alignment, size_t size)
{
	void *block;

	enter();
	block = note(__libc_memalign(alignment, size));
	leave();
	return block;
}

EXPORTED void *
aligned_alloc(size_t alignment, size_t size)
{
	return memalign(alignment, size);
}

EXPORTED int
posix_memalign(void **block, size_t alignment, size_t size)
{
	void *got;

	if (alignment % sizeof(void *) != 0 || alignment == 0 ||
	    (alignment & (alignment - 1)) != 0)
		return EINVAL;
	got = memalign(alignment, size);
	if (got == NULL)
		return ENOMEM;
	*block = got;
	return 0;
}

EXPORTED void *
valloc(size_t size)
{
	void *block;

	enter();
	block = note(__libc_valloc(size));
	leave();
	return block;
}

EXPORTED void *
pvalloc(size_t size)
{
	void *block;

	enter();
	block = note(__libc_pvalloc(size));
	leave();
	return block;
}

EXPORTED void
free(void *block)
{
	enter();
	forget(block);
	__libc_free(block);
	leave();
}

/* 2.43 and later; the sizes say nothing that glibc would need. */
EXPORTED void
free_sized(void *block, size_t size)
{
	(void)size;
	free(block);
}

EXPORTED void
free_aligned_sized(void *block, size_t alignment, size_t size)
{
	(void)alignment;
	(void)size;
	free(block);
}
