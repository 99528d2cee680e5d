/*
 * A plugin holds the only pointers, which dlclose() removes. Except its
 * __thread variables: the thread's table of them (dtv) has the block until the
 * thread uses another such variable.
 */
#include <dlfcn.h>
#include <stdlib.h>

#include "tests/corpus/support/corpus.h"

static NOINLINE void *
load(const char *file)
{
	void *plugin = dlopen(file, RTLD_NOW | RTLD_LOCAL);

	if (plugin == NULL)
		corpus_skip(dlerror());
	return plugin;
}

static NOINLINE void
fill(void *plugin, const char *name)
{
	void (*function)(void);

	*(void **)&function = dlsym(plugin, name);
	function();
}

static NOINLINE void
load_and_unload(void)
{
	void *plugin = load("holder.so");

	corpus_lose("plugin");
	fill(plugin, "plugin_fill");
	corpus_lose_end();
	fill(plugin, "plugin_fill_own");
	if (dlclose(plugin) != 0)
		abort();
}

void
corpus_scenario(void)
{
	void *plugin = load("kept.so");

	fill(plugin, "plugin_fill");
	fill(plugin, "plugin_fill_own");
	load_and_unload();
}
