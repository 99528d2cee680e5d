/* LeakSanitizer as a peer: compiled by clang or gcc with -fsanitize=leak. */
#include <sanitizer/lsan_interface.h>
#include <string.h>

#include "peer.h"

const char bench_peer_name[] = "lsan";

/* The report goes to stderr; looking up symbols would take most of the time. */
const char *
__lsan_default_options(void)
{
	return "symbolize=0:detect_leaks=1:leak_check_at_exit=0";
}

void
bench_peer_begin(void)
{
}

void
bench_peer_check(struct bench_answer *answer, bool whole, uint64_t low)
{
	(void)whole;
	(void)low;
	memset(answer, 0, sizeof(*answer));
	answer->lost = (size_t)__lsan_do_recoverable_leak_check();
}
