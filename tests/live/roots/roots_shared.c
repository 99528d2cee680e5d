/*
 * Roots: memory that the program shares with other processes or between its
 * mappings. A fork does not copy it, so it changes while the image is searched;
 * and it may hold data that this process has never touched.
 */
#include <signal.h>
#include <sys/prctl.h>
#include <sys/syscall.h>

#include "lib/state/library.h"
#include "tests/support/pass/live_mappings.h"
#include "tests/support/suite.h"

#define RW (PROT_READ | PROT_WRITE)
#define PAGE ((size_t)4096)
#define NOBODY 65534

/*
 * A thread that moves pointers from one half of a mapping to the other and
 * back: each is always in one of the two, or in both.
 */
#define POINTERS 20000
#define HALF (POINTERS * sizeof(void *))

struct mover {
	void **from, **to; /* mappings, or two names of the same */
	int fd;            /* moved by pwrite(); -1: by stores */
	bool stop;
	unsigned long moves;
};

LIVE void
move_by_file(const struct mover *mover, bool back)
{
	void *word;
	size_t i;

	for (i = 0; i < 64; i++) {
		word = mover->from[i + (back ? 64 : 0)];
		pwrite(mover->fd, &word, sizeof(word),
		    (off_t)((i + (back ? 0 : 64)) * sizeof(word)));
		word = NULL;
		pwrite(mover->fd, &word, sizeof(word),
		    (off_t)((i + (back ? 64 : 0)) * sizeof(word)));
	}
}

LIVE void
move_all(void *volatile *from, void *volatile *to)
{
	size_t i;

	for (i = 0; i < POINTERS; i++) {
		to[i] = from[i];
		__atomic_signal_fence(__ATOMIC_SEQ_CST);
		from[i] = NULL;
	}
}

static void *
mover_main(void *arg)
{
	struct mover *mover = arg;
	bool back = false;

	while (!__atomic_load_n(&mover->stop, __ATOMIC_ACQUIRE)) {
		if (mover->fd >= 0)
			move_by_file(mover, back);
		else if (back)
			move_all(mover->to, mover->from);
		else
			move_all(mover->from, mover->to);
		back = !back;
		__atomic_add_fetch(&mover->moves, 1, __ATOMIC_RELEASE);
	}
	return NULL;
}

LIVE void
fill(void **from, size_t count)
{
	size_t i;

	for (i = 0; i < count; i++)
		put(&from[i], block_new(24));
}

/* No block is lost while the pointers move, and the one lost block is found. */
LIVE void
expect_all_found(struct mover *mover, int passes)
{
	uintptr_t lost = block_new(40);
	pthread_t thread;
	int i;

	EXPECT_LOST(lost);
	ck_assert_int_eq(pthread_create(&thread, NULL, mover_main, mover), 0);
	for (i = 0; i < passes; i++)
		EXPECT_LOST(lost);
	__atomic_store_n(&mover->stop, true, __ATOMIC_RELEASE);
	pthread_join(thread, NULL);
	ck_assert_uint_gt(mover->moves, 0);
	EXPECT_LOST(lost);
}

static char *
map_bytes(size_t size, int protection, int flags, int fd)
{
	char *mapping = mmap(NULL, size, protection, flags, fd, 0);

	ck_assert_ptr_ne(mapping, MAP_FAILED);
	return mapping;
}

/* _i: anonymous, a memfd, a file of a tmpfs. */
static int
shared_file(int kind)
{
	int fd = -1;

	if (kind == 1)
		fd = memfd_create("shared", MFD_CLOEXEC);
	else if (kind == 2)
		fd = unnamed_file("/dev/shm");
	if (fd >= 0)
		ck_assert_int_eq(ftruncate(fd, 2 * HALF), 0);
	return fd;
}

TEST_LOOP(moved_by_stores, 0, 3)
{
	int fd = shared_file(_i);
	char *mapping = map_bytes(
	    2 * HALF, RW, MAP_SHARED | (fd < 0 ? MAP_ANONYMOUS : 0), fd);
	struct mover mover = { .fd = -1 };

	mover.from = (void **)mapping;
	mover.to = (void **)(mapping + HALF);
	fill(mover.from, POINTERS);
	expect_all_found(&mover, 10);
}

/* Move from one mapping to another one, which cannot be read directly. */
TEST(moved_by_another_name)
{
	int fd = shared_file(1);
	char *first = map_bytes(2 * HALF, RW, MAP_SHARED, fd);
	char *second = map_bytes(2 * HALF, RW, MAP_SHARED, fd);
	struct mover mover = { .fd = -1 };

	mover.from = (void **)first;
	mover.to = (void **)(second + HALF);
	fill(mover.from, POINTERS);
	expect_all_found(&mover, 10);
}

/* Between moves all pointers lie in one half, the second of which is untouched
 * by the process that is checked.
 */
static void
move_in_turns(struct mover *mover)
{
	for (;;) {
		move_all(mover->from, mover->to);
		usleep(1000);
		move_all(mover->to, mover->from);
		usleep(1000);
	}
}

