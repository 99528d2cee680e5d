#include "lib/term/nameless.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

static int
open_in(const char *folder)
{
	int fd = open(folder, O_RDWR | O_TMPFILE | O_CLOEXEC, 0600);
	char name[4096];

	/* overlayfs has no O_TMPFILE before Linux 6.3. */
	if (fd >= 0 ||
	    (size_t)snprintf(name, sizeof(name), "%s/memunreachable.XXXXXX",
		folder) >= sizeof(name))
		return fd;
	fd = mkostemp(name, O_CLOEXEC);
	if (fd >= 0)
		unlink(name);
	return fd;
}

/* Large files belong to /var/tmp; /tmp may be in memory. */
int
mu_nameless_open(void)
{
	const char *folders[] = { secure_getenv("TMPDIR"), "/var/tmp", "/tmp" };
	int fd = -1;
	size_t i;

	for (i = 0; fd < 0 && i < 3; i++)
		if (folders[i] != NULL && folders[i][0] != '\0')
			fd = open_in(folders[i]);
	return fd;
}
