/*
 * Classification of mappings by lines as kernels print them, and of tmpfs
 * devices by a mountinfo.
 */
#include <linux/magic.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <sys/vfs.h>

#include "heapwalk/subject/classify.h"
#include "tests/support/suite.h"

static const char mountinfo[] =
    "24 27 0:6 / /dev rw,relatime - devtmpfs devtmpfs rw,size=1k,mode=755\n"
    "25 24 0:23 / /dev/shm rw,relatime shared:5 - tmpfs tmpfs rw\n"
    "26 24 0:24 / /a\\040-\\040tmpfs rw - ext4 /dev/vda rw\n"
    "27 24 8:1 / / rw,relatime shared:1 master:2 - ext4 /dev/sda1 rw\n"
    "28 24 0:234 /sub /run rw,nosuid - tmpfs none rw,mode=755\n"
    "29 24 0:25 / /q rw - tmpfs";

static bool
parse(unsigned major, unsigned minor)
{
	return mu_tmpfs_parse(mountinfo, sizeof(mountinfo) - 1, major, minor);
}

TEST(tmpfs_by_device)
{
	ck_assert(parse(0, 23));
	ck_assert(parse(0, 234));
	ck_assert(!parse(0, 6)); /* device nodes live there */
	ck_assert(!parse(0, 24));
	ck_assert(!parse(8, 1));
	ck_assert(!parse(0, 2));
	ck_assert(!parse(24, 0));
	ck_assert(!parse(0, 25)); /* not a whole line */
}

/* Every prefix, and every byte damaged: no crash, and no read past the end. */
TEST(tmpfs_of_garbage)
{
	size_t length = sizeof(mountinfo) - 1, i;
	char *copy;

	for (i = 0; i <= length; i++) {
		copy = malloc(i + 1);
		memcpy(copy, mountinfo, i);
		mu_tmpfs_parse(copy, i, 0, 234);
		if (i > 0) {
			copy[i / 2] = "\n :-0\0"[i % 6];
			mu_tmpfs_parse(copy, i, 0, 234);
		}
		free(copy);
	}
	ck_assert(!mu_tmpfs_parse("", 0, 0, 0));
	ck_assert(!mu_tmpfs_parse(
	    "1 2 99999999999999999999:1 / / - tmpfs \n", 40, 0xffffffff, 1));
}

/*
 * Is there a tmpfs at /dev/shm, and not just a folder of /dev's devtmpfs (whose
 * magic is the same), as in a chroot to which only /dev was bound?
 */
static bool
has_own_tmpfs(struct stat *shm)
{
	struct stat dev;
	struct statfs fs;

	return statfs("/dev/shm", &fs) == 0 && fs.f_type == TMPFS_MAGIC &&
	    stat("/dev/shm", shm) == 0 && stat("/dev", &dev) == 0 &&
	    dev.st_dev != shm->st_dev;
}

TEST(tmpfs_of_this_system)
{
	struct mu_tmpfs tmpfs = { .next = 0 };
	struct stat about;
	int i;

	if (!has_own_tmpfs(&about)) {
		fprintf(stderr, "SKIPPED: no separate tmpfs at /dev/shm\n");
		return;
	}
	/* More devices than answers are remembered. */
	for (i = 0; i < 3 * MU_TMPFS_ANSWERS; i++) {
		ck_assert(!mu_tmpfs_has(&tmpfs, 4000, (unsigned)i));
		ck_assert(mu_tmpfs_has(
		    &tmpfs, major(about.st_dev), minor(about.st_dev)));
	}
	ck_assert_int_eq(stat("/proc", &about), 0);
	ck_assert(
	    !mu_tmpfs_has(&tmpfs, major(about.st_dev), minor(about.st_dev)));
}

static struct mu_mapping
mapping(const char *name, uint64_t inode, bool shared)
{
	return (struct mu_mapping) { .range = { 0x10000, 0x20000 },
		.readable = true,
		.writable = true,
		.shared = shared,
		.inode = inode,
		.dev_major = 4000,
		.name = name };
}

static bool
is_memory(const char *name, uint64_t inode)
{
	struct mu_mapping made = mapping(name, inode, false);

	return mu_mapping_is_memory(&made);
}

static bool
is_anonymous(const char *name, uint64_t inode)
{
	struct mu_mapping made = mapping(name, inode, false);

	return mu_mapping_is_anonymous(&made);
}

static bool
is_shared_memory(const char *name, uint64_t inode)
{
	struct mu_mapping made = mapping(name, inode, true);
	struct mu_tmpfs tmpfs = { .next = 0 };

	return mu_mapping_is_shared_memory(&made, &tmpfs);
}

