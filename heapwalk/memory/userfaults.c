/*
 * To copy what cannot be read into a page changes nothing. It fails with ENOENT
 * if the page's mapping is not registered, with EFAULT mostly if it is, no
 * matter with which userfaultfd (validate_dst_vma() and mfill_atomic_pte_copy()
 * in mm/userfaultfd.c).
 */
#include "heapwalk/memory/userfaults.h"

#include <linux/userfaultfd.h>
#include <sys/ioctl.h>

#include "heapwalk/subject/classify.h"
#include "mu/sys.h"

#ifndef UFFD_USER_MODE_ONLY
#define UFFD_USER_MODE_ONLY 1 /* needs no privilege; since Linux 5.11 */
#endif

/* Returns a userfaultfd, or less than 0. */
static int
open_one(void)
{
	struct uffdio_api api = { .api = UFFD_API };
	int fd = (int)mu_sys1(
	    SYS_userfaultfd, O_CLOEXEC | O_NONBLOCK | UFFD_USER_MODE_ONLY);

	if (fd >= 0 &&
	    mu_sys3(SYS_ioctl, fd, (long)UFFDIO_API, (long)&api) != 0)
		mu_sys_close(&fd);
	return fd;
}

static bool
watch(int fd, uintptr_t page, size_t size)
{
	struct uffdio_register request = {
		.range = { page, size },
		.mode = UFFDIO_REGISTER_MODE_MISSING,
	};

	return mu_sys3(SYS_ioctl, fd, (long)UFFDIO_REGISTER, (long)&request) ==
	    0;
}

static long
copy(int fd, uintptr_t page, uintptr_t closed, size_t size)
{
	struct uffdio_copy request = {
		.dst = page,
		.src = closed,
		.len = size,
	};

	return mu_sys3(SYS_ioctl, fd, (long)UFFDIO_COPY, (long)&request);
}

/*
 * True if CLOSED cannot be read as long as OTHER is open, and this kernel tells
 * of what is registered with another userfaultfd.
 */
static bool
can_tell(int fd, int other, uintptr_t closed, size_t size)
{
	return watch(other, closed, size) &&
	    copy(fd, closed, closed, size) == -EFAULT;
}

/* A wait that is over when it begins: the kernel reads the word, no more. */
static bool
is_unreadable(uintptr_t closed)
{
	return mu_sys_futex_wait(
		   (const int *)closed, 1, FUTEX_PRIVATE_FLAG, 0) == -EFAULT;
}

/*
 * A file on a disk cannot be registered (vma_can_userfault() in
 * mm/userfaultfd.c); those in memory have a device with the major number 0.
 * /dev/zero may be on a disk, and what it is mapped as is not.
 */
static bool
can_be_registered(const struct mu_mapping *mapping)
{
	return !mapping->shared && mu_mapping_can_be_memory(mapping) &&
	    (mapping->dev_major == 0 || mu_mapping_is_named(mapping, "/dev/"));
}

static bool
each_unregistered(int fd, const struct mu_snapshot *snap, uintptr_t closed)
{
	const struct mu_mapping *mapping = snap->mappings;
	const struct mu_mapping *end = mapping + snap->num_mappings;

	for (; mapping < end; mapping++)
		if (can_be_registered(mapping) &&
		    mapping->range.begin != closed &&
		    copy(fd, mapping->range.begin, closed,
			snap->memory.page_size) != -ENOENT)
			return false;
	return true;
}

bool
mu_userfaults_none(
    const struct mu_snapshot *snap, uintptr_t closed, bool *tells)
{
	int fd = open_one(), other = -1;
	bool none;

	if (!*tells || !is_unreadable(closed)) {
		other = open_one();
		*tells = can_tell(fd, other, closed, snap->memory.page_size);
	}
	none = *tells && each_unregistered(fd, snap, closed);
	mu_sys_close(&fd);
	mu_sys_close(&other);
	return none;
}
