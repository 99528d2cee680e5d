/* A frame with pointers that no debug information describes. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The address of a block, and how far its word is from the stack pointer. */
__attribute__((noinline)) void
ask(size_t size)
{
	void *list[40];
	char *sp;
	int i;

	for (i = 0; i < 40; i++)
		list[i] = memset(malloc(size), 1, size);
	__asm__ volatile("" : : "r"(list) : "memory");
#ifdef __x86_64__
	__asm__ volatile("movq %%rsp, %0" : "=r"(sp));
#else
	__asm__ volatile("mov %0, sp" : "=r"(sp));
#endif
	printf("%lx %lx\nready\n", (unsigned long)list[17],
	    (unsigned long)((char *)&list[17] - sp));
	fflush(stdout);
	getchar();
	__asm__ volatile("" : : "r"(list) : "memory");
}

int
main(void)
{
	ask(500);
	return 0;
}
