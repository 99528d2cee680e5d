/*
 * Find the command, and make its environment: see symbolizer.h.
 *
 * The environment is copied at the start, as another thread may change it
 * later. It does not include preloaded libraries, their options, or
 * debuginfod's servers, so that no report waits for a network.
 *
 * Runs in: original, at the start.
 */
#include <fcntl.h>
#include <limits.h>
#include <link.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "lib/report/symbolizer.h"
#include "mu/sys.h"
#include "mu/text.h"

#define NAME "memunreachable"

static const char *const left_out[] = { "LD_PRELOAD=", "LD_AUDIT=",
	"LIBC_DEBUG_MALLOC_OPTIONS=", "LIBC_HOOKS_ENABLE=", "MEMUNREACHABLE_",
	"LEAKTRACER_", "DEBUGINFOD_URLS=" };

static bool
is_kept(const char *entry)
{
	size_t i;

	for (i = 0; i < sizeof(left_out) / sizeof(*left_out); i++) {
		if (strncmp(entry, left_out[i], strlen(left_out[i])) == 0)
			return false;
	}
	return true;
}

/*
 * The name of FD's file in the kernel, which stays right if the working folder
 * changes.
 */
static bool
read_path(int fd, char *path, size_t size)
{
	char link[64];
	struct stat st;
	long n;

	mu_text_format(link, sizeof(link), "/proc/self/fd/%d", fd);
	n = mu_sys4(
	    SYS_readlinkat, AT_FDCWD, (long)link, (long)path, (long)size - 1);
	path[n > 0 ? n : 0] = '\0';
	return path[0] == '/' && fstat(fd, &st) == 0 && S_ISREG(st.st_mode) &&
	    mu_sys3(SYS_faccessat, AT_FDCWD, (long)path, X_OK) == 0;
}

/* Look in FOLDER of LENGTH bytes, with BELOW appended. */
static bool
is_in(const char *folder, size_t length, const char *below, char *path)
{
	char name[PATH_MAX + 64];
	bool found;
	int fd;

	if (length == 0 || length >= PATH_MAX)
		return false;
	memcpy(name, folder, length);
	mu_text_format(name + length, sizeof(name) - length, "%s/" NAME, below);
	fd = mu_sys_open(name, O_PATH | O_CLOEXEC, 0);
	found = fd >= 0 && read_path(fd, path, PATH_MAX);
	mu_sys_close(&fd);
	return found;
}

/* The object that contains this code; the program's own name is empty. */
static int
note_object(struct dl_phdr_info *object, size_t size, void *name)
{
	uintptr_t here = (uintptr_t)&left_out, begin;
	const ElfW(Phdr) * segment;
	size_t i;

	(void)size;
	for (i = 0; i < object->dlpi_phnum; i++) {
		segment = &object->dlpi_phdr[i];
		begin = object->dlpi_addr + segment->p_vaddr;
		if (segment->p_type == PT_LOAD && here >= begin &&
		    here - begin < segment->p_memsz) {
			mu_text_format(name, PATH_MAX, "%s", object->dlpi_name);
			return 1;
		}
	}
	return 0;
}

static bool
is_beside(char *path)
{
	char name[PATH_MAX] = "";
	const char *slash;
	size_t length;
	long n;

	dl_iterate_phdr(note_object, name);
	if (name[0] == '\0') {
		n = mu_sys4(SYS_readlinkat, AT_FDCWD, (long)"/proc/self/exe",
		    (long)name, sizeof(name) - 1);
		name[n > 0 ? n : 0] = '\0';
	}
	slash = strrchr(name, '/');
	if (slash == NULL)
		return false;
	length = slash == name ? 1 : (size_t)(slash - name);
	return is_in(name, length, "", path) ||
	    is_in(name, length, "/../bin", path) ||
	    is_in(name, length, "/../../bin", path);
}

/* Relative folders are skipped. */
static bool
is_on_path(const char *folders, char *path)
{
	size_t length;

	for (; folders != NULL && *folders != '\0'; folders += length) {
		folders += strspn(folders, ":");
		length = strcspn(folders, ":");
		if (*folders == '/' && is_in(folders, length, "", path))
			return true;
	}
	return false;
}

static bool
copy(struct mu_symbolizer *symbolizer, const char *path)
{
	size_t size = strlen(path) + 1, count = 1;
	char **entry, **copies, *at;
	long memory;

	for (entry = environ; entry != NULL && *entry != NULL; entry++) {
		size += strlen(*entry) + 1;
		count++;
	}
	memory = mu_sys_mmap(NULL, size + count * sizeof(*copies),
	    PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS);
	if (mu_sys_failed(memory))
		return false;
	copies = symbolizer->environment = (char **)memory;
	at = (char *)(copies + count);
	for (entry = environ; entry != NULL && *entry != NULL; entry++) {
		if (!is_kept(*entry))
			continue;
		*copies++ = at;
		at = stpcpy(at, *entry) + 1;
	}
	memcpy(at, path, strlen(path) + 1);
	symbolizer->path = at;
	return true;
}

bool
mu_symbolizer_open(struct mu_symbolizer *symbolizer)
{
	char path[PATH_MAX];

	return (is_beside(path) || is_on_path(secure_getenv("PATH"), path)) &&
	    copy(symbolizer, path);
}
