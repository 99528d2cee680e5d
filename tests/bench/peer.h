/*
 * The interface of a leak finder to the victim. Each has one file,
 * peer_<name>.c, linked with the same victim.
 */
#ifndef TESTS_BENCH_PEER_H
#define TESTS_BENCH_PEER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Zero where the peer does not tell. */
struct bench_answer {
	size_t lost, lost_bytes;
	uint64_t pause_ns, total_ns; /* as the peer measures them itself */
	size_t threads;
	uint64_t digest; /* of the whole report, places relative to LOW */
	int status;      /* 0: good */
	char reason[256];
};

extern const char bench_peer_name[];

/* Called before the heap is built. */
void bench_peer_begin(void);

/* Run a check. WHOLE: with the whole report, for the digest. */
void bench_peer_check(struct bench_answer *answer, bool whole, uint64_t low);

#ifdef __cplusplus
}
#endif

#endif
