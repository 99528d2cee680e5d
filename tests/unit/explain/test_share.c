/* A part of an explanation leaves time for others. */
#include "lib/explain/share.h"
#include "mu/sys.h"
#include "tests/support/suite.h"

#define S MU_NS_PER_SEC

TEST(time_is_left)
{
	ck_assert_uint_eq(mu_share_until(10 * S, 50 * S, 3, 4), 40 * S);
	ck_assert_uint_eq(mu_share_until(10 * S, 50 * S, 1, 5), 18 * S);
	ck_assert_uint_eq(mu_share_until(10 * S, 50 * S, 1, 1), 50 * S);
	ck_assert_uint_eq(mu_share_until(50 * S, 50 * S, 3, 4), 50 * S);
	ck_assert_uint_eq(mu_share_until(60 * S, 50 * S, 3, 4), 60 * S);
}

SUITE();
