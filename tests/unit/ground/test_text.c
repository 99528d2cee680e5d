/* The formatter against snprintf(), and its bounds. */
#include <limits.h>
#include <stdarg.h>

#include "mu/log.h"
#include "mu/sort.h"
#include "mu/status.h"
#include "mu/text.h"
#include "tests/support/suite.h"

static void __attribute__((format(printf, 1, 2))) same(const char *format, ...)
{
	char ours[256], theirs[256];
	size_t n, sizes[] = { 256, 0, 1, 2, 7 }, i;
	va_list args;

	for (i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
		memset(ours, '#', sizeof(ours));
		memset(theirs, '#', sizeof(theirs));
		va_start(args, format);
		n = mu_text_vformat(ours, sizes[i], format, args);
		va_end(args);
		va_start(args, format);
		ck_assert_uint_eq(
		    n, (size_t)vsnprintf(theirs, sizes[i], format, args));
		va_end(args);
		ck_assert_msg(memcmp(ours, theirs, sizes[i]) == 0,
		    "size %zu: \"%s\" but \"%s\"", sizes[i], ours, theirs);
		/* No byte after the buffer is written. */
		ck_assert_int_eq(ours[sizes[i] < 255 ? sizes[i] : 255],
		    sizes[i] < 255 ? '#' : ours[255]);
	}
}

TEST(like_snprintf)
{
	const char *volatile null = NULL;

	same("plain");
	same("%s|%10s|%-10s|%.2s|%.0s", "abc", "abc", "abc", "abc", "abc");
	same("%c%c%%", 'a', 'b');
	same("%d %d %d %i", 0, INT_MAX, INT_MIN, -1);
	same("%5d|%-5d|%05d|%05d", 42, 42, 42, -42);
	same("%u %x %X", UINT_MAX, 0xdeadbeefu, 0xdeadbeefu);
	same("%lu %lx %ld", ULONG_MAX, ULONG_MAX, LONG_MIN);
	same("%zu %zx %jd", SIZE_MAX, SIZE_MAX, INTMAX_MIN);
	same("%02hhx%02hhx", (unsigned char)0x80, (unsigned char)7);
	same("%016lx", 0x7f00deadul);
	same("%p", (void *)0x7f00dead);
	same("%s", null);
}

TEST(built_up)
{
	char buffer[8];
	struct mu_text text = { buffer, sizeof(buffer), 0 };
	struct mu_text measure = { NULL, 0, 0 };

	mu_text_add(&text, "%s", "abc");
	ck_assert_str_eq(buffer, "abc");
	mu_text_add(&text, "%d", 12345678);
	ck_assert_str_eq(buffer, "abc1234");
	ck_assert_uint_eq(text.length, 11);
	mu_text_add(&text, "more");
	ck_assert_str_eq(buffer, "abc1234");
	ck_assert_uint_eq(text.length, 15);
	mu_text_add(&measure, "%s", "abc");
	mu_text_add(&measure, "%s", "de");
	ck_assert_uint_eq(measure.length, 5);
}

TEST(why_is_cut_and_terminated)
{
	struct mu_why why;
	char much[1000];

	memset(much, 'x', sizeof(much));
	much[sizeof(much) - 1] = '\0';
	ck_assert_int_eq(mu_why(&why, MU_ERR_BUSY, "%s", much), MU_ERR_BUSY);
	ck_assert_uint_eq(strlen(why.text), sizeof(why.text) - 1);
	ck_assert_int_eq(mu_why(NULL, MU_PARTIAL, "x"), MU_PARTIAL);
}

TEST(every_status_has_a_name)
{
	int status, other;

	for (status = 0; status < MU_STATUS_COUNT; status++)
		for (other = 0; other < status; other++)
			ck_assert_str_ne(mu_status_name((enum mu_status)status),
			    mu_status_name((enum mu_status)other));
	ck_assert_ptr_nonnull(mu_status_name((enum mu_status) - 1));
	ck_assert_ptr_nonnull(mu_status_name((enum mu_status)4711));
}

static int
compare(const void *a, const void *b)
{
	uint32_t x, y;

	memcpy(&x, a, sizeof(x));
	memcpy(&y, b, sizeof(y));
	return (x > y) - (x < y);
}

static void
sort_and_check(size_t count, size_t size, uint32_t modulus)
{
	static char data[2000 * 24];
	uint64_t sum = 0, check = 0;
	uint32_t key, last = 0;
	uint32_t state = 12345;
	size_t i;

	memset(data, 0x5a, sizeof(data));
	for (i = 0; i < count; i++) {
		state = state * 1664525u + 1013904223u;
		key = modulus == 0 ? (uint32_t)i : state % modulus;
		sum += key;
		memcpy(data + i * size, &key, sizeof(key));
	}
	mu_sort(data, count, size, compare);
	for (i = 0; i < count; i++) {
		memcpy(&key, data + i * size, sizeof(key));
		ck_assert_uint_ge(key, last);
		last = key;
		check += key;
	}
	ck_assert_uint_eq(sum, check);
	ck_assert_int_eq(data[count * size], 0x5a);
}

TEST(sorts)
{
	size_t count;

	for (count = 0; count < 300; count++) {
		sort_and_check(count, 4, 1000);
		sort_and_check(count, 24, 3);
		sort_and_check(count, 4, 0);
	}
	sort_and_check(1999, 24, 1u << 30);
}
