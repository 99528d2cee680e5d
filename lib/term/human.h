/*
 * Numbers in readable form.
 *
 * Pure.
 */
#ifndef LIB_TERM_HUMAN_H
#define LIB_TERM_HUMAN_H

#include <stdint.h>

struct mu_human {
	char text[32];
};

/* "1 byte", "512 bytes", "12.3 MiB"; humanize_number(3) would say "12 MiB". */
struct mu_human mu_human_bytes(uint64_t bytes);

/* "850 ns", "412 us", "3.2 ms", "1.52 s". */
struct mu_human mu_human_time(uint64_t ns);

/* PART of WHOLE: "0%", "less than 1%", "73%", "more than 99%", "100%". */
struct mu_human mu_human_percent(uint64_t part, uint64_t whole);

#endif
