/*
 * With a checkpoint only what was lost since is reported: by the image, in
 * place, with a second look, beside threads, in a child of fork().
 */
#include <sys/wait.h>

#include "lib/state/library.h"
#include "memunreachable/memunreachable.h"
#include "tests/support/captured_stderr.h"
#include "tests/support/hide.h"
#include "tests/support/suite.h"

#define SIZE 1000

/* Each lies between blocks that are kept: see lose() in test_callers.c. */
static __attribute__((noinline)) uintptr_t
lose(char letter)
{
	static void *volatile kept[32];
	static size_t count;
	uintptr_t hidden = mu_hide(memset(malloc(SIZE), letter, SIZE));

	ck_assert_uint_lt(count, sizeof(kept) / sizeof(*kept));
	kept[count++] = malloc(SIZE);
	return hidden;
}

static __attribute__((noinline)) void
refer(uintptr_t from, uintptr_t to)
{
	((void **)mu_reveal(from))[1] = mu_reveal(to);
}

static __attribute__((noinline)) void
lose_all(char letter, int count)
{
	while (count-- > 0)
		lose(letter);
}

static __attribute__((noinline)) size_t
lost_since(const struct MemunreachableCheckpoint *checkpoint)
{
	struct UnreachableMemoryInfo info = { 0 };
	size_t count = 0;

	scrub_stack();
	ck_assert_msg(
	    GetNewUnreachableMemory(&info, checkpoint, 100), "%s", info.reason);
	ck_assert_int_eq(info.status, MEMUNREACHABLE_COMPLETE);
	ck_assert_uint_ge(info.num_allocations, info.num_leaks);
	count = info.num_leaks;
	FreeUnreachableMemoryInfo(&info);
	return count;
}

static struct MemunreachableCheckpoint *
remember(void)
{
	struct MemunreachableCheckpoint *checkpoint;

	scrub_stack();
	checkpoint = memunreachable_checkpoint();
	ck_assert_ptr_nonnull(checkpoint);
	return checkpoint;
}

static void *
wait_there(void *arg)
{
	pthread_barrier_wait(arg);
	pthread_barrier_wait(arg);
	return NULL;
}

static void
play(void)
{
	struct MemunreachableCheckpoint *none, *some;

	none = remember();
	ck_assert_uint_eq(lost_since(none), 0);
	lose_all('a', 3);
	some = remember();
	ck_assert_uint_eq(lost_since(none), 3);
	ck_assert_uint_eq(lost_since(some), 0);
	ck_assert_uint_eq(lost_since(NULL), 3);
	/* The same contents: one entry with those of the checkpoint. */
	lose_all('a', 2);
	ck_assert_uint_eq(lost_since(some), 2);
	ck_assert_uint_eq(lost_since(none), 5);
	memunreachable_checkpoint_free(none);
	ck_assert_uint_eq(lost_since(some), 2);
	memunreachable_checkpoint_free(some);
}

TEST(alone)
{
	play();
}

TEST(by_image)
{
	mu_library.passes_by_image = 1000;
	play();
}

TEST(second_look)
{
	mu_library.options.confirm = true;
	play();
}

TEST(beside_a_thread)
{
	pthread_barrier_t barrier;
	pthread_t thread;

	pthread_barrier_init(&barrier, NULL, 2);
	pthread_create(&thread, NULL, wait_there, &barrier);
	pthread_barrier_wait(&barrier);
	play();
	pthread_barrier_wait(&barrier);
	pthread_join(thread, NULL);
}

TEST(in_a_child)
{
	struct MemunreachableCheckpoint *checkpoint;
	int status;
	pid_t pid;

	lose_all('a', 3);
	checkpoint = remember();
	pid = fork();
	ck_assert_int_ge(pid, 0);
	if (pid == 0) {
		ck_assert_uint_eq(lost_since(checkpoint), 0);
		lose_all('b', 2);
		ck_assert_uint_eq(lost_since(checkpoint), 2);
		_exit(0);
	}
	ck_assert_int_eq(waitpid(pid, &status, 0), pid);
	ck_assert_int_eq(status, 0);
	memunreachable_checkpoint_free(checkpoint);
}

/* What hangs on an old leak is new if it was not there. */
TEST(hangs_on_an_old_one)
{
	uintptr_t head = lose('h'), before = lose('b');
	struct MemunreachableCheckpoint *checkpoint;

	refer(head, before);
	checkpoint = remember();
	ck_assert_uint_eq(lost_since(checkpoint), 0);
	refer(before, lose('n'));
	ck_assert_uint_eq(lost_since(checkpoint), 1);
	ck_assert_uint_eq(lost_since(NULL), 3);
	memunreachable_checkpoint_free(checkpoint);
}

/* An old leak that hangs on a new one. */
TEST(an_old_one_hangs_on_it)
{
	uintptr_t old = lose('o');
	struct MemunreachableCheckpoint *checkpoint = remember();

	refer(lose('n'), old);
	ck_assert_uint_eq(lost_since(checkpoint), 1);
	memunreachable_checkpoint_free(checkpoint);
}

static __attribute__((noinline)) void
free_hidden(uintptr_t hidden)
{
	free(mu_reveal(hidden));
}

/* The same address and size: another block, if its contents are others. */
TEST(address_used_again)
{
	uintptr_t hidden = lose('o');
	struct MemunreachableCheckpoint *checkpoint = remember();

	free_hidden(hidden);
	ck_assert_uint_eq(lost_since(checkpoint), 0);
	ck_assert(lose('n') == hidden);
	ck_assert_uint_eq(lost_since(checkpoint), 1);
	memunreachable_checkpoint_free(checkpoint);
}

TEST(assertion)
{
	struct MemunreachableCheckpoint *checkpoint;

	lose_all('a', 3);
	checkpoint = remember();
	ck_assert(NoNewLeaks(checkpoint));
	scrub_stack();
	ck_assert(!NoLeaks());
	scrub_stack();
	ck_assert(!NoNewLeaks(NULL));
	lose_all('b', 1);
	scrub_stack();
	ck_assert(!NoNewLeaks(checkpoint));
	memunreachable_checkpoint_free(checkpoint);
	memunreachable_checkpoint_free(NULL);
}

static ptrdiff_t
ask_within(void *ctx, uintptr_t *words, size_t max)
{
	(void)words;
	(void)max;
	*(bool *)ctx = memunreachable_checkpoint() != NULL;
	return 0;
}

/* A checkpoint that fails says why, and hides nothing. */
TEST(not_checked)
{
	struct UnreachableMemoryInfo info = { 0 };
	struct captured_stderr captured;
	static bool made = true;
	const char *said;

	ck_assert(memunreachable_register_root_provider(ask_within, &made));
	captured_stderr_begin(&captured);
	ck_assert(GetUnreachableMemory(&info, 10));
	said = captured_stderr_end(&captured);
	ck_assert(memunreachable_unregister_root_provider(ask_within, &made));
	FreeUnreachableMemoryInfo(&info);
	ck_assert(!made);
	ck_assert_msg(strstr(said, "within a pass") != NULL, "%s", said);
	info.version = 1;
	ck_assert(!GetNewUnreachableMemory(&info, NULL, 10));
	ck_assert_int_eq(info.status, MEMUNREACHABLE_BAD_ARGUMENT);
	ck_assert(!GetNewUnreachableMemory(NULL, NULL, 10));
}
