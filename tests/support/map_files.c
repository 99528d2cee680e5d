#include "tests/support/map_files.h"

#include <fcntl.h>
#include <stdio.h>
#include <unistd.h>

bool
has_map_files(void)
{
	unsigned long begin, end;
	char path[96];
	FILE *maps = fopen("/proc/self/maps", "r");
	int fd = -1;

	if (maps != NULL && fscanf(maps, "%lx-%lx", &begin, &end) == 2) {
		snprintf(path, sizeof(path), "/proc/self/map_files/%lx-%lx",
		    begin, end);
		fd = open(path, O_RDONLY | O_CLOEXEC);
	}
	if (maps != NULL)
		fclose(maps);
	if (fd >= 0)
		close(fd);
	return fd >= 0;
}
