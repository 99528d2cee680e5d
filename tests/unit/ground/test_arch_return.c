/*
 * Return from an injected system call: which code after the call returns to the
 * address on the stack, and how an interrupted call is restarted.
 */
#include "memunreachable/memunreachable.h"
#include "mu/arch/register_names.h"
#include "mu/arch/registers.h"
#include "mu/arch/return.h"
#include "tests/support/suite.h"

#if defined(__x86_64__)

#define TAIL(code, skip)                     \
	{                                    \
		code, sizeof(code) - 1, skip \
	}
#define NO_TAIL -1

/* Behind a system call instruction; the first ones are of real vDSOs. */
static const struct {
	const char *code;
	size_t size;
	int skip; /* or NO_TAIL */
} tails[] = {
	TAIL("\xc3\xcc\x90\x90", 0), /* Linux 6.1 */
	TAIL("\x5b\x41\x5c\x41\x5d\x5d\xc3\xcc\x90\x90", 32),
	TAIL("\x31\xd2\x31\xc9\x31\xf6\x31\xff\x45\x31\xdb\xc3\x90\x90\x90", 0),
	TAIL("\x48\x83\xc4\x30\x5b\x41\x5c\x31\xd2\xc3\x90\x90\x90", 64),
	TAIL("\xc9\x31\xd2\xc3\x90\x90\x90", NO_TAIL), /* Linux 6.18: leave */
	TAIL("\x48\x8d\x65\xf0\x5b\x41\x5e\x5d\xc3\x90\x90", NO_TAIL),
	TAIL("\xeb\xa7\x90\x90\x90", NO_TAIL), /* Linux 6.1: jmp */
	TAIL("\x48\x83\xf8\x20\xc3\x90\x90\x90", NO_TAIL),
	TAIL("\x5c\xc3\x90\x90\x90", NO_TAIL),     /* pop %rsp */
	TAIL("\x31\xe4\xc3\x90\x90", NO_TAIL),     /* xor %esp, %esp */
	TAIL("\x31\xd1\xc3\x90\x90", NO_TAIL),     /* xor %edx, %ecx: ours */
	TAIL("\x48\x83\xc4\xf8\xc3\x90", NO_TAIL), /* add $-8, %rsp */
	TAIL("\x90\x90\x90\x90\x90", NO_TAIL),     /* its end is not seen */
	TAIL("", NO_TAIL),
};

TEST_LOOP(code_behind_a_call, 0, (int)(sizeof(tails) / sizeof(tails[0])))
{
	unsigned skip = 0;
	bool found = mu_arch_return_tail(
	    (const unsigned char *)tails[_i].code, tails[_i].size, &skip);

	ck_assert_int_eq(found, tails[_i].skip >= 0);
	if (found)
		ck_assert_uint_eq(skip, (unsigned)tails[_i].skip);
}

TEST(code_of_rt_sigreturn)
{
	static const char code[] = "\x90\x48\xc7\xc0\x0f\0\0\0\x0f\x05"
				   "\xb8\x0f\0\0\0\x0f\x05"
				   "\xbb\x0f\0\0\0\x0f\x05";

	ck_assert_mem_eq(code + 4, MU_RETURN_END, MU_RETURN_END_SIZE);
	ck_assert_uint_eq(mu_return_code_at(code + 4, code, 0x1000), 0x1001);
	ck_assert_uint_eq(mu_return_code_at(code + 11, code, 0x1000), 0x100a);
	ck_assert_uint_eq(mu_return_code_at(code + 18, code, 0x1000), 0);
	ck_assert_uint_eq(mu_return_code_at(code, code, 0x1000), 0);
}

static const struct {
	long call, result, known; /* the number before the instruction, or -1 */
	long rax;
	int back; /* bytes */
} restarts[] = {
	{ -1, 7, -1, 7, 0 },                 /* in its own code */
	{ -1, -512, -1, -512, 0 },           /* there, too */
	{ SYS_read, 5, -1, 5, 0 },           /* done */
	{ SYS_read, -EINTR, -1, -EINTR, 0 }, /* the kernel has decided */
	{ SYS_read, -512, -1, SYS_read, 2 }, /* ERESTARTSYS */
	{ SYS_accept, -513, -1, SYS_accept, 2 },
	{ SYS_pause, -514, -1, SYS_pause, 2 },
	{ SYS_ioctl, -515, -1, -515, 0 }, /* ENOIOCTLCMD */
	{ SYS_poll, -516, -1, SYS_poll, 2 },
	{ SYS_restart_syscall, -516, SYS_poll, SYS_poll, 2 },
	{ SYS_restart_syscall, -516, -1, -EINTR, 0 },
};

