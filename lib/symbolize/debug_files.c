/*
 * Debug information is looked for: see debug_files.h.
 *
 * By build-id, and by the .gnu_debuglink in the file's folder, its .debug and
 * /usr/lib/debug, ours and the subject's; at last from debuginfod, which libdw
 * asks only where DEBUGINFOD_URLS says whom. libdw believes a file only if its
 * build-id or checksum fits.
 */
#include "lib/symbolize/debug_files.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "mu/sys.h"

#define URLS "DEBUGINFOD_URLS"
/* One download; and all of them: who waits for names wants to see leaks. */
#define FILE_SECONDS "20"
#define ALL_NS (60 * MU_NS_PER_SEC)
#define SILENCE_NS (5 * MU_NS_PER_SEC) /* of a server that is not there */

bool
mu_debug_files_open(struct mu_debug_files *files, const char *root, bool local)
{
	int length;

	*files = (struct mu_debug_files) { .local = local };
	length = root[0] == '\0'
	    ? asprintf(&files->path, ":.debug:/usr/lib/debug")
	    : asprintf(&files->path, ":.debug:/usr/lib/debug:%s/usr/lib/debug",
		  root);
	if (length < 0)
		files->path = NULL;
	/*
	 * libdw's own limit is 90 s for 100 KiB, and none for a file. TIMEOUT:
	 * seconds for 100 KiB; MAXTIME: for all of a file. Who set them keeps
	 * them.
	 */
	setenv("DEBUGINFOD_TIMEOUT", "5", 0);
	setenv("DEBUGINFOD_MAXTIME", FILE_SECONDS, 0);
	return files->path != NULL;
}

void
mu_debug_files_close(struct mu_debug_files *files)
{
	free(files->path);
	*files = (struct mu_debug_files) { 0 };
}

/* Not from afar: libdw reads the variable anew for each file. */
static int
find_local(Dwfl_Module *module, void **user, const char *name, Dwarf_Addr base,
    const char *file, const char *link, GElf_Word crc, char **found)
{
	const char *set = getenv(URLS);
	char *urls = set == NULL ? NULL : strdup(set);
	int fd;

	unsetenv(URLS);
	fd = dwfl_standard_find_debuginfo(
	    module, user, name, base, file, link, crc, found);
	if (urls != NULL)
		setenv(URLS, urls, 1);
	free(urls);
	return fd;
}

int
mu_debug_file_find(Dwfl_Module *module, void **user, const char *name,
    Dwarf_Addr base, const char *file, const char *link, GElf_Word crc,
    char **found)
{
	struct mu_debug_search *search = *user;
	struct mu_debug_files *files = search->files;
	uint64_t began, took;
	int fd = -1;

	if (search->path != NULL)
		fd = find_local(
		    module, user, name, base, search->path, link, crc, found);
	if (fd < 0)
		fd = find_local(
		    module, user, name, base, search->name, link, crc, found);
	if (fd >= 0 || files->local || files->spent_ns >= ALL_NS ||
	    getenv(URLS) == NULL)
		return fd;
	began = mu_sys_now_ns();
	fd = dwfl_standard_find_debuginfo(
	    module, user, name, base, file, link, crc, found);
	took = mu_sys_now_ns() - began;
	files->spent_ns += fd < 0 && took > SILENCE_NS ? ALL_NS : took;
	return fd;
}
