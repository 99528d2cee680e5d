/* Whether memory of this process is registered with a userfaultfd. */
#include <linux/userfaultfd.h>
#include <sys/ioctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>

#include "heapwalk/memory/userfaults.h"
#include "tests/support/heaps/image.h"
#include "tests/support/suite.h"

#ifndef UFFD_USER_MODE_ONLY
#define UFFD_USER_MODE_ONLY 1
#endif

static struct mu_snapshot snap;
static char *closed;
static bool tells;

static bool
none(void)
{
	return mu_userfaults_none(&snap, (uintptr_t)closed, &tells);
}

static size_t
num_lines(void)
{
	FILE *maps = fopen("/proc/self/maps", "re");
	size_t lines = 0;
	int c;

	while ((c = fgetc(maps)) != EOF)
		lines += c == '\n';
	fclose(maps);
	return lines;
}

/*
 * The mappings as a pass sees them, with a closed page of ours. False: there is
 * no userfaultfd for everybody.
 */
static bool
begin(void)
{
	int fd = (int)syscall(SYS_userfaultfd, O_CLOEXEC | UFFD_USER_MODE_ONLY);

	closed = map_untouched(1);
	mprotect(closed, image.page, PROT_NONE);
	image_open(&snap);
	if (fd < 0)
		printf("SKIPPED: no userfaultfd (errno %d)\n", errno);
	close(fd);
	return fd >= 0;
}

/* Returns a userfaultfd; -1: not in this MODE. */
static int
watch(char *memory, size_t size, uint64_t mode)
{
	struct uffdio_api api = { .api = UFFD_API };
	struct uffdio_register request = {
		.range = { (uintptr_t)memory, size },
		.mode = mode,
	};
	int fd = (int)syscall(SYS_userfaultfd, O_CLOEXEC | UFFD_USER_MODE_ONLY);

	if (ioctl(fd, UFFDIO_API, &api) == 0 &&
	    ioctl(fd, UFFDIO_REGISTER, &request) == 0)
		return fd;
	close(fd);
	return -1;
}

static int
num_descriptors(void)
{
	int fd = open("/dev/null", O_RDONLY | O_CLOEXEC);

	close(fd);
	return fd;
}

TEST(nothing_is_registered)
{
	int i, descriptors = num_descriptors();
	size_t lines;

	if (!begin())
		return;
	lines = num_lines();
	for (i = 0; i < 100; i++) {
		tells &= i % 3 != 0;
		ck_assert(none());
		ck_assert(tells);
	}
	ck_assert_uint_eq(num_lines(), lines);
	ck_assert_int_eq(num_descriptors(), descriptors);
}

static char *
map_kind(int kind)
{
	int fd;

	switch (kind) {
	case 0:
		return map_untouched(3);
	case 1:
		return map_filled(3);
	case 2:
		fd = (int)syscall(SYS_memfd_create, "kind", 1);
		ck_assert_int_eq(ftruncate(fd, 3 * (off_t)image.page), 0);
		return map_pages(3, MAP_PRIVATE, fd);
	case 3:
		return map_pages(
		    3, MAP_PRIVATE, open("/dev/zero", O_RDWR | O_CLOEXEC));
	default:
		return map_pages(3, MAP_SHARED | MAP_ANONYMOUS, -1);
	}
}

/*
 * _i: untouched, full, a private file in memory, /dev/zero, shared. Of a part
 * only: the mapping is three. Shared memory is not asked for.
 */
TEST_LOOP(memory_is_registered, 0, 5)
{
	char *memory = map_kind(_i);
	unsigned char before[3], after[3];
	int fd;

	mprotect(memory + image.page, image.page, PROT_READ | PROT_WRITE);
	fd = watch(
	    memory + image.page, image.page, UFFDIO_REGISTER_MODE_MISSING);
	if (!begin())
		return;
	ck_assert_int_ge(fd, 0);
	mincore(memory, 3 * image.page, before);
	ck_assert(none() == (_i == 4));
	ck_assert(tells);
	ck_assert(none() == (_i == 4));
	mincore(memory, 3 * image.page, after);
	ck_assert_mem_eq(before, after, sizeof(before));
	close(fd);
	ck_assert(none());
}

/* Memory that is closed now may be opened again. */
TEST(closed_memory)
{
	char *memory = map_untouched(2);
	int fd = watch(memory, 2 * image.page, UFFDIO_REGISTER_MODE_MISSING);

	mprotect(memory, 2 * image.page, PROT_NONE);
	if (!begin())
		return;
	ck_assert(!none());
	close(fd);
	ck_assert(none());
}

/*
 * It is used as long as it is empty, which it is no longer when it was read to
 * see whether that is possible; nothing is copied.
 */
TEST(page_of_ours_is_open)
{
	unsigned char resident = 1;
	char *memory = map_untouched(1);
	int fd = watch(memory, image.page, UFFDIO_REGISTER_MODE_MISSING);

	if (!begin())
		return;
	mprotect(closed, image.page, PROT_READ | PROT_WRITE);
	ck_assert(!none());
	mincore(memory, image.page, &resident);
	ck_assert_int_eq(resident, 0);
	close(fd);
	tells = false;
	ck_assert(none());
	ck_assert(!none());
	mincore(memory, image.page, &resident);
	ck_assert_int_eq(resident, 0);
	memset(closed, 'x', image.page);
	ck_assert(!none());
	ck_assert_int_eq(*closed, 'x');
}

TEST(no_descriptor_is_left)
{
	struct rlimit limit, before;
	int most = num_descriptors() + 1;

	if (!begin())
		return;
	getrlimit(RLIMIT_NOFILE, &before);
	limit = before;
	for (; most >= num_descriptors(); most--) {
		limit.rlim_cur = (rlim_t)most;
		setrlimit(RLIMIT_NOFILE, &limit);
		ck_assert(!none());
	}
	setrlimit(RLIMIT_NOFILE, &before);
}

SUITE(.setup = image_setup, .teardown = image_teardown);
