/* What can be the name of a class of CPython, and what is before its objects.
 */
#include "lib/types/python_object.h"
#include "tests/support/suite.h"

TEST(names)
{
	static const char *const good[] = { "str", "_io.TextIOWrapper",
		"method-wrapper", "C0", "a.b.c", "numpy.dtype[float64]",
		"na\xc3\xafve", "\xe6\x97\xa5\xe6\x9c\xac", "__x__" };
	size_t i;

	for (i = 0; i < sizeof(good) / sizeof(*good); i++)
		ck_assert_msg(mu_python_is_name(good[i]), "%s", good[i]);
}

TEST(no_names)
{
	static const char *const bad[] = { "", ".", "a.", ".a", "a..b", "0a",
		"a.0", "a b", "a\n", "@", "\x80", "a\xff", "\xc3", "\xe6\x97",
		"a\xe6\x97.", "\xc0\x80", "p\x90\x12@\x7f", "-a", "a.-b",
		"a(b)", "/usr/lib", "%s" };
	size_t i;

	for (i = 0; i < sizeof(bad) / sizeof(*bad); i++)
		ck_assert_msg(!mu_python_is_name(bad[i]), "%s", bad[i]);
}

#define GC ((uintptr_t)1 << 14)
#define PREHEADER ((uintptr_t)3 << 3)

/* Up to 3.7 the collector has 32 bytes, and the third word has a state. */
TEST(before)
{
	struct mu_python_class class = { .flags = GC };
	uintptr_t head[4] = { 0 };
	intptr_t state;

	ck_assert(mu_python_class_fits(&class, head, 16));
	ck_assert(!mu_python_class_fits(&class, head, 0));
	ck_assert(!mu_python_class_fits(&class, head, 32));
	for (state = -10; state <= 2; state++) {
		head[2] = (uintptr_t)state;
		ck_assert_int_eq(mu_python_class_fits(&class, head, 32),
		    state >= -8 && state <= -3);
	}
	head[2] = (uintptr_t)-5;
	class.flags = 0;
	ck_assert(!mu_python_class_fits(&class, head, 32));
	ck_assert(mu_python_class_fits(&class, head, 0));
	class.flags = GC | PREHEADER;
	ck_assert(!mu_python_class_fits(&class, head, 16));
	ck_assert(mu_python_class_fits(&class, head, 32));
}
