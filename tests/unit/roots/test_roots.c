/*
 * Which mappings can hold pointers.
 */
#include <linux/magic.h>
#include <sys/auxv.h>
#include <sys/ipc.h>
#include <sys/shm.h>
#include <sys/vfs.h>

#include "tests/support/heaps/roots_found.h"
#include "tests/support/suite.h"

/* Relocated at start, hence modified; read-only since (.data.rel.ro). */
static int target;
static int *const relro[] = { &target, &target };

static bool
is_on_tmpfs(int fd)
{
	struct statfs about;

	ck_assert_int_eq(fstatfs(fd, &about), 0);
	return about.f_type == TMPFS_MAGIC;
}

TEST(globals_stack_and_relro)
{
	static char data[8] = "data", bss[8];
	char local = 'l';

	data[0] = bss[0] = local;
	found_find();
	ck_assert_int_eq(found_times(data), 1);
	ck_assert_int_eq(kind_of(data), MU_ROOT_GLOBALS);
	ck_assert_int_eq(found_times(bss), 1);
	ck_assert_int_eq(found_times(&local), 1);
	ck_assert_int_eq(kind_of(&local), MU_ROOT_STACK);
	ck_assert_int_eq(found_times(environ), 1);
	/* The address of a block can be in a variable sealed after start. */
	ck_assert_int_eq(found_times(relro), 1);
	/* errno's page: the main thread's own variables. */
	ck_assert_int_eq(found_times((void *)mu_arch_tp()), 1);
}

TEST(what_is_not_memory)
{
	char *none = map_filled(1), *readable = map_filled(1);
	char *untouched = map_pages(1, MAP_PRIVATE | MAP_ANONYMOUS, -1);
	void *vdso = (void *)getauxval(AT_SYSINFO_EHDR);

	mprotect(none, image.page, PROT_NONE);
	mprotect(readable, image.page, PROT_READ);
	found_find();
	ck_assert_int_eq(found_times(none), 0);
	ck_assert_int_eq(found_times(readable), 1);
	ck_assert_int_eq(found_times(untouched), 0);
	if (vdso != NULL)
		ck_assert_int_eq(found_times(vdso), 0);
}

TEST(private_file)
{
	int fd = file_of_pages("/tmp", 4);
	int other = file_of_pages("/tmp", 4);
	char *at = map_pages(4, MAP_PRIVATE, fd);
	char *sealed = map_pages(4, MAP_PRIVATE, other);

	ck_assert_int_eq(*(volatile char *)at, 'f');
	at[image.page] = sealed[image.page] = 'm';
	mprotect(sealed, 4 * image.page, PROT_READ);
	found_find();
	ck_assert_int_eq(found_times(at), 0);
	ck_assert_int_eq(found_times(at + image.page), 1);
	ck_assert_int_eq(kind_of(at + image.page), MU_ROOT_GLOBALS);
	ck_assert_int_eq(found_times(at + 2 * image.page), 0);
	ck_assert_int_eq(found_times(sealed), 0);
	ck_assert_int_eq(found_times(sealed + image.page), 1);
	close(fd);
	close(other);
}

TEST(shared_file_is_left_out)
{
	int fd = file_of_pages("/var/tmp", 4);
	char *at = map_pages(4, MAP_SHARED, fd);

	if (is_on_tmpfs(fd))
		return; /* then it is memory */
	memset(at, 'x', image.page);
	found_find();
	ck_assert_int_eq(found_times(at), 0);
	close(fd);
}

TEST(shared_memory_is_scanned)
{
	int memfd = memfd_create("m", 0), id;
	char *anonymous = map_pages(2, MAP_SHARED | MAP_ANONYMOUS, -1), *file,
	     *sysv;

	ck_assert_int_eq(ftruncate(memfd, (off_t)(4 * image.page)), 0);
	file = map_pages(4, MAP_SHARED, memfd);
	id = shmget(IPC_PRIVATE, image.page, IPC_CREAT | 0600);
	sysv = id < 0 ? NULL : shmat(id, NULL, 0);
	shmctl(id, IPC_RMID, NULL);
	anonymous[0] = file[image.page] = 'x';
	if (sysv != NULL)
		sysv[0] = 'x';
	found_find();
	ck_assert_int_eq(found_times(anonymous), 1);
	ck_assert_int_eq(kind_of(anonymous), MU_ROOT_ANONYMOUS);
	ck_assert_int_eq(found_times(file + image.page), 1);
	if (sysv != NULL)
		ck_assert_int_eq(found_times(sysv), 1);
	close(memfd);
}

TEST(tmpfs_file_is_scanned)
{
	int fd = file_of_pages("/dev/shm", 4);
	char *at;

	if (fd < 0 || !is_on_tmpfs(fd)) {
		fprintf(stderr, "SKIPPED: no tmpfs at /dev/shm\n");
		return;
	}
	at = map_pages(4, MAP_SHARED, fd);
	at[image.page] = 'x';
	found_find();
	ck_assert_int_eq(found_times(at + image.page), 1);
	close(fd);
}

/* Without pagemap not every mapped file is scanned, but RELRO is. */
TEST(blind)
{
	int fd = file_of_pages("/tmp", 4);
	char *file = mmap(NULL, 4 * image.page, PROT_READ, MAP_PRIVATE, fd, 0);
	char *sealed = map_filled(1);
	char *untouched = map_pages(1, MAP_PRIVATE | MAP_ANONYMOUS, -1);

#ifdef __SANITIZE_ADDRESS__
	fprintf(stderr, "SKIPPED: AddressSanitizer's shadow has terabytes\n");
	return;
#endif
	mprotect(sealed, image.page, PROT_READ);
	image_open(&found_snap);
	ck_assert_int_eq(mu_roots_find(&found_roots, &found_snap, &found_heap,
			     &image.arena, &found_why),
	    MU_OK);
	check_roots();
	ck_assert_int_eq(found_times(file), 0);
	ck_assert_int_eq(found_times(sealed), 1);
	ck_assert_int_eq(found_times(untouched), 1);
	ck_assert_int_eq(found_times(relro), 1);
	ck_assert_int_eq(found_times(&target), 1);
	ck_assert_int_eq(
	    found_times((void *)(uintptr_t)found_find), 0); /* r-x */
	close(fd);
}

SUITE(.setup = found_setup, .teardown = image_teardown);
