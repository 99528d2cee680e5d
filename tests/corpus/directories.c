/* opendir() without closedir(), and the names that scandir() returns. */
#include <dirent.h>
#include <stdlib.h>

#include "tests/corpus/support/corpus.h"

static NOINLINE DIR *
open_dir(void)
{
	DIR *dir = opendir("/proc/self");

	if (dir == NULL || readdir(dir) == NULL)
		abort();
	return corpus_use(dir);
}

static int
is_short(const struct dirent *entry)
{
	return entry->d_name[0] == 's';
}

static NOINLINE struct dirent **
scan(void)
{
	struct dirent **names;

	if (scandir("/proc/self", &names, is_short, alphasort) < 2)
		abort();
	return corpus_use(names);
}

void
corpus_scenario(void)
{
	corpus_keep(open_dir());
	corpus_keep(scan());
	corpus_lose("dir");
	open_dir();
	corpus_lose("names");
	scan();
}
