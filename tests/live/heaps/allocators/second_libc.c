/*
 * Loads a second libc by dlmopen(); argument "use": and uses its malloc.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int
main(int argc, char **argv)
{
	void *handle = dlmopen(LM_ID_NEWLM, "libc.so.6", RTLD_NOW);
	void *(*other)(size_t);
	size_t i;

	if (handle == NULL) {
		fprintf(stderr, "%s\n", dlerror());
		return 77;
	}
	other = (void *(*)(size_t))dlsym(handle, "malloc");
	if (argc > 1 && strcmp(argv[1], "use") == 0)
		for (i = 0; i < 10; i++)
			memset(other(i < 5 ? 1000 : 500000), 1, 1000);
	printf("the end\n");
	return 0;
}
