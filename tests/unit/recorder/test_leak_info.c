/* get_malloc_leak_info() and the other calls of malloc_debug.h. */
#include "memunreachable/malloc_debug.h"
#include "tests/support/captured_stderr.h"
#include "tests/support/recorder/recorded_blocks.h"
#include "tests/support/suite.h"

struct answer {
	uint8_t *info;
	size_t overall, record, total, frames;
};

static struct answer
ask(void)
{
	struct answer answer = { (uint8_t *)1, 1, 1, 1, 1 };

	get_malloc_leak_info(&answer.info, &answer.overall, &answer.record,
	    &answer.total, &answer.frames);
	return answer;
}

static void
is_nothing(struct answer answer)
{
	ck_assert_ptr_null(answer.info);
	ck_assert_uint_eq(answer.overall, 0);
	ck_assert_uint_eq(answer.record, 0);
	ck_assert_uint_eq(answer.total, 0);
	ck_assert_uint_eq(answer.frames, 0);
}

static size_t
count(const struct answer *answer)
{
	ck_assert_uint_eq(
	    answer->record, (2 + answer->frames) * sizeof(uintptr_t));
	ck_assert_uint_eq(answer->overall % answer->record, 0);
	return answer->overall / answer->record;
}

/*
 * Record N has SIZE, NUM, and a stack of FRAMES from FIRST on, followed by
 * zeros.
 */
static void
is_record(const struct answer *answer, size_t n, size_t size, size_t num,
    uintptr_t first, size_t frames)
{
	uintptr_t words[2 + MU_STACK_MAX_FRAMES];
	size_t i;

	memcpy(words, answer->info + n * answer->record, answer->record);
	ck_assert_msg(words[0] == size && words[1] == num,
	    "record %zu: size %#lx num %lu", n, words[0], words[1]);
	for (i = 0; i < answer->frames; i++)
		ck_assert_msg(words[2 + i] == (i < frames ? first + i : 0),
		    "record %zu: frame %zu is %#lx", n, i, words[2 + i]);
}

TEST(case_invalid)
{
	size_t a = 7, b = 7, c = 7, d = 7;
	uint8_t *info = (uint8_t *)7;
	struct captured_stderr captured;

	made(100, 0x1000, 2, 0);
	captured_stderr_begin(&captured);
	get_malloc_leak_info(NULL, &a, &b, &c, &d);
	get_malloc_leak_info(&info, NULL, &b, &c, &d);
	get_malloc_leak_info(&info, &a, NULL, &c, &d);
	get_malloc_leak_info(&info, &a, &b, NULL, &d);
	get_malloc_leak_info(&info, &a, &b, &c, NULL);
#define LINE \
	"malloc_debug: get_malloc_leak_info: At least one invalid parameter.\n"
	ck_assert_str_eq(
	    captured_stderr_end(&captured), LINE LINE LINE LINE LINE);
	ck_assert_ptr_eq(info, (uint8_t *)7);
	ck_assert_uint_eq(a + b + c + d, 28);
}

TEST(not_enabled)
{
	struct captured_stderr captured;

	made(100, 0x1000, 2, 0);
	recorder_options.backtrace = false;
	captured_stderr_begin(&captured);
	is_nothing(ask());
	ck_assert_str_eq(captured_stderr_end(&captured),
	    "malloc_debug: get_malloc_leak_info: Allocations not being "
	    "tracked, to enable set the option 'backtrace'.\n");
}

TEST(empty)
{
	struct captured_stderr captured;

	captured_stderr_begin(&captured);
	is_nothing(ask());
	/* Captured was off, which is no record either. */
	made_of_stack(100, MU_STACK_OFF);
	made_of_stack(100, MU_STACK_OFF_CHILD);
	is_nothing(ask());
	ck_assert_str_eq(captured_stderr_end(&captured), "");
}

TEST(single)
{
	struct answer answer;

	made(123, 0x5000, 3, 0);
	answer = ask();
	ck_assert_uint_eq(answer.frames, 16);
	ck_assert_uint_eq(answer.record, 144);
	ck_assert_uint_eq(answer.overall, 144);
	ck_assert_uint_eq(answer.total, 123);
	is_record(&answer, 0, 123, 1, 0x5000, 3);
	free_malloc_leak_info(answer.info);
}

TEST(frames_of_the_option)
{
	struct answer answer;

	recorder_options.frames = 4;
	made(8, 0x5000, 4, 0);
	made(8, 0x5000, 2, 0);
	answer = ask();
	ck_assert_uint_eq(answer.record, 48);
	ck_assert_uint_eq(count(&answer), 2);
	is_record(&answer, 0, 8, 1, 0x5000, 4);
	is_record(&answer, 1, 8, 1, 0x5000, 2);
	free_malloc_leak_info(answer.info);
}

