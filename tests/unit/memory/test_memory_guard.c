/*
 * Faults in our own image: what cannot be read is zero, and other faults are
 * not hidden.
 */
#include "tests/support/heaps/image.h"
#include "tests/support/suite.h"

#define MADV_GUARD 102 /* MADV_GUARD_INSTALL, Linux 6.13 */

static struct mu_snapshot snap;
static struct mu_fork_gaps nothing = { .memory = -1, .pagemap = -1 };

/* In a child: guard, read the byte at AT, close; how did that end? */
static int
read_guarded(const char *at, int original, char expected, size_t skipped)
{
	struct mu_fork_gaps gaps = {
		.memory = original, .pagemap = -1, .limit = SIZE_MAX
	};
	sigset_t all;
	struct mu_why why;
	int status;
	pid_t child = fork();

	if (child == 0) {
		sigfillset(&all);
		sigprocmask(SIG_BLOCK, &all, NULL);
		if (mu_memory_self_guard(&snap.memory, &gaps, &why) != MU_OK)
			_exit(3);
		if (*(const volatile char *)at != expected)
			_exit(1);
		_exit(snap.memory.skipped_pages == skipped ? 0 : 2);
	}
	waitpid(child, &status, 0);
	return status;
}

TEST(no_access_after_all)
{
	char *at = map_untouched(3);

	memset(at, 'x', 3 * image.page);
	image_open(&snap);
	mprotect(at + image.page, image.page, PROT_NONE);
	ck_assert_int_eq(read_guarded(at + image.page + 7, -1, 0, 1), 0);
	ck_assert_int_eq(read_guarded(at, -1, 'x', 0), 0);
	ck_assert_int_eq(read_guarded(at + 2 * image.page, -1, 'x', 0), 0);
}

TEST(guard_region)
{
	char *at = map_untouched(3);

	memset(at, 'x', 3 * image.page);
	if (madvise(at + image.page, image.page, MADV_GUARD) != 0) {
		fprintf(stderr, "SKIPPED: no MADV_GUARD_INSTALL here\n");
		return;
	}
	image_open(&snap);
	ck_assert_int_eq(read_guarded(at + image.page, -1, 0, 1), 0);
	ck_assert_int_eq(read_guarded(at + 2 * image.page - 1, -1, 0, 1), 0);
	ck_assert_int_eq(read_guarded(at + 2 * image.page, -1, 'x', 0), 0);
}

/* SIGBUS: the file was cut behind the mapping's back. */
TEST(truncated_file)
{
	int fd = file_of_pages("/tmp", 3);
	char *shared = map_pages(3, MAP_SHARED, fd),
	     *own = map_pages(3, MAP_PRIVATE, fd);

	image_open(&snap);
	ck_assert_int_eq(ftruncate(fd, (off_t)image.page), 0);
	ck_assert_int_eq(read_guarded(shared + image.page, -1, 0, 1), 0);
	ck_assert_int_eq(read_guarded(own + 2 * image.page, -1, 0, 1), 0);
	ck_assert_int_eq(read_guarded(own, -1, 'f', 0), 0);
	close(fd);
}

TEST(protection_key)
{
	char *at = map_untouched(2);
	int key = pkey_alloc(0, PKEY_DISABLE_ACCESS);

	if (key < 0) {
		fprintf(stderr, "SKIPPED: no protection keys here\n");
		return;
	}
	memset(at, 'x', 2 * image.page);
	pkey_mprotect(at, image.page, PROT_READ | PROT_WRITE, key);
	image_open(&snap);
	ck_assert_int_eq(read_guarded(at, -1, 'x', 0), 0);
}

/* The address of a page that fork leaves out: MADV_DONTFORK. */
static char *
map_dontfork(void)
{
	char *at = map_untouched(4);

	memset(at, 'x', 4 * image.page);
	ck_assert_int_eq(madvise(at, 4 * image.page, MADV_DONTFORK), 0);
	image_open(&snap);
	return at;
}

TEST(dontfork_is_zero_and_counted)
{
	char *at = map_dontfork();

	ck_assert_int_eq(read_guarded(at, -1, 0, 4), 0);
	ck_assert_int_eq(read_guarded(at + 4 * image.page - 1, -1, 0, 4), 0);
}

TEST(dontfork_is_brought_over)
{
	char *at = map_dontfork();
	int original = open("/proc/self/mem", O_RDONLY);

	ck_assert_int_ge(original, 0);
	ck_assert_int_eq(read_guarded(at, original, 'x', 0), 0);
	ck_assert_int_eq(
	    read_guarded(at + 4 * image.page - 1, original, 'x', 0), 0);
	close(original);
}

