/*
 * mu/arch/call_site.h: calls and constants in code as compilers write it, and
 * in code that is none.
 */
#include "mu/arch/call_site.h"
#include "tests/support/suite.h"

#ifdef __x86_64__

#define AT 0x400000u

/* The last call of CODE. */
static struct mu_call
last_call(const unsigned char *code, size_t size)
{
	struct mu_call call = { .at = SIZE_MAX }, next;
	size_t at = 0;

	while (mu_call_next(code, size, AT, &at, &next))
		call = next;
	ck_assert_uint_ne(call.at, SIZE_MAX);
	return call;
}

static const struct sample {
	const char *words;
	size_t size;
	unsigned char code[32];
	bool known;
	uint64_t first;
} samples[] = {
	{ "mov $40,%edi; call", 11,
	    { 0xbf, 40, 0, 0, 0, 0xe8, 0x10, 0, 0, 0, 0x90 }, true, 40 },
	{ "mov $40,%edi; mov %rbx,8(%rsp); call", 16,
	    { 0xbf, 40, 0, 0, 0, 0x48, 0x89, 0x5c, 0x24, 0x08, 0xe8, 0x10, 0, 0,
		0, 0x90 },
	    true, 40 },
	{ "mov $0x28bf,%edi; call: the operand has the opcode", 11,
	    { 0xbf, 0xbf, 0x28, 0, 0, 0xe8, 0x10, 0, 0, 0, 0x90 }, true,
	    0x28bf },
	{ "mov $40,%edi; mov %eax,%edi; call", 13,
	    { 0xbf, 40, 0, 0, 0, 0x89, 0xc7, 0xe8, 0x10, 0, 0, 0, 0x90 }, false,
	    0 },
	{ "mov $40,%edi; lea 8(%rax),%rdi; call", 15,
	    { 0xbf, 40, 0, 0, 0, 0x48, 0x8d, 0x78, 0x08, 0xe8, 0x10, 0, 0, 0,
		0x90 },
	    false, 0 },
	{ "mov $40,%edi; call; call", 16,
	    { 0xbf, 40, 0, 0, 0, 0xe8, 0x10, 0, 0, 0, 0xe8, 0x10, 0, 0, 0,
		0x90 },
	    false, 0 },
	{ "mov $40,%edi; pop %rdi; call", 12,
	    { 0xbf, 40, 0, 0, 0, 0x5f, 0xe8, 0x10, 0, 0, 0, 0x90 }, false, 0 },
	{ "mov $40,%r15d; call: another register", 12,
	    { 0x41, 0xbf, 40, 0, 0, 0, 0xe8, 0x10, 0, 0, 0, 0x90 }, false, 0 },
	{ "mov %rbx,%rdi; call", 9,
	    { 0x48, 0x89, 0xdf, 0xe8, 0x10, 0, 0, 0, 0x90 }, false, 0 },
};

TEST_LOOP(samples_of_code, 0, sizeof(samples) / sizeof(*samples))
{
	const struct sample *sample = &samples[_i];
	struct mu_call call = last_call(sample->code, sample->size);
	uint64_t value = 0;

	ck_assert_msg(
	    mu_call_constant(sample->code, call.at, 0, &value) == sample->known,
	    "%s", sample->words);
	ck_assert_uint_eq(call.target, AT + call.at + 5 + 0x10);
	if (sample->known)
		ck_assert_uint_eq(value, sample->first);
}

/* mov $1,%edi; mov $48,%esi; call */
TEST(two_arguments)
{
	static const unsigned char code[] = { 0xbf, 1, 0, 0, 0, 0xbe, 48, 0, 0,
		0, 0xe8, 0, 0, 0, 0, 0x90 };
	uint64_t value;

	ck_assert(mu_call_constant(code, 10, 0, &value));
	ck_assert_uint_eq(value, 1);
	ck_assert(mu_call_constant(code, 10, 1, &value));
	ck_assert_uint_eq(value, 48);
}

/* endbr64; bnd jmp *0x2000(%rip), and without the first two */
TEST(stubs)
{
	static const unsigned char code[] = { 0xf3, 0x0f, 0x1e, 0xfa, 0xf2,
		0xff, 0x25, 0x00, 0x20, 0, 0, 0x90, 0xff, 0x25, 0x00, 0x10, 0,
		0, 0x90, 0x90 };
	uint64_t word;
	size_t begin;

	ck_assert(mu_call_stub(code, sizeof(code), AT, 5, &begin, &word));
	ck_assert_uint_eq(begin, 0);
	ck_assert_uint_eq(word, AT + 11 + 0x2000);
	ck_assert(mu_call_stub(code, sizeof(code), AT, 12, &begin, &word));
	ck_assert_uint_eq(begin, 12);
	ck_assert_uint_eq(word, AT + 18 + 0x1000);
	ck_assert(!mu_call_stub(code, sizeof(code), AT, 15, &begin, &word));
}

/* call *0x100(%rip) */
TEST(call_by_word)
{
	static const unsigned char code[] = { 0xff, 0x15, 0x00, 0x01, 0, 0 };
	struct mu_call call = last_call(code, sizeof(code));

	ck_assert(call.word);
	ck_assert_uint_eq(call.target, AT + 6 + 0x100);
}

/* At both ends of memory that can be read. */
TEST(random_bytes)
{
	const size_t size = 4096;
	unsigned char *code =
	    mmap(NULL, 3 * size, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	uint32_t state = 1;
	struct mu_call call;
	uint64_t value;
	size_t i, at, begin, round;

	ck_assert_ptr_ne(code, MAP_FAILED);
	code += size;
	ck_assert_int_eq(mprotect(code, size, PROT_READ | PROT_WRITE), 0);
	for (round = 0; round < 200; round++) {
		for (i = 0; i < size; i++) {
			state = state * 1664525 + 1013904223;
			code[i] = state >> 30 == 0
			    ? (const unsigned char[]) { 0xe8, 0xbf, 0xff,
				      0x25 }[state >> 24 & 3]
			    : (unsigned char)(state >> 20);
		}
		for (at = 0; mu_call_next(code, size, AT, &at, &call);) {
			mu_call_constant(code, call.at, 0, &value);
			mu_call_constant(code, call.at, 1, &value);
		}
		for (i = 0; i < size; i++)
			if (mu_call_stub(code, size, AT, i, &begin, &value))
				ck_assert_uint_le(begin, i);
	}
	munmap(code - size, 3 * size);
}

#endif

SUITE(.timeout = 60);
