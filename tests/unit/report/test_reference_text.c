/* The text of a reference. */
#include "memunreachable/memunreachable.h"
#include "tests/support/suite.h"

static const char *
words(const struct MemunreachableReference *reference)
{
	static char line[256];
	size_t length =
	    memunreachable_format_reference(reference, line, sizeof(line));

	ck_assert_uint_eq(length, strlen(line));
	return line;
}

TEST(in_words)
{
	struct MemunreachableReference reference = {
		.kind = MEMUNREACHABLE_REFERENCE_GLOBAL,
		.thread = 12,
		.address = 0x55d0c8a04040,
		.offset = 0x4040,
		.begin = 0x55d0c8a04000,
		.size = 48,
		.reachable = true,
		.name = "rbx",
		.path = "/usr/bin/x",
	};
	char cut[8] = "garbage";

	ck_assert_str_eq(words(&reference), "55d0c8a04040: /usr/bin/x+0x4040");
	ck_assert_uint_eq(
	    memunreachable_format_reference(&reference, cut, sizeof(cut)), 31);
	ck_assert_str_eq(cut, "55d0c8a");
	ck_assert_uint_eq(
	    memunreachable_format_reference(&reference, NULL, 0), 31);
	reference.kind = MEMUNREACHABLE_REFERENCE_STACK;
	ck_assert_str_eq(
	    words(&reference), "55d0c8a04040: stack of thread 12, sp+0x4040");
	reference.kind = MEMUNREACHABLE_REFERENCE_CALLER;
	reference.into = 8;
	ck_assert_str_eq(words(&reference),
	    "55d0c8a04040: stack of calling thread 12, sp+0x4040, points 8 "
	    "bytes into it");
	reference.kind = MEMUNREACHABLE_REFERENCE_TLS;
	reference.offset = -0x40;
	reference.into = 0;
	ck_assert_str_eq(
	    words(&reference), "55d0c8a04040: variable of thread 12, tp-0x40");
	reference.kind = MEMUNREACHABLE_REFERENCE_MAPPING;
	reference.offset = 0x40;
	ck_assert_str_eq(words(&reference),
	    "55d0c8a04040: /usr/bin/x of 48 bytes at 55d0c8a04000, +0x40");
	reference.path = "";
	ck_assert_str_eq(words(&reference),
	    "55d0c8a04040: mapping of 48 bytes at 55d0c8a04000, +0x40");
	reference.kind = MEMUNREACHABLE_REFERENCE_ROOT_REGION;
	ck_assert_str_eq(words(&reference),
	    "55d0c8a04040: root region of 48 bytes at 55d0c8a04000, +0x40");
	reference.kind = MEMUNREACHABLE_REFERENCE_BLOCK;
	ck_assert_str_eq(words(&reference),
	    "55d0c8a04040: block of 48 bytes at 55d0c8a04000, +0x40, "
	    "variables of thread 12, itself reachable");
	reference.thread = 0;
	reference.reachable = false;
	ck_assert_str_eq(words(&reference),
	    "55d0c8a04040: block of 48 bytes at 55d0c8a04000, +0x40, "
	    "itself unreachable");
	reference.address = 0;
	reference.kind = MEMUNREACHABLE_REFERENCE_REGISTER;
	reference.thread = 12;
	reference.into = -16;
	ck_assert_str_eq(words(&reference),
	    "register rbx of thread 12, by the header of its chunk");
	reference.into = 0;
	reference.kind = MEMUNREACHABLE_REFERENCE_ROOT_VALUE;
	ck_assert_str_eq(words(&reference), "ignored object or root provider");
	reference.kind = MEMUNREACHABLE_REFERENCE_KERNEL;
	ck_assert_str_eq(words(&reference), "kernel: epoll or timer");
	reference.kind = 4711;
	ck_assert_str_eq(words(&reference), "reference of kind 4711");
}