TEST(fault_elsewhere_kills)
{
	char *at = map_untouched(1);
	int status;

	mprotect(at, image.page, PROT_NONE);
	image_open(&snap);
	status = read_guarded(at, -1, 0, 0);
	ck_assert(WIFSIGNALED(status) && WTERMSIG(status) == SIGSEGV);
	/* Not canonical: no address. SIGBUS if it was read through rbp (#SS).
	 */
	status = read_guarded((char *)0x8000000000000000ul, -1, 0, 0);
	ck_assert(WIFSIGNALED(status) &&
	    (WTERMSIG(status) == SIGSEGV || WTERMSIG(status) == SIGBUS));
}

/* A write of ours by mistake must not be papered over, nor loop. */
TEST(write_kills)
{
	char *at = map_untouched(1);
	struct mu_why why;
	int status;
	pid_t child;

	mprotect(at, image.page, PROT_READ);
	image_open(&snap);
	child = fork();
	if (child == 0) {
		mu_memory_self_guard(&snap.memory, &nothing, &why);
		*(volatile char *)at = 1;
		_exit(0);
	}
	waitpid(child, &status, 0);
	ck_assert(WIFSIGNALED(status) && WTERMSIG(status) == SIGSEGV);
}

TEST(sent_signal_kills)
{
	struct mu_why why;
	int status;
	pid_t child;

	image_open(&snap);
	child = fork();
	if (child == 0) {
		mu_memory_self_guard(&snap.memory, &nothing, &why);
		raise(SIGBUS);
		_exit(0);
	}
	waitpid(child, &status, 0);
	ck_assert(WIFSIGNALED(status) && WTERMSIG(status) == SIGBUS);
}

/* Handlers, mask and alternate stack are as before. */
TEST(close_restores)
{
	struct sigaction before, after;
	sigset_t mask, mask_after;
	stack_t stack, stack_after;
	struct mu_why why;

	sigaltstack(NULL, &stack);
	sigaction(SIGSEGV, NULL, &before);
	sigemptyset(&mask);
	sigaddset(&mask, SIGBUS);
	sigprocmask(SIG_BLOCK, &mask, NULL);
	image_open(&snap);
	ck_assert_int_eq(
	    mu_memory_self_guard(&snap.memory, &nothing, &why), MU_OK);
	sigprocmask(SIG_BLOCK, NULL, &mask_after);
	ck_assert(!sigismember(&mask_after, SIGBUS));
	close_self(&snap.memory);
	close_self(&snap.memory);
	sigaction(SIGSEGV, NULL, &after);
	ck_assert_ptr_eq((void *)before.sa_handler, (void *)after.sa_handler);
	sigprocmask(SIG_BLOCK, NULL, &mask_after);
	ck_assert(sigismember(&mask_after, SIGBUS));
	sigaltstack(NULL, &stack_after);
	ck_assert_int_eq(stack.ss_flags, stack_after.ss_flags);
	ck_assert_ptr_eq(stack.ss_sp, stack_after.ss_sp);
}

#define THREADS 4
#define CLOSED 200

static void *
read_closed(void *at)
{
	const volatile char *page = at;
	size_t i, sum = 0;

	for (i = 0; i < CLOSED; i++)
		sum += (size_t)page[i * image.page];
	return (void *)sum;
}

/* Several at the same page at once: each page is mended and counted once. */
TEST(several_threads)
{
	char *at = map_untouched(CLOSED);
	struct mu_fork_gaps gaps = { .memory = -1, .pagemap = -1 };
	pthread_t threads[THREADS];
	struct mu_why why;
	size_t before;
	int status, i;
	void *sum;
	pid_t child;

	memset(at, 'x', CLOSED * image.page);
	image_open(&snap);
	mprotect(at, CLOSED * image.page, PROT_NONE);
	child = fork();
	if (child == 0) {
		if (mu_memory_self_guard(&snap.memory, &gaps, &why) != MU_OK)
			_exit(3);
		/* What a fork leaves out, of other tests, counts too. */
		before = snap.memory.skipped_pages;
		for (i = 0; i < THREADS; i++)
			pthread_create(&threads[i], NULL, read_closed, at);
		for (i = 0; i < THREADS; i++) {
			pthread_join(threads[i], &sum);
			if (sum != NULL)
				_exit(1);
		}
		_exit(snap.memory.skipped_pages - before == CLOSED ? 0 : 2);
	}
	waitpid(child, &status, 0);
	ck_assert_int_eq(status, 0);
}

SUITE(.setup = image_setup, .teardown = image_teardown);
