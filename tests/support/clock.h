/* Reading the clock, and waiting. */
#ifndef TESTS_SUPPORT_CLOCK_H
#define TESTS_SUPPORT_CLOCK_H

#include <stdint.h>
#include <time.h>

/* Time of CLOCK_MONOTONIC. */
uint64_t now_ns(void);

/* All of it, whatever signals arrive. */
void nap_us(long us);

void nap_ms(long ms);

#endif
