/*
 * Two functions inlined in a third. Tests tell them apart by their lines: 10 to
 * 19, 20 to 29, 30 to 39.
 */
#include <stdlib.h>

void *volatile inlined_kept;

#line 10
static inline __attribute__((always_inline)) void *
inlined_inner(size_t size)
{
	void *block = malloc(size + 4711);

	inlined_kept = block;
	return block;
}

#line 20
static inline __attribute__((always_inline)) void *
inlined_middle(size_t size)
{
	void *block;

	inlined_kept = NULL;
	block = inlined_inner(size);
	return block;
}

#line 30
__attribute__((noinline, noipa)) void *
inlined_outer(size_t size)
{
	void *block;

	inlined_kept = &block;
	block = inlined_middle(size);
	inlined_kept = &size;
	return block;
}

#line 40
int
main(void)
{
	return inlined_outer(8) == NULL;
}