TEST(same_stack)
{
	struct answer answer;

	made(40, 0x1000, 2, 0);
	made(40, 0x1000, 2, 0);
	made(41, 0x1000, 2, 0);
	made(40, 0x1000, 2, 0);
	answer = ask();
	ck_assert_uint_eq(count(&answer), 2);
	is_record(&answer, 0, 41, 1, 0x1000, 2);
	is_record(&answer, 1, 40, 3, 0x1000, 2);
	ck_assert_uint_eq(answer.total, 161);
	free_malloc_leak_info(answer.info);
}

TEST(captured_but_empty)
{
	struct answer answer;

	made_of_stack(64, MU_STACK_EMPTY);
	made_of_stack(64, MU_STACK_OFF);
	made_of_stack(64, MU_STACK_EMPTY);
	answer = ask();
	ck_assert_uint_eq(count(&answer), 1);
	is_record(&answer, 0, 64, 2, 0, 0);
	ck_assert_uint_eq(answer.total, 128);
	free_malloc_leak_info(answer.info);
}

/* What the quarantine holds back has been freed. */
TEST(freed_is_not_live)
{
	uintptr_t freed = made(64, 0x1000, 1, 0);
	uint32_t word = live_word((void *)freed);

	ck_assert(live_change((void *)freed, word, word | MU_SHADOW_FREED));
	is_nothing(ask());
}

TEST(child)
{
	struct answer answer;

	made(40, 0x1000, 2, MU_STACK_CHILD);
	made_of_stack(24, MU_STACK_EMPTY_CHILD);
	answer = ask();
	ck_assert_uint_eq(count(&answer), 2);
	is_record(&answer, 0, 0x80000028, 1, 0x1000, 2);
	is_record(&answer, 1, 0x80000018, 1, 0, 0);
	ck_assert_uint_eq(answer.total, 64);
	free_malloc_leak_info(answer.info);
}

TEST(large_child)
{
	struct answer answer;

	made((size_t)3 << 30, 0x1000, 1, MU_STACK_CHILD);
	answer = ask();
	is_record(&answer, 0, (size_t)3 << 30, 1, 0x1000, 1);
	ck_assert_uint_eq(answer.total, (size_t)3 << 30);
	free_malloc_leak_info(answer.info);
}

TEST(child_and_parent_mixed)
{
	struct answer answer;

	made(40, 0x1000, 2, MU_STACK_CHILD);
	made(40, 0x1000, 2, 0);
	made(40, 0x1000, 2, MU_STACK_CHILD);
	answer = ask();
	ck_assert_uint_eq(count(&answer), 2);
	is_record(&answer, 0, 40, 1, 0x1000, 2);
	is_record(&answer, 1, 0x80000028, 2, 0x1000, 2);
	free_malloc_leak_info(answer.info);
}

TEST(order)
{
	struct answer answer;

	made(900, 0x100, 1, MU_STACK_CHILD); /* 6 */
	made_of_stack(50, MU_STACK_EMPTY);   /* 4 */
	made(50, 0x200, 2, 0);               /* 2: behind it by address */
	made(50, 0x300, 2, 0);               /* 3 */
	made(50, 0x400, 3, 0);               /* 1 */
	made(60, 0x500, 1, 0);               /* 0 */
	made(8, 0x600, 9, 0);                /* 5 */
	answer = ask();
	ck_assert_uint_eq(count(&answer), 7);
	is_record(&answer, 0, 60, 1, 0x500, 1);
	is_record(&answer, 1, 50, 1, 0x400, 3);
	is_record(&answer, 2, 50, 1, 0x200, 2);
	is_record(&answer, 3, 50, 1, 0x300, 2);
	is_record(&answer, 4, 50, 1, 0, 0);
	is_record(&answer, 5, 8, 1, 0x600, 9);
	is_record(&answer, 6, 0x80000000 + 900, 1, 0x100, 1);
	free_malloc_leak_info(answer.info);
}

TEST(a_b_a_b)
{
	struct answer answer;
	int i;

	for (i = 0; i < 50; i++) {
		made(32, 0x1000, 2, 0);
		made(32, 0x2000, 2, 0);
	}
	answer = ask();
	ck_assert_uint_eq(count(&answer), 2);
	is_record(&answer, 0, 32, 50, 0x1000, 2);
	is_record(&answer, 1, 32, 50, 0x2000, 2);
	ck_assert_uint_eq(answer.total, 3200);
	free_malloc_leak_info(answer.info);
}

