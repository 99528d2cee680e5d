/*
 * Blocks that are allocated before all constructors and freed in main() and
 * after it; and blocks of main() that are freed by the last destructors.
 */
#include <malloc.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void *early[40];
static char *late[10];

static void
before_all(int argc, char **argv, char **environment)
{
	size_t i;

	(void)argc;
	(void)argv;
	(void)environment;
	for (i = 0; i < 40; i++)
		early[i] = i % 2 == 0 ? malloc(i * 10) : calloc(i, 10);
	early[0] = realloc(early[0], 1000);
	free(early[39]);
	early[39] = NULL;
}

__attribute__((section(".preinit_array"), used)) static void (*const first)(
    int, char **, char **) = before_all;

__attribute__((constructor(102))) static void
constructed(void)
{
	early[39] = strdup("constructed");
}

__attribute__((destructor(101))) static void
destructed(void)
{
	size_t i;

	for (i = 0; i < 10; i++) {
		late[i] = realloc(late[i], 2000);
		free(late[i]);
	}
	for (i = 1; i < 40; i += 2)
		free(early[i]);
	free(malloc(77));
}

int
main(void)
{
	size_t i;

	for (i = 0; i < 10; i++)
		late[i] = malloc(100);
	for (i = 0; i < 40; i += 2) {
		if (malloc_usable_size(early[i]) < i * 10)
			return 1;
		free(early[i]);
	}
	return 5;
}
