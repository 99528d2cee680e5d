/* What explains the heap leaves time for the answer, and for a look that is
 * written. */
#include "lib/explain/explain.h"
#include "mu/sys.h"
#include "tests/support/suite.h"

#define S MU_NS_PER_SEC

TEST(time_is_left)
{
	ck_assert_uint_eq(mu_explain_until(10 * S, 50 * S, false), 40 * S);
	ck_assert_uint_eq(mu_explain_until(10 * S, 50 * S, true), 30 * S);
	ck_assert_uint_eq(mu_explain_until(50 * S, 50 * S, true), 50 * S);
	ck_assert_uint_eq(mu_explain_until(60 * S, 50 * S, false), 60 * S);
}

SUITE();