/* So that no other process may trace it, not even its own copy. */
static void
close_to_others(void)
{
	if (getuid() == 0)
		ck_assert_int_eq(
		    syscall(SYS_setresuid, NOBODY, NOBODY, NOBODY), 0);
	ck_assert_int_eq(prctl(PR_SET_DUMPABLE, 0), 0);
}

/* By a process that no stop holds: what is missed is said to be doubtful. */
TEST_LOOP(moved_by_a_child, 0, 4)
{
	struct UnreachableMemoryInfo info = { 0 };
	struct mover mover = { .fd = -1 };
	pid_t child;
	int i;

	mover.from =
	    (void **)map_bytes(2 * HALF, RW, MAP_SHARED | MAP_ANONYMOUS, -1);
	mover.to = mover.from + POINTERS;
	fill(mover.from, POINTERS);
	if (_i >= 2)
		close_to_others();
	child = fork();
	if (child == 0) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		if (_i % 2 == 1)
			move_in_turns(&mover);
		mover_main(&mover);
	}
	for (i = 0; i < 30; i++) {
		GetUnreachableMemory(&info, 0);
		ck_assert_msg(info.num_leaks == 0 ||
			info.status == MEMUNREACHABLE_PARTIAL,
		    "%zu lost in look %d", info.num_leaks, i);
		FreeUnreachableMemoryInfo(&info);
	}
	kill(child, SIGKILL);
	waitpid(child, NULL, 0);
}

/* A private mapping of a file that others write to. */
TEST_LOOP(moved_by_writes, 0, 2)
{
	int fd = shared_file(1);
	struct mover mover = { .fd = fd };
	void **writable = (void **)map_bytes(2 * HALF, RW, MAP_SHARED, fd);

	fill(writable, 64);
	munmap(writable, 2 * HALF);
	if (_i == 0)
		expect_doubt_of_files();
	mover.from = (void **)map_bytes(
	    2 * HALF, PROT_READ, _i == 0 ? MAP_PRIVATE : MAP_SHARED, fd);
	expect_all_found(&mover, 10);
}

/* Written through a descriptor, mapped, and never looked at. */
TEST_LOOP(written_not_touched, 0, 4)
{
	int fd = shared_file(1 + _i / 2);
	uintptr_t block = block_new(72), word = 0;
	void *source;
	char *mapping;

	put(&source, block);
	ck_assert_int_eq(
	    pwrite(fd, &source, sizeof(source), 3 * PAGE + 8), sizeof(source));
	drop(&source);
	if (_i % 2 == 1)
		expect_doubt_of_files();
	mapping =
	    map_bytes(2 * HALF, RW, _i % 2 == 0 ? MAP_SHARED : MAP_PRIVATE, fd);
	EXPECT_LEAKS(0);
	ck_assert_int_eq(
	    pwrite(fd, &word, sizeof(word), 3 * PAGE + 8), sizeof(word));
	EXPECT_LOST(block);
	munmap(mapping, 2 * HALF);
}

TEST(given_back)
{
	char *mapping = map_bytes(2 * HALF, RW, MAP_SHARED | MAP_ANONYMOUS, -1);
	uintptr_t block = block_new(72);

	put(mapping + 5 * PAGE, block);
	ck_assert_int_eq(madvise(mapping, 2 * HALF, MADV_DONTNEED), 0);
	EXPECT_LEAKS(0);
	drop(mapping + 5 * PAGE);
	EXPECT_LOST(block);
}

/* A child of a server that forked before it was asked. */
TEST(child_of_a_server)
{
	char *mapping = map_bytes(2 * HALF, RW, MAP_SHARED | MAP_ANONYMOUS, -1);
	uintptr_t block = block_new(72);
	int status;
	pid_t pid;

	put(mapping + 5 * PAGE, block);
	pid = fork();
	if (pid == 0) {
		EXPECT_LEAKS(0);
		drop(mapping + 5 * PAGE);
		EXPECT_LOST(block);
		_exit(0);
	}
	ck_assert_int_eq(waitpid(pid, &status, 0), pid);
	ck_assert_int_eq(status, 0);
}

/* One page of 1 GiB has data, and no other page does afterwards. */
TEST(holes_stay)
{
	size_t size = (size_t)1 << 30;
	char *mapping =
	    map_bytes(size, RW, MAP_SHARED | MAP_ANONYMOUS | MAP_NORESERVE, -1);
	unsigned char *resident = calloc(1, size / PAGE);
	size_t i, count = 0;

	put(inside_mapping(mapping), mu_hide(resident));
	expect_root(mapping + size / 2);
	ck_assert_int_eq(mincore(mapping, size, resident), 0);
	for (i = 0; i < size / PAGE; i++)
		count += resident[i] & 1;
	ck_assert_uint_eq(count, 2);
}

/* On a busy machine what is copied during the stop takes longer. */
static void
be_patient(void)
{
	mu_library.options.max_pause = 10000;
}

SUITE(.setup = be_patient);