TEST_LOOP(how_a_call_goes_on, 0, (int)(sizeof(restarts) / sizeof(restarts[0])))
{
	uintptr_t general[MU_PRSTATUS_WORDS] = { 0 };

	general[MU_REG_ORIG_RAX] = (uintptr_t)restarts[_i].call;
	general[MU_REG_RAX] = (uintptr_t)restarts[_i].result;
	general[MU_REG_RIP] = 0x1000;
	mu_arch_return_restart(general, restarts[_i].known);
	ck_assert_int_eq((long)general[MU_REG_RAX], restarts[_i].rax);
	ck_assert_uint_eq(
	    general[MU_REG_RIP], 0x1000 - (unsigned)restarts[_i].back);
}

TEST(number_before_a_call)
{
	static const struct {
		unsigned char code[MU_RETURN_BEFORE];
		long number;
	} codes[] = {
		{ { 0xb8, 0x07, 0, 0, 0, 0x0f, 0x05 }, SYS_poll },
		{ { 0xb8, 0xe6, 0, 0, 0, 0x0f, 0x05 }, SYS_clock_nanosleep },
		{ { 0xb8, 0x3b, 0, 0, 0, 0x0f, 0x05 }, -1 }, /* execve */
		{ { 0xbb, 0x07, 0, 0, 0, 0x0f, 0x05 }, -1 },
		{ { 0 }, -1 },
	};
	size_t i;

	for (i = 0; i < sizeof(codes) / sizeof(codes[0]); i++)
		ck_assert_int_eq(
		    mu_arch_return_number(codes[i].code), codes[i].number);
}

/* What a thread without AVX has is no XSAVE area, and is not said to be. */
TEST(vector_registers)
{
	static _Alignas(64) char set[4096];
	uint64_t features = 7;
	uint32_t word;

	memcpy(set + MU_FRAME_XSAVE_AT, &features, sizeof(features));
	mu_arch_return_vector(set, 832);
	memcpy(&word, set + MU_FRAME_XSAVE_AT, sizeof(word));
	ck_assert_uint_eq(word, MU_FRAME_XSAVE_MAGIC);
	memcpy(&word, set + MU_FRAME_XSAVE_AT + 16, sizeof(word));
	ck_assert_uint_eq(word, 832);
	memcpy(&features, set + MU_FRAME_XSAVE_AT + 8, sizeof(features));
	ck_assert_uint_eq(features, 7);
	memcpy(&word, set + 832, sizeof(word));
	ck_assert_uint_eq(word, 0x46505845);
	mu_arch_return_vector(set, 512);
	memcpy(&word, set + MU_FRAME_XSAVE_AT, sizeof(word));
	ck_assert_uint_eq(word, 0);
}

#endif

/* Every word of a register set has a name. */
static const char *
name_of(unsigned place)
{
	static char name[64];
	struct mu_text text = { name, sizeof(name), 0 };

	mu_register_name(&text, place);
	/* It has to fit into struct MemunreachableReference. */
	ck_assert_uint_lt(
	    text.length, sizeof(((struct MemunreachableReference *)0)->name));
	return name;
}

TEST(register_names)
{
	unsigned place;

	for (place = 0; place <= 0xffff; place++)
		ck_assert_str_ne(name_of(place), "");
#if defined(__x86_64__)
	ck_assert_str_eq(name_of(0), "r15");
	ck_assert_str_eq(name_of(MU_PRSTATUS_SP), "rsp");
	ck_assert_str_eq(name_of(MU_PRSTATUS_TP), "fs_base");
	ck_assert_str_eq(name_of(MU_PRSTATUS_WORDS - 1), "gs");
	ck_assert_str_eq(name_of(MU_PRSTATUS_WORDS), "?");
	ck_assert_str_eq(name_of(MU_REGNO_SAVED), "rbx");
	ck_assert_str_eq(name_of(MU_REGNO_SAVED + 5), "r15");
	ck_assert_str_eq(name_of(MU_REGNO_VECTOR), "xsave+0x0");
	ck_assert_str_eq(name_of(MU_REGNO_VECTOR + 32 / 8), "st0 word 0");
	ck_assert_str_eq(name_of(MU_REGNO_VECTOR + 160 / 8), "xmm0 word 0");
	ck_assert_str_eq(name_of(MU_REGNO_VECTOR + 408 / 8), "xmm15 word 1");
#endif
	ck_assert_str_eq(name_of(MU_REGNO_END), "?");
}
