/* Times of the calendar are those of libc. */
#include "mu/utc.h"

#include <string.h>
#include <time.h>

#include "tests/support/suite.h"

static void
must_be_libcs(time_t seconds)
{
	struct mu_utc utc = mu_utc((uint64_t)seconds);
	char expected[64];
	struct tm tm;

	gmtime_r(&seconds, &tm);
	strftime(expected, sizeof(expected), "%Y-%m-%dT%H:%M:%SZ", &tm);
	ck_assert_str_eq(utc.text, expected);
}

/* Each day from 1970 to 2500, at another second. */
TEST(days)
{
	time_t day;

	for (day = 0; day < 193600; day++)
		must_be_libcs(day * 86400 + day * 7919 % 86400);
	must_be_libcs(86399);
	must_be_libcs(86400);
	must_be_libcs(951782400); /* 2000-02-29 */
}

TEST(milliseconds)
{
	ck_assert_str_eq(
	    mu_utc_ms(1732555555042999999ull).text, "2024-11-25T17:25:55.042Z");
	ck_assert_str_eq(mu_utc_ms(0).text, "1970-01-01T00:00:00.000Z");
}

/* No clock is so late; the text stays in its bounds. */
TEST(beyond)
{
	struct mu_utc utc = mu_utc(UINT64_MAX);

	ck_assert_int_eq(strncmp(utc.text, "9999-12-", 8), 0);
}
