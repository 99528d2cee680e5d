/*
 * Debug files are searched by build-id in the folder that the user gave, in
 * /usr/lib/debug, ours and the subject's; by the name in .gnu_debuglink in the
 * file's folder, its .debug, and /usr/lib/debug; finally by debuginfod.
 * libdwfl's own search would open files before checking their type, and read
 * all of each for the checksum.
 */
#include "lib/symbolize/debug_files.h"

#include <elfutils/libdwelf.h>
#include <limits.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "lib/symbolize/build_id.h"
#include "lib/symbolize/debuginfod.h"
#include "lib/symbolize/inflated.h"
#include "mu/regular_file.h"
#include "mu/sys.h"

#define DEBUG "/usr/lib/debug"
#define DWZ "/.dwz/" /* files in which dwz(1) puts what several files share */
#define CHECKED_MAX ((off_t)512 << 20) /* bytes; read in about a second */
#define ALL_NS (60 * MU_NS_PER_SEC)    /* for debuginfod, for all modules */
#define SILENCE_NS (5 * MU_NS_PER_SEC) /* until a server responds */

/* Properties of the wanted file. */
struct wanted {
	const struct mu_debug_search *search;
	struct mu_build_id_hex id; /* "": the checksum must match */
	GElf_Word crc;
	char **found;
};

#define PIECE ((size_t)1 << 20)
#define POLYNOMIAL 0xedb88320u /* of CRC-32, the lowest bit first */

/*
 * The checksum of .gnu_debuglink: CRC-32 as in IEEE 802.3 and zlib.
 */

static void
make_table(uint32_t table[256])
{
	uint32_t value;
	unsigned i, bit;

	for (i = 0; i < 256; i++) {
		value = i;
		for (bit = 0; bit < 8; bit++)
			value =
			    value >> 1 ^ ((value & 1) != 0 ? POLYNOMIAL : 0);
		table[i] = value;
	}
}

/* The checksum of all bytes of FD. Returns false if it cannot be read. */
static bool
checksum_file(int fd, uint32_t *checksum)
{
	unsigned char *bytes = malloc(PIECE);
	uint32_t table[256], value = ~0u;
	uint64_t at = 0;
	ssize_t size, i;

	if (bytes == NULL)
		return false;
	make_table(table);
	while ((size = mu_sys_pread(fd, bytes, PIECE, at)) > 0) {
		for (i = 0; i < size; i++)
			value = value >> 8 ^ table[(value ^ bytes[i]) & 0xff];
		at += (uint64_t)size;
	}
	free(bytes);
	*checksum = ~value;
	return size == 0;
}

bool
mu_debug_files_open(struct mu_debug_files *files, const char *root,
    const struct mu_symbols_source *source)
{
	*files = (struct mu_debug_files) {
		.root = strdup(root),
		.given = source->debug,
		.local = source->local,
		.cache = source->cache,
	};
	return files->root != NULL;
}

void
mu_debug_files_close(struct mu_debug_files *files)
{
	free(files->root);
	*files = (struct mu_debug_files) { 0 };
}

static bool
fits(const struct wanted *wanted, int fd, off_t size)
{
	struct mu_build_id_hex id = { "" };
	uint32_t crc;
	Elf *elf;

	if (wanted->id.hex[0] == '\0')
		return wanted->crc != 0 && size <= CHECKED_MAX &&
		    checksum_file(fd, &crc) && crc == wanted->crc;
	elf = elf_begin(fd, ELF_C_READ, NULL);
	if (elf != NULL)
		id = mu_build_id_of(elf);
	elf_end(elf);
	return strcmp(id.hex, wanted->id.hex) == 0;
}