TEST(devices_and_kernel_pages)
{
	struct mu_mapping unreadable = mapping("", 0, false);

	unreadable.readable = false;
	ck_assert(!mu_mapping_is_memory(&unreadable));
	ck_assert(is_memory("", 0));
	ck_assert(is_memory("[heap]", 0));
	ck_assert(is_memory("[stack]", 0));
	ck_assert(is_memory("[anon: glibc: malloc]", 0));
	ck_assert(is_memory("/usr/lib/libc.so.6", 7));
	ck_assert(is_memory("/home/u/dev/libx.so", 7));
	ck_assert(is_memory("/dev/zero", 7));
	ck_assert(is_memory("/dev/shm/x", 7));
	ck_assert(is_memory("/dev/hugepages/x", 7));
	ck_assert(!is_memory("/dev/mem", 7));
	ck_assert(!is_memory("/dev/nvidia0", 7));
	ck_assert(!is_memory("/sys/devices/pci0000:00/resource0", 7));
	ck_assert(!is_memory("anon_inode:[vfio-device]", 7));
	ck_assert(!is_memory("[vvar]", 0));
	ck_assert(!is_memory("[vvar_vclock]", 0));
	ck_assert(!is_memory("[vdso]", 0));
	ck_assert(!is_memory("[vsyscall]", 0));
	ck_assert(!is_memory("[uprobes]", 0));
}

TEST(anonymous)
{
	ck_assert(is_anonymous("", 0));
	ck_assert(is_anonymous("[heap]", 0));
	ck_assert(is_anonymous("[stack]", 0));
	ck_assert(is_anonymous("[anon:x]", 0));
	ck_assert(!is_anonymous("[vdso]", 0));
	ck_assert(!is_anonymous("/bin/true", 7));
	ck_assert(is_anonymous("/anon_hugepage (deleted)", 7));
}

TEST(shared)
{
	ck_assert(is_shared_memory("/dev/zero (deleted)", 7));
	ck_assert(is_shared_memory("/SYSV00000000 (deleted)", 7));
	ck_assert(is_shared_memory("/memfd:x (deleted)", 7));
	ck_assert(is_shared_memory("/anon_hugepage (deleted)", 7));
	ck_assert(is_shared_memory("[anon_shmem:x]", 7));
	ck_assert(is_shared_memory("anon_inode:[io_uring]", 7));
	ck_assert(is_shared_memory("/[aio] (deleted)", 7));
	ck_assert(!is_shared_memory("/var/lib/data.db", 7));
	ck_assert(!is_shared_memory("/var/lib/data.db (deleted)", 7));
	ck_assert(!is_shared_memory("/dev/dri/card0", 7));
	ck_assert(!is_shared_memory("anon_inode:[perf_event]", 7));
	ck_assert(!is_shared_memory("/dmabuf:", 7));
}

/* By device number, whatever the name says; but a device node is none. */
/* Private mappings of files that others write to; not a program's code. */
TEST(views)
{
	struct mu_mapping mapping = {
		.range = { 0x1000, 0x3000 },
		.readable = true,
		.inode = 7,
		.name = "/memfd:x (deleted)",
	};

	ck_assert(mu_mapping_is_view(&mapping));
	mapping.name = "/dev/shm/x";
	ck_assert(mu_mapping_is_view(&mapping));
	mapping.executable = true;
	ck_assert(mu_mapping_is_view(&mapping));
	mapping.executable = false;
	mapping.name = "/tmp/x";
	ck_assert(!mu_mapping_is_view(&mapping));
}

TEST(shared_on_tmpfs)
{
	struct mu_mapping made = mapping("/srv/data (deleted)", 7, true);
	struct mu_tmpfs tmpfs = { .next = 0 };
	struct stat about;
	char link[64], node[80];

	if (!has_own_tmpfs(&about)) {
		fprintf(stderr, "SKIPPED: no separate tmpfs at /dev/shm\n");
		return;
	}
	made.dev_major = major(about.st_dev);
	made.dev_minor = minor(about.st_dev);
	ck_assert(mu_mapping_is_shared_memory(&made, &tmpfs));
	made.name = "/dev/null";
	ck_assert(!mu_mapping_is_shared_memory(&made, &tmpfs));
	/* The same node under a name that does not give it away. */
	snprintf(link, sizeof(link), "/tmp/test_classify.%d", (int)getpid());
	ck_assert_int_eq(symlink("/dev", link), 0);
	snprintf(node, sizeof(node), "%s/null", link);
	made.name = node;
	ck_assert_int_eq(stat(node, &about), 0);
	made.inode = about.st_ino;
	ck_assert(!mu_mapping_is_shared_memory(&made, &tmpfs));
	unlink(link);
}
