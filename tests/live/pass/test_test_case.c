/*
 * The calls of memunreachable/test.h: what a test has lost is its own, whatever
 * was lost before, and the message says what.
 */
#include <memunreachable/test_frames.h>
#include <sys/wait.h>

#include "lib/state/library.h"
#include "memunreachable/memunreachable.h"
#include "tests/support/hide.h"
#include "tests/support/suite.h"

/* Between blocks that are kept: see lose() in test_callers.c. */
static __attribute__((noinline)) uintptr_t
lose(char letter)
{
	static void *volatile kept[64];
	static size_t count;
	uintptr_t hidden = mu_hide(memset(malloc(1000), letter, 1000));

	ck_assert_uint_lt(count, sizeof(kept) / sizeof(*kept));
	kept[count++] = malloc(1000);
	return hidden;
}

static __attribute__((noinline)) void
lose_scrubbed(char letter)
{
	lose(letter);
	scrub_stack();
}

static void
expect(const char *said, const char *text)
{
	ck_assert_ptr_nonnull(said);
	ck_assert_msg(strstr(said, text) != NULL, "%s", said);
}

TEST(begin_and_end)
{
	lose_scrubbed('b');
	ck_assert(memunreachable_test_begin("first"));
	ck_assert_ptr_null(memunreachable_test_end());
	lose_scrubbed('f');
	expect(memunreachable_test_end(), "first lost 1000 bytes in 1 alloc");
	ck_assert_uint_eq(memunreachable_test_lost(), 1000);
	/* It was said. */
	ck_assert_ptr_null(memunreachable_test_end());
	ck_assert_uint_eq(memunreachable_test_lost(), 0);
	lose_scrubbed('g');
	ck_assert(memunreachable_test_begin("second"));
	ck_assert_ptr_null(memunreachable_test_end());
}

/* A test that loses a block, and is blamed for it. */
static uintptr_t
lose_first(void)
{
	uintptr_t lost;

	ck_assert(memunreachable_test_begin("first"));
	lost = lose('f');
	scrub_stack();
	expect(memunreachable_test_end(), "first lost 1000 bytes");
	return lost;
}

/* A stale word may refer to a loss while the next test begins. */
static void *volatile stale;

TEST(blamed_once)
{
	uintptr_t lost = lose_first();

	stale = mu_reveal(lost);
	ck_assert(memunreachable_test_begin("second"));
	stale = NULL;
	scrub_stack();
	ck_assert_ptr_null(memunreachable_test_end());
	/* Freed and lost again, it is another block. */
	free(mu_reveal(lost));
	ck_assert(memunreachable_test_begin("third"));
	lose_scrubbed('t');
	expect(memunreachable_test_end(), "third lost 1000 bytes in 1 alloc");
}

/* A block at the same address whose first word is the same. */
static __attribute__((noinline)) void
replace(uintptr_t lost)
{
	char *again;

	free(mu_reveal(lost));
	again = malloc(1000);
	ck_assert_uint_eq(mu_hide(again), lost);
	memset(again, 'a', 1000);
	memset(again, 'f', 8);
	stale = again;
}

/* An object of the same class is another block. */
TEST(same_first_word)
{
	uintptr_t lost = lose_first();

	replace(lost);
	scrub_stack();
	ck_assert(memunreachable_test_begin("second"));
	stale = NULL;
	scrub_stack();
	expect(memunreachable_test_end(), "second lost 1000 bytes in 1 alloc");
}

/* With NEXT no pass is made: what was lost between is in the next test. */
TEST(next)
{
	ck_assert(memunreachable_test_begin_at("first", NULL, true));
	ck_assert_ptr_null(memunreachable_test_end());
	lose_scrubbed('b');
	ck_assert(memunreachable_test_begin_at("second", NULL, true));
	expect(memunreachable_test_end(), "second lost 1000 bytes");
	lose_scrubbed('c');
	ck_assert(memunreachable_test_begin_at("third", NULL, false));
	ck_assert_ptr_null(memunreachable_test_end());
}

TEST(without_begin)
{
	lose_scrubbed('w');
	expect(memunreachable_test_end(), " lost 1000 bytes");
}

TEST(names)
{
	char name[1000];

	memset(name, 'n', sizeof(name) - 1);
	name[sizeof(name) - 1] = '\0';
	ck_assert(memunreachable_test_begin(name));
	lose_scrubbed('n');
	expect(memunreachable_test_end(), "nnn lost 1000 bytes");
	ck_assert(memunreachable_test_begin(NULL));
	lose_scrubbed('n');
	expect(memunreachable_test_end(), "the test lost 1000 bytes");
	ck_assert(memunreachable_test_begin("an\033[1mescape"));
	lose_scrubbed('n');
	ck_assert_ptr_null(strchr(memunreachable_test_end(), '\033'));
}

TEST(in_a_child)
{
	int status;
	pid_t pid;

	lose_scrubbed('p');
	ck_assert(memunreachable_test_begin("parent"));
	pid = fork();
	if (pid == 0) {
		bool clean = memunreachable_test_end() == NULL;

		lose_scrubbed('c');
		_exit(clean && memunreachable_test_end() != NULL ? 0 : 1);
	}
	ck_assert_int_eq(waitpid(pid, &status, 0), pid);
	ck_assert_int_eq(status, 0);
	ck_assert_ptr_null(memunreachable_test_end());
}

/* A block whose address is somewhere else for a moment. */
static uintptr_t moved;

static void *
show_again(void *arg)
{
	static void *volatile shown;

	(void)arg;
	usleep(10000);
	shown = mu_reveal(moved);
	return (void *)shown;
}

