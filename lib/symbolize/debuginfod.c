/*
 * libdebuginfod needs an HTTP library; as in libdw, it is loaded when a server
 * has to be asked.
 */
#include "lib/symbolize/debuginfod.h"

#include <dlfcn.h>
#include <stdlib.h>

#define FILE_SECONDS "20" /* for one file */
#define LIBRARY "libdebuginfod.so.1"

struct client;

struct calls {
	struct client *(*begin)(void);
	int (*find)(struct client *client, const unsigned char *id, int length,
	    char **path);
	void (*end)(struct client *client);
};

bool
mu_debuginfod_named(void)
{
	const char *urls = getenv("DEBUGINFOD_URLS");

	return urls != NULL && urls[0] != '\0';
}

static bool
load(struct calls *calls)
{
	void *library = dlopen(LIBRARY, RTLD_NOW | RTLD_LOCAL);

	if (library == NULL)
		return false;
	*(void **)&calls->begin = dlsym(library, "debuginfod_begin");
	*(void **)&calls->find = dlsym(library, "debuginfod_find_debuginfo");
	*(void **)&calls->end = dlsym(library, "debuginfod_end");
	return calls->begin != NULL && calls->find != NULL &&
	    calls->end != NULL;
}

int
mu_debuginfod_find(const char *id, char **path)
{
	struct client *client;
	struct calls calls;
	int fd = -1;

	/*
	 * debuginfod_find_debuginfo(3): the defaults are 90 s for the first 100
	 * KiB, and no limit for a file. A user's own values are kept.
	 */
	setenv("DEBUGINFOD_TIMEOUT", "5", 0);
	setenv("DEBUGINFOD_MAXTIME", FILE_SECONDS, 0);
	if (!load(&calls) || (client = calls.begin()) == NULL)
		return -1;
	/* Length 0: the build-id is a string of hex digits. */
	fd = calls.find(client, (const unsigned char *)id, 0, path);
	calls.end(client);
	return fd < 0 ? -1 : fd;
}
