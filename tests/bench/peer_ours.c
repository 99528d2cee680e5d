/* libmemunreachable as a peer. */
#include <memunreachable/memunreachable.h>
#include <stdio.h>
#include <string.h>

#include "peer.h"

#define SHOWN 100
#define WHOLE 2000000

const char bench_peer_name[] = "ours";

void
bench_peer_begin(void)
{
}

static uint64_t
mix(uint64_t digest, uint64_t word)
{
	digest = (digest ^ word) * 0x9e3779b97f4a7c15ull;
	return digest ^ digest >> 29;
}

static uint64_t
digest_of(const struct UnreachableMemoryInfo *info, uint64_t low)
{
	uint64_t digest = mix(info->num_leaks, info->leak_bytes);
	size_t i;

	for (i = 0; i < info->num_reported; i++) {
		const struct Leak *leak = &info->leaks[i];

		digest = mix(digest, leak->begin - low);
		digest = mix(digest, leak->size);
		digest = mix(digest, leak->referenced_count);
		digest = mix(digest, leak->referenced_size);
		digest = mix(digest, leak->similar_count);
		digest = mix(digest, leak->total_size);
	}
	return digest;
}

void
bench_peer_check(struct bench_answer *answer, bool whole, uint64_t low)
{
	struct UnreachableMemoryInfo info;

	memset(&info, 0, sizeof(info));
	memset(answer, 0, sizeof(*answer));
	GetUnreachableMemory(&info, whole ? WHOLE : SHOWN);
	answer->lost = info.num_leaks;
	answer->lost_bytes = info.leak_bytes;
	answer->pause_ns = info.pause_ns;
	answer->total_ns = info.total_ns;
	answer->threads = info.num_threads;
	answer->status = info.status;
	if (whole)
		answer->digest = digest_of(&info, low);
	snprintf(answer->reason, sizeof(answer->reason), "%s", info.reason);
	FreeUnreachableMemoryInfo(&info);
}
