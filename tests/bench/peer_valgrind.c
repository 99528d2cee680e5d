/* Valgrind's memcheck as a peer: the victim runs under it. */
#include <string.h>
#include <valgrind/memcheck.h>

#include "peer.h"

const char bench_peer_name[] = "valgrind";

void
bench_peer_begin(void)
{
}

void
bench_peer_check(struct bench_answer *answer, bool whole, uint64_t low)
{
	unsigned long lost = 0, dubious = 0, reachable = 0, suppressed = 0;

	(void)whole;
	(void)low;
	memset(answer, 0, sizeof(*answer));
	VALGRIND_DO_LEAK_CHECK;
	VALGRIND_COUNT_LEAK_BLOCKS(lost, dubious, reachable, suppressed);
	answer->lost = lost + dubious;
	(void)reachable;
	(void)suppressed;
}
