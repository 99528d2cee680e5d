/* Every word of a register set has a name. */

#include "memunreachable/memunreachable.h"
#include "mu/arch/register_names.h"
#include "mu/arch/registers.h"
#include "tests/support/suite.h"

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
