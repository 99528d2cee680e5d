/* Demangling of symbol names. */
#include "lib/symbolize/demangled.h"
#include "tests/support/suite.h"

static void
must_be(const char *name, const char *expected)
{
	char *written = mu_demangled(name);

	if (expected == NULL)
		ck_assert_msg(written == NULL, "%s is %s", name, written);
	else
		ck_assert_str_eq(
		    written == NULL ? "nothing" : written, expected);
	free(written);
}

TEST(cxx)
{
	must_be("_ZN5named7computeEPKci", "named::compute(char const*, int)");
	must_be("_ZTVN5named5ShapeE", "vtable for named::Shape");
	must_be("_ZTIi", "typeinfo for int");
	must_be("_ZZ4mainE1x", "main::x");
	must_be("_Z3foov.cold", "foo() [clone .cold]");
	must_be("_ZNSt6vectorIiSaIiEE9push_backEOi",
	    "std::vector<int, std::allocator<int> >::push_back(int&&)");
}

TEST(rust)
{
	must_be("_ZN4core3fmt9Formatter3pad17h0123456789abcdefE",
	    "core::fmt::Formatter::pad");
	must_be("_ZN71_$LT$Test$u20$$u2b$$u20$$u27$static$u20$as$u20$foo.."
		"Bar$LT$Test$GT$$GT$3bar17h930b740aa94f1d3aE",
	    "<Test + 'static as foo::Bar<Test>>::bar");
	must_be("_RNvCs1234_7mycrate3foo", "mycrate::foo");
	must_be("_RNvMsr_NtCs3ssYzQotkvD_3std4pathNtB5_7PathBuf3new",
	    "<std::path::PathBuf>::new");
}

TEST(neither)
{
	must_be("", NULL);
	must_be("main", NULL);
	must_be("_", NULL);
	must_be("_start", NULL);
	must_be("_Z", NULL);
	must_be("_R", NULL);
	must_be("_ZN", NULL);
	must_be("_ZN5named7comput", NULL);
	must_be("_ZN99999999999999999999xE", NULL);
}

/* Each pair has two of the last: 2^200 letters, if they were all written. */
TEST(endless)
{
	char name[1024] = "_Z1fSt4pairIiiE";
	size_t length = strlen(name);
	int i;

	for (i = 0; i < 100; i++)
		length += (size_t)snprintf(name + length, sizeof(name) - length,
		    i == 0 ? "S_IS0_S0_E" : "S_IS%c_S%c_E",
		    "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ"[i % 36],
		    "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ"[i % 36]);
	must_be(name, NULL);
	memset(name + 2, 'P', sizeof(name) - 3);
	must_be(name, NULL);
}
