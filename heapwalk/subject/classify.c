#include "heapwalk/subject/classify.h"

#include <linux/stat.h>
#include <string.h>

#include "mu/sys.h"

#ifndef AT_NO_AUTOMOUNT
#define AT_NO_AUTOMOUNT 0x800
#endif
#ifndef AT_STATX_DONT_SYNC
#define AT_STATX_DONT_SYNC 0x4000
#endif

static bool
has_prefix(const char *name, const char *const *prefixes, size_t count)
{
	size_t i;

	for (i = 0; i < count; i++) {
		if (mu_starts_with(name, prefixes[i]))
			return true;
	}
	return false;
}

#define HAS_PREFIX(name, prefixes) \
	has_prefix(name, prefixes, sizeof(prefixes) / sizeof(*(prefixes)))

/* True for plain memory whose name looks like that of a device. */
static bool
is_memory_file(const char *name)
{
	static const char *const memory[] = { "/dev/zero", "/dev/shm/",
		"/dev/hugepages/", "anon_inode:[io_uring]" };

	return HAS_PREFIX(name, memory);
}

static bool
is_device(const char *name)
{
	static const char *const device[] = { "/dev/", "/proc/", "/sys/",
		"anon_inode:", "socket:", "/dmabuf:" };

	return HAS_PREFIX(name, device) && !is_memory_file(name);
}

/* [vvar], [vvar_vclock], [vdso], [vsyscall], [uprobes] ... */
static bool
is_kernel_page(const char *name)
{
	static const char *const ours[] = { "[heap]", "[stack", "[anon" };

	return name[0] == '[' && !HAS_PREFIX(name, ours);
}

bool
mu_mapping_is_memory(const struct mu_mapping *mapping)
{
	return mapping->readable && !is_kernel_page(mapping->name) &&
	    !is_device(mapping->name);
}

/* True if all of RANGE is covered, without gaps, by mappings of KIND. */
static inline bool
mappings_are(bool (*kind)(const struct mu_mapping *mapping),
    const struct mu_mapping *mappings, size_t count, struct mu_range range)
{
	const struct mu_mapping *end = mappings + count;
	const struct mu_mapping *mapping =
	    mu_mapping_from(mappings, count, range.begin);
	uintptr_t at = range.begin;

	for (; mapping != NULL && mapping < end && at < range.end; mapping++) {
		if (mapping->range.begin > at || !kind(mapping))
			return false;
		at = mapping->range.end;
	}
	return at >= range.end;
}

bool
mu_mappings_are_memory(
    const struct mu_mapping *mappings, size_t count, struct mu_range range)
{
	return mappings_are(mu_mapping_is_memory, mappings, count, range);
}

bool
mu_mappings_are_anonymous(
    const struct mu_mapping *mappings, size_t count, struct mu_range range)
{
	return mappings_are(mu_mapping_is_anonymous, mappings, count, range);
}

/* "/anon_hugepage (deleted)": for the kernel MAP_HUGETLB memory is a file. */
bool
mu_mapping_is_anonymous(const struct mu_mapping *mapping)
{
	if (mapping->shared)
		return false;
	if (mapping->inode != 0)
		return mu_mapping_is_named(mapping, "/anon_hugepage");
	return mapping->name[0] == '\0' ||
	    (mapping->name[0] == '[' && !is_kernel_page(mapping->name));
}

bool
mu_mapping_is_named(const struct mu_mapping *mapping, const char *prefix)
{
	return strncmp(mapping->name, prefix, strlen(prefix)) == 0;
}

/*
 * A tmpfs can hold device nodes. A deleted file cannot be checked and counts as
 * regular. DONT_SYNC and NO_AUTOMOUNT: this must not wait for a server,
 * whatever is mounted on the way.
 */
static bool
is_regular(const struct mu_mapping *mapping)
{
	struct statx about;
	long error;

	memset(&about, 0, sizeof(about));
	error = mu_syscall6(SYS_statx, AT_FDCWD, (long)mapping->name,
	    AT_SYMLINK_NOFOLLOW | AT_NO_AUTOMOUNT | AT_STATX_DONT_SYNC,
	    STATX_TYPE | STATX_INO, (long)&about, 0);
	return error < 0 || about.stx_ino != mapping->inode ||
	    (about.stx_mode & S_IFMT) == S_IFREG;
}

/*
 * "/dev/zero (deleted)": MAP_SHARED|MAP_ANONYMOUS. "[anon_shmem:" is the same
 * with a name (PR_SET_VMA), "/anon_hugepage (deleted)" with MAP_HUGETLB.
 * "/SYSV" and the key: shmat(). "/secretmem": memfd_secret().
 */
static bool
is_shared_by_name(const char *name)
{
	static const char *const memory[] = { "/dev/zero", "/SYSV",
		"/memfd:", "/secretmem", "/anon_hugepage",
		"[anon_shmem:", "/dev/shm/", "/[aio]",
		"anon_inode:[io_uring]" };

	return HAS_PREFIX(name, memory);
}

bool
mu_mapping_can_be_memory(const struct mu_mapping *mapping)
{
	struct mu_mapping open = *mapping;

	open.readable = true;
	return mu_mapping_is_memory(&open) &&
	    (mapping->readable || !mapping->shared ||
		is_shared_by_name(mapping->name));
}

bool
mu_mapping_is_shared_memory(
    const struct mu_mapping *mapping, struct mu_tmpfs *tmpfs)
{
	if (!mapping->shared || !mu_mapping_is_memory(mapping))
		return false;
	if (is_shared_by_name(mapping->name))
		return true;
	return mapping->inode != 0 &&
	    mu_tmpfs_has(tmpfs, mapping->dev_major, mapping->dev_minor) &&
	    is_regular(mapping);
}

bool
mu_mapping_is_view(const struct mu_mapping *mapping)
{
	static const char *const memory[] = { "/memfd:", "/dev/shm/" };

	return !mapping->shared && mapping->inode != 0 &&
	    HAS_PREFIX(mapping->name, memory);
}

bool
mu_mapping_is_changing(const struct mu_mapping *mapping, struct mu_tmpfs *tmpfs)
{
	struct mu_mapping open = *mapping;

	open.readable = true;
	return mu_mapping_can_be_memory(mapping) &&
	    (mu_mapping_is_view(mapping) ||
		mu_mapping_is_shared_memory(&open, tmpfs));
}

bool
mu_mapping_same_file(const struct mu_mapping *a, const struct mu_mapping *b)
{
	return a->inode != 0 && a->inode == b->inode &&
	    a->dev_major == b->dev_major && a->dev_minor == b->dev_minor &&
	    strcmp(a->name, b->name) == 0;
}

const char *
mu_path_base(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash != NULL ? slash + 1 : path;
}