TEST(multi_against_a_model)
{
	size_t model[8][4] = { { 0 } }, i, records = 0, total = 0;
	struct answer answer;
	unsigned seed = 1;

	for (i = 0; i < 3000; i++) {
		size_t size = (size_t)(rand_r(&seed) % 8);
		size_t stack = (size_t)(rand_r(&seed) % 4);

		made(size + 1, 0x1000 * (stack + 1), 3, 0);
		records += model[size][stack]++ == 0;
		total += size + 1;
	}
	answer = ask();
	ck_assert_uint_eq(count(&answer), records);
	ck_assert_uint_eq(answer.total, total);
	for (i = 0; i < records; i++) {
		uintptr_t words[3];

		memcpy(words, answer.info + i * answer.record, sizeof(words));
		ck_assert_uint_eq(
		    words[1], model[words[0] - 1][words[2] / 0x1000 - 1]);
		model[words[0] - 1][words[2] / 0x1000 - 1] = 0;
	}
	free_malloc_leak_info(answer.info);
}

TEST(free_nothing)
{
	free_malloc_leak_info(NULL);
}

/* 1 / (1 - exp(-size / bytes)): 1.58198 and 1.00000. */
TEST(sampled_counts_are_estimates)
{
	struct answer answer;
	int i;

	recorder_options.sample_bytes = 4096;
	for (i = 0; i < 1000; i++)
		made(4096, 0x1000, 2, 0);
	made(1 << 20, 0x2000, 2, 0);
	made_of_stack(64, MU_STACK_OFF);
	answer = ask();
	ck_assert_uint_eq(count(&answer), 2);
	is_record(&answer, 0, 1 << 20, 1, 0x2000, 2);
	is_record(&answer, 1, 4096, 1582, 0x1000, 2);
	ck_assert_uint_eq(answer.total, (1 << 20) + 1582 * 4096);
	free_malloc_leak_info(answer.info);
}

TEST(case_not_enabled)
{
	char text[1024] = "";
	FILE *file = tmpfile();

	recorder_options.backtrace = false;
	fputs("before\n", file);
	errno = 0;
	ck_assert(!write_malloc_leak_info(file));
	ck_assert_int_eq(errno, ENOTSUP);
	rewind(file);
	ck_assert_uint_gt(fread(text, 1, sizeof(text) - 1, file), 0);
	fclose(file);
	ck_assert_str_eq(text,
	    "before\n"
	    "Native heap dump not available. To enable, start the program "
	    "so:\n"
	    "# LD_PRELOAD=libmemunreachable-malloc-debug.so.0 \\\n"
	    "#     LIBC_DEBUG_MALLOC_OPTIONS=backtrace \\\n"
	    "#     PROGRAM\n");
}

TEST(extra_data_before)
{
	static char text[65536];
	FILE *file = tmpfile();

	made(40, 0xabc0, 2, 0);
	fputs("This message should appear before the output.\n", file);
	ck_assert(write_malloc_leak_info(file));
	fputs("and this behind\n", file);
	rewind(file);
	ck_assert_uint_gt(fread(text, 1, sizeof(text) - 1, file), 0);
	fclose(file);
	ck_assert_ptr_nonnull(strstr(text,
	    "This message should appear before the output.\n"
	    "Android Native Heap Dump v1.2\n\n"));
	ck_assert_ptr_nonnull(
	    strstr(text, "\nz 1  sz       40  num    1  bt abc0 abc1\nMAPS\n"));
	ck_assert_str_eq(text + strlen(text) - strlen("and this behind\n"),
	    "and this behind\n");
}

TEST(bad_file)
{
	FILE *file = fopen("/dev/full", "w");

	errno = 0;
	ck_assert(!write_malloc_leak_info(NULL));
	ck_assert_int_eq(errno, EINVAL);
	ck_assert(!write_malloc_leak_info(file));
	ck_assert_int_eq(errno, ENOSPC);
	fclose(file);
}

TEST(case_backtrace)
{
	uintptr_t frames[8] = { 0 }, block = made(8, 0x1000, 5, 0);
	uintptr_t none = made_of_stack(8, MU_STACK_EMPTY);

	ck_assert_int_eq(malloc_backtrace((void *)block, frames, 8), 5);
	ck_assert_uint_eq(frames[0], 0x1000);
	ck_assert_uint_eq(frames[4], 0x1004);
	ck_assert_uint_eq(frames[5], 0);
	memset(frames, 0, sizeof(frames));
	ck_assert_int_eq(malloc_backtrace((void *)block, frames, 2), 2);
	ck_assert_uint_eq(frames[2], 0);
	ck_assert_int_eq(malloc_backtrace((void *)block, NULL, 0), 0);
	ck_assert_int_eq(malloc_backtrace((void *)none, frames, 8), 0);
	ck_assert_int_eq(malloc_backtrace(NULL, frames, 8), 0);
	ck_assert_int_eq(malloc_backtrace((void *)(block + 1), frames, 8), 0);
	ck_assert_int_eq(malloc_backtrace((void *)(block + 16), frames, 8), 0);
	ck_assert_int_eq(malloc_backtrace(frames, frames, 8), 0);
	recorder_options.backtrace = false;
	ck_assert_int_eq(malloc_backtrace((void *)block, frames, 8), 0);
}

SUITE(.setup = made_begin, .teardown = made_end);