TEST(second_look)
{
	pthread_t thread;

	ck_assert(memunreachable_test_begin("moves"));
	moved = lose('m');
	scrub_stack();
	pthread_create(&thread, NULL, show_again, NULL);
	ck_assert_ptr_null(memunreachable_test_end());
	pthread_join(thread, NULL);
}

static ptrdiff_t
begin_within(void *ctx, uintptr_t *words, size_t max)
{
	(void)words;
	(void)max;
	*(bool *)ctx = memunreachable_test_begin("within a pass");
	return 0;
}

/* If the begin is not known, the end says so and blames nothing. */
TEST(not_checked)
{
	struct UnreachableMemoryInfo info = { 0 };
	static bool begun = true;
	const char *said;

	lose_scrubbed('b');
	ck_assert(memunreachable_register_root_provider(begin_within, &begun));
	ck_assert(GetUnreachableMemory(&info, 10));
	ck_assert(
	    memunreachable_unregister_root_provider(begin_within, &begun));
	FreeUnreachableMemoryInfo(&info);
	ck_assert(!begun);
	said = memunreachable_test_end();
	expect(said, "within a pass may have lost memory: ");
	expect(said, "its begin was not checked: busy: ");
	ck_assert_ptr_null(memunreachable_test_end());
}

static const char *failed;

static void
fail_with(const char *text)
{
	ck_assert_uint_lt(strlen(text), 1000);
	failed = text;
}

TEST(macros)
{
	MEMUNREACHABLE_TEST("clean", fail_with, free(malloc(10)));
	ck_assert_ptr_null(failed);
	MEMUNREACHABLE_TEST("leaky", fail_with, lose_scrubbed('m'));
	expect(failed, "leaky lost 1000 bytes");
	failed = NULL;
	MEMUNREACHABLE_NO_LEAKS(fail_with);
	ck_assert_ptr_null(failed);
}

/* What is allocated again, from malloc's cache and from elsewhere. */
static __attribute__((noinline)) size_t
words_left(size_t size)
{
	void *blocks[20];
	size_t i, j, left = 0;

	for (i = 0; i < 20; i++) {
		uintptr_t *words = blocks[i] = malloc(size);

		/* The compiler may not know that nothing was written. */
		__asm__ volatile("" : "+r"(words) : : "memory");
		for (j = 2; j < size / sizeof(*words); j++)
			left += words[j] == 0x1234567890;
	}
	for (i = 0; i < 20; i++) {
		for (j = 0; j < size / sizeof(uintptr_t); j++)
			((volatile uintptr_t *)blocks[i])[j] = 0x1234567890;
		free(blocks[i]);
	}
	return left;
}

TEST(memory_is_filled)
{
	words_left(200);
	ck_assert_uint_gt(words_left(200), 0);
	ck_assert(memunreachable_test_begin("fills"));
	ck_assert_uint_eq(words_left(200), 0);
	mu_library.options.fill_memory = false;
	ck_assert(memunreachable_test_begin("does not"));
	ck_assert_uint_gt(words_left(200), 0);
	mu_library.options.fill_memory = true;
	ck_assert(memunreachable_test_begin("fills again"));
	ck_assert_uint_eq(words_left(200), 0);
}

/* A frame with stale slots over the test's, as a listener's. */
static __attribute__((noinline)) const char *
listen(struct memunreachable_frames *frames, bool end)
{
	volatile char message[4096];

	__asm__ volatile("" : : "r"(message) : "memory");
	return end ? memunreachable_frames_end(frames)
		   : (memunreachable_frames_begin(frames, "listened", false),
			 (const char *)NULL);
}

static __attribute__((noinline)) void
lose_in_frame(void)
{
	void *volatile blocks[256];
	size_t i;

	for (i = 0; i < 256; i++)
		blocks[i] = i % 16 == 0 ? mu_reveal(lose('l')) : NULL;
	for (i = 0; i < 256; i++)
		if (blocks[i] == (void *)1)
			abort();
}

static __attribute__((noinline)) const char *
run_listened(struct memunreachable_frames *frames, void (*test)(void))
{
	const char *lost;

	listen(frames, false);
	test();
	lost = listen(frames, true);
	return lost;
}

static void
do_nothing(void)
{
}

TEST(listener)
{
	static struct memunreachable_frames walked;

	ck_assert_ptr_null(run_listened(&walked, do_nothing));
	expect(run_listened(&walked, lose_in_frame), "16000 bytes in 16 ");
	ck_assert_ptr_null(run_listened(&walked, do_nothing));
}

/* A block that is held until the end of a test may be another's in the next. */
TEST(held_until_the_end)
{
	static struct memunreachable_frames walked;
	void *volatile dead = malloc(100);
	size_t i;

	free(dead);
	listen(&walked, false);
	ck_assert_uint_gt(walked.num_held, 0);
	ck_assert_ptr_null(listen(&walked, true));
	for (i = 0; i < MEMUNREACHABLE_MAX_HELD; i++)
		ck_assert_ptr_null(walked.held[i]);
}

/* What the runner holds, in its frame or in a register, counts. */
static __attribute__((noinline)) void
run_holding(struct memunreachable_frames *frames)
{
	void *volatile in_frame;
	register void *in_register;
	const char *lost;

	listen(frames, false);
	in_frame = mu_reveal(lose('f'));
	in_register = mu_reveal(lose('r'));
	__asm__ volatile("" : "+r"(in_register));
	lost = listen(frames, true);
	__asm__ volatile("" : : "r"(in_register));
	ck_assert_msg(lost == NULL, "%s", lost);
	(void)in_frame;
}

TEST(runner_holds)
{
	static struct memunreachable_frames walked;

	run_holding(&walked);
	run_holding(&walked);
}