static int try_format(const struct wanted *wanted, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

static int
try_format(const struct wanted *wanted, const char *format, ...)
{
	char path[2 * PATH_MAX];
	struct stat about;
	va_list args;
	int fd, length;

	va_start(args, format);
	length = vsnprintf(path, sizeof(path), format, args);
	va_end(args);
	if (length <= 0 || (size_t)length >= sizeof(path))
		return -1;
	fd = mu_regular_file_open(AT_FDCWD, path, &about);
	if (fd < 0)
		return -1;
	if (fits(wanted, fd, about.st_size) &&
	    (*wanted->found = strdup(path)) != NULL)
		return fd;
	close(fd);
	return -1;
}

/* Try TAIL below each folder that has debug files. */
static int
try_folders(const struct wanted *wanted, const char *tail)
{
	const struct mu_debug_files *files = wanted->search->files;
	int fd = -1;

	if (files->given != NULL)
		fd = try_format(wanted, "%s%s", files->given, tail);
	if (fd < 0 && files->given != NULL)
		fd = try_format(wanted, "%s" DEBUG "%s", files->given, tail);
	if (fd < 0)
		fd = try_format(wanted, DEBUG "%s", tail);
	if (fd < 0 && files->root[0] != '\0')
		fd = try_format(wanted, "%s" DEBUG "%s", files->root, tail);
	return fd;
}

static int
try_build_id(const struct wanted *wanted)
{
	const char *id = wanted->id.hex;
	char tail[sizeof(wanted->id.hex) + 32];

	/* The folder is named by the first byte. */
	if (strlen(id) <= 2)
		return -1;
	snprintf(tail, sizeof(tail), "/.build-id/%.2s/%s.debug", id, id + 2);
	return try_folders(wanted, tail);
}

/* Try LINK in and near the folder of PATH, which is below ROOT. */
static int
try_around(const struct wanted *wanted, const char *root, const char *path,
    const char *link)
{
	const char *slash = strrchr(path, '/');
	int fd, length = slash == NULL ? 0 : (int)(slash - path);

	if (slash == NULL)
		return -1;
	fd = try_format(wanted, "%s%.*s/%s", root, length, path, link);
	if (fd < 0)
		fd = try_format(
		    wanted, "%s%.*s/.debug/%s", root, length, path, link);
	if (fd < 0)
		fd = try_format(
		    wanted, "%s" DEBUG "%.*s/%s", root, length, path, link);
	return fd;
}

/*
 * gdb's manual, "Separate Debug Files": the link is a file name without
 * folders. With folders it could lead anywhere.
 */
static int
try_link(const struct wanted *wanted, const char *link)
{
	const struct mu_debug_search *search = wanted->search;
	const char *root = search->files->root, *path = search->path;
	const char *given = search->files->given;
	int fd = -1;

	if (link == NULL || link[0] == '\0' || strchr(link, '/') != NULL ||
	    strcmp(link, ".") == 0 || strcmp(link, "..") == 0)
		return -1;
	if (given != NULL)
		fd = try_format(wanted, "%s/%s", given, link);
	if (fd < 0 && given != NULL)
		fd = try_around(wanted, given, search->name, link);
	if (fd < 0 && root[0] != '\0')
		fd = try_around(wanted, root, search->name, link);
	if (fd < 0)
		fd = try_around(wanted, "", search->name, link);
	/* --exe; there are no program folders below /proc/PID. */
	if (fd < 0 && path != NULL && strncmp(path, "/proc/", 6) != 0)
		fd = try_around(wanted, "", path, link);
	return fd;
}

/*
 * Find the file that dwz(1) made of what several debug files share, for the
 * debug information DWARF.
 */
static int
find_shared(struct wanted *wanted, Dwarf *dwarf)
{
	const char *name = NULL, *tail = NULL;
	const void *id = NULL;
	ssize_t size = dwelf_dwarf_gnu_debugaltlink(dwarf, &name, &id);
	int fd;

	wanted->id = mu_build_id_hex(id, size);
	if (wanted->id.hex[0] == '\0')
		return -1;
	fd = try_build_id(wanted);
	if (name != NULL)
		tail = strstr(name, DWZ);
	if (fd >= 0 || tail == NULL || strstr(tail, "..") != NULL)
		return fd;
	return try_folders(wanted, tail);
}

static int
ask_debuginfod(const struct wanted *wanted)
{
	struct mu_debug_files *files = wanted->search->files;
	uint64_t began = mu_sys_now_ns(), took;
	int fd;

	if (files->local || files->spent_ns >= ALL_NS ||
	    wanted->id.hex[0] == '\0' || !mu_debuginfod_named())
		return -1;
	fd = mu_debuginfod_find(wanted->id.hex, wanted->found);
	took = mu_sys_now_ns() - began;
	files->spent_ns += fd < 0 && took > SILENCE_NS ? ALL_NS : took;
	return fd;
}

/* FD, or its inflated form, for libdwfl to close. Notes in FOUND what it is. */
static int
inflate(const struct wanted *wanted, int fd, struct stat *found)
{
	if (fd < 0)
		return fd;
	if (fstat(fd, found) != 0)
		found->st_ino = 0;
	return mu_inflated_file(
	    wanted->search->files->cache, wanted->id.hex, found, fd);
}

int
mu_debug_file_find(Dwfl_Module *module, void **user, const char *name,
    Dwarf_Addr base, const char *file, const char *link, GElf_Word crc,
    char **found)
{
	struct mu_debug_search *search = *user;
	struct wanted wanted = { search, { "" }, crc, found };
	struct stat shared;
	const unsigned char *bits;
	GElf_Addr address;
	Dwarf *dwarf;
	int fd, size;

	(void)name;
	(void)base;
	(void)file;
	if (wanted.search->none)
		return -1;
	/* .gnu_debugaltlink has no checksum. */
	if (link != NULL && crc == 0) {
		dwarf = dwfl_module_getdwarf(module, &address);
		fd = dwarf == NULL ? -1 : find_shared(&wanted, dwarf);
		return inflate(&wanted, fd, &shared);
	}
	size = dwfl_module_build_id(module, &bits, &address);
	wanted.id = mu_build_id_hex(bits, size);
	fd = try_build_id(&wanted);
	if (fd < 0)
		fd = try_link(&wanted, link);
	/* The same file before it was stripped. */
	if (fd < 0 && search->files->given != NULL)
		fd = try_format(
		    &wanted, "%s%s", search->files->given, search->name);
	if (fd < 0)
		fd = ask_debuginfod(&wanted);
	return inflate(&wanted, fd, &search->found);
}
