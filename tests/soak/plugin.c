/*
 * The library that the soak loads and unloads: it allocates blocks, one held by
 * a variable, one by thread-local storage.
 */
#include <stdlib.h>
#include <string.h>

static char *kept;
static __thread char *kept_by_thread;

__attribute__((constructor)) static void
load(void)
{
	kept = malloc(700);
	if (kept != NULL)
		memset(kept, 'k', 700);
}

__attribute__((destructor)) static void
unload(void)
{
	free(kept);
}

int plugin_visit(size_t size);

/* 0 if all is as it was left. */
int
plugin_visit(size_t size)
{
	int wrong = kept == NULL || kept[0] != 'k' || kept[699] != 'k';

	kept_by_thread = calloc(1, size + 1);
	wrong |= kept_by_thread == NULL || kept_by_thread[size] != 0;
	free(kept_by_thread);
	kept_by_thread = NULL;
	return wrong;
}
