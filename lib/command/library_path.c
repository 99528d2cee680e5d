#include "lib/command/library_path.h"

#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "lib/command/configured.h"
#include "lib/term/safe_text.h"

/* NAME in the folder FROM FOLDER SUBFOLDER. */
static bool
is_there(const char *name, const char *from, const char *folder,
    const char *subfolder, char *path, size_t size)
{
	char there[2 * PATH_MAX], real[PATH_MAX];

	snprintf(
	    there, sizeof(there), "%s%s%s/%s", from, folder, subfolder, name);
	if (access(there, R_OK) != 0 || realpath(there, real) == NULL ||
	    strlen(real) >= size)
		return false;
	memcpy(path, real, strlen(real) + 1);
	return true;
}

/* The folder of this program; "" if it is unknown. */
static void
read_own_folder(char *folder, size_t size)
{
	ssize_t length = readlink("/proc/self/exe", folder, size - 1);
	char *slash;

	folder[length > 0 ? length : 0] = '\0';
	slash = strrchr(folder, '/');
	if (slash != NULL)
		*slash = '\0';
}

static enum mu_status
find(const char *name, char *path, size_t size, struct mu_why *why)
{
	const char *libdir = mu_configured_libdir;
	char own[PATH_MAX];

	read_own_folder(own, sizeof(own));
	if (!is_there(name, own, "", "", path, size) &&
	    !is_there(name, own, "/../lib", "", path, size) &&
	    !is_there(name, own, "/../lib64", "", path, size) &&
	    !is_there(
		name, own, "/../lib/", mu_configured_multiarch, path, size) &&
	    !is_there(name, libdir, "", "", path, size))
		return mu_why(why, MU_ERR_ARGUMENT,
		    "no %s in %s, in ../lib from there, or in %s" MU_CURE
		    "make install"
		    " puts it there",
		    name, mu_safe_argument(own).text, libdir);
	/* ld.so(8): these end a name in LD_PRELOAD, and cannot be quoted. */
	if (strpbrk(path, ": ") != NULL)
		return mu_why(why, MU_ERR_ARGUMENT,
		    "%s cannot be preloaded: LD_PRELOAD knows no path with a"
		    " space or a colon" MU_CURE "move it",
		    mu_safe_argument(path).text);
	return MU_OK;
}

enum mu_status
mu_library_path_find(char *path, size_t size, struct mu_why *why)
{
	return find(mu_configured_soname, path, size, why);
}

enum mu_status
mu_library_path_recorder(char *path, size_t size, struct mu_why *why)
{
	return find(mu_configured_recorder, path, size, why);
}
