/*
 * gperftools' heap checker as a peer: HEAPCHECK=local, one checker that lives
 * as long as the program.
 */
#include <cstring>
#include <gperftools/heap-checker.h>

#include "peer.h"

const char bench_peer_name[] = "hlc";

static HeapLeakChecker *checker;

void
bench_peer_begin(void)
{
	checker = new HeapLeakChecker("bench");
}

void
bench_peer_check(struct bench_answer *answer, bool, uint64_t)
{
	memset(answer, 0, sizeof(*answer));
	if (!checker->NoLeaks())
		answer->lost = (size_t)checker->ObjectsLeaked();
}
