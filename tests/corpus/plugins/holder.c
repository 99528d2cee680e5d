/* A plugin that holds blocks in its data, and as a __thread variable. */
#include <stdlib.h>

void *plugin_data[100];
__thread void *plugin_own;

void plugin_fill(void);
void plugin_fill_own(void);

void
plugin_fill(void)
{
	void **pair = malloc(2 * sizeof(*pair));

	pair[0] = malloc(33);
	pair[1] = NULL;
	plugin_data[50] = pair;
}

void
plugin_fill_own(void)
{
	plugin_own = malloc(44);
}
