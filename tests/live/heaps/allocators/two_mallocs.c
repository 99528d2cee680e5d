/* An allocator with a prefix, beside glibc's. */
#include <stdio.h>
#include <stdlib.h>

void *private_malloc(size_t);

static void *kept[20];

int
main(void)
{
	size_t i;

	for (i = 0; i < 10; i++) {
		kept[2 * i] = malloc(100);
		kept[2 * i + 1] = private_malloc(100);
	}
	printf("the end\n");
	return 0;
}
