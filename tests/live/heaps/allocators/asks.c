/* Linked with the library: asks, and prints the answer. */
#include <memunreachable/memunreachable.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static __attribute__((noinline)) void
lose(void)
{
	size_t i;

	for (i = 0; i < 10; i++)
		memset(malloc(1000), 0, 1000);
	for (i = 0; i < 10; i++)
		free(malloc(1000));
}

static __attribute__((noinline)) void
scrub(void)
{
	volatile char stack[4096];
	size_t i;

	for (i = 0; i < sizeof(stack); i++)
		stack[i] = 0;
}

int
main(void)
{
	struct UnreachableMemoryInfo info = { 0 };

	lose();
	scrub();
	GetUnreachableMemory(&info, 10);
	printf("%s: %zu lost: %s\n", memunreachable_status_name(info.status),
	    info.num_leaks, info.reason);
	return 0;
}
