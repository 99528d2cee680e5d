/*
 * A time of the calendar as text.
 *
 * Runs in: any. gmtime_r() takes the lock of tzset().
 */
#ifndef MU_UTC_H
#define MU_UTC_H

#include <stdint.h>

struct mu_utc {
	char text[32];
};

/* SECONDS since 1970 as "2026-11-28T17:21:24Z" (RFC 3339). */
struct mu_utc mu_utc(uint64_t seconds);

/* NS since 1970 as "2026-11-28T17:21:24.042Z". */
struct mu_utc mu_utc_ms(uint64_t ns);

#endif
