/*
 * include/memunreachable/memunreachable_cxx.h: Android's API as C++ sees it.
 *
 * A plain program: libcheck is C. Exit status 77: the passes were refused
 * here, and everything that needs none was seen to hold.
 */
#include <memunreachable/memunreachable.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <new>
#include <sched.h>
#include <string>
#include <type_traits>

#include "tests/support/hide.h"

// The names are unambiguous although C knows structures of the same name.
using namespace android;

#define CHECK(condition)                                              \
	((condition) ? (void)0                                        \
		     : (std::fprintf(stderr, "%s:%d: %s\n", __FILE__, \
			    __LINE__, #condition),                    \
			   std::abort()))

static void
layout()
{
	static_assert(std::is_trivially_copyable<Leak>::value, "");
	static_assert(
	    std::is_same<decltype(Leak::begin), uintptr_t>::value, "");
	static_assert(Leak::contents_length == 32, "");
	static_assert(Leak::Backtrace::max_frames == 16, "");
	static_assert(std::is_same<decltype(&Leak::ToString),
			  std::string (Leak::*)(bool) const>::value,
	    "");
	static_assert(
	    std::is_same<decltype(&UnreachableMemoryInfo::ToString),
		std::string (UnreachableMemoryInfo::*)(bool) const>::value,
	    "");
#if UINTPTR_MAX > 0xffffffffu
	CHECK(sizeof(Leak) == 368);
	CHECK(offsetof(Leak, begin) == 0);
	CHECK(offsetof(Leak, size) == 8);
	CHECK(offsetof(Leak, referenced_count) == 16);
	CHECK(offsetof(Leak, referenced_size) == 24);
	CHECK(offsetof(Leak, similar_count) == 32);
	CHECK(offsetof(Leak, similar_size) == 40);
	CHECK(offsetof(Leak, similar_referenced_count) == 48);
	CHECK(offsetof(Leak, similar_referenced_size) == 56);
	CHECK(offsetof(Leak, total_size) == 64);
	CHECK(offsetof(Leak, contents) == 72);
	CHECK(offsetof(Leak, backtrace) == 104);
	CHECK(offsetof(Leak, backtrace.frames) == 112);
	CHECK(offsetof(Leak, backtrace.reserved) == 264);
	CHECK(offsetof(Leak, reserved) == 304);
	using memunreachable_abi::info;
	CHECK(sizeof(info) == 400);
	CHECK(offsetof(info, num_threads) == 336);
	CHECK(offsetof(info, stop) == 344);
	CHECK(offsetof(info, tries) == 348);
	CHECK(offsetof(info, reserved) == 392);
#endif
}

static void
starts_as_zero()
{
	// On memory that is not zero.
	alignas(
	    UnreachableMemoryInfo) char place[sizeof(UnreachableMemoryInfo)];
	std::memset(place, 0x5a, sizeof(place));
	UnreachableMemoryInfo *info = new (place) UnreachableMemoryInfo;

	CHECK(info->leaks.empty());
	CHECK(info->num_leaks == 0 && info->leak_bytes == 0);
	CHECK(info->num_allocations == 0 && info->allocation_bytes == 0);
	CHECK(info->version == 0 && info->status == 0);
	CHECK(info->reason[0] == '\0' && info->reason[255] == '\0');
	CHECK(info->pause_ns == 0 && info->total_ns == 0);
	CHECK(info->num_threads == 0 && info->tries == 0);
	CHECK(info->stop == MEMUNREACHABLE_STOP_NONE);
	for (size_t word : info->reserved)
		CHECK(word == 0);
	info->~UnreachableMemoryInfo();

	Leak leak;
	CHECK(leak.begin == 0 && leak.total_size == 0);
	CHECK(leak.backtrace.num_frames == 0 && leak.reserved[7] == 0);
}

static Leak
make_leak()
{
	Leak leak;

	leak.begin = 0x7f0012345670;
	leak.size = leak.total_size = 5;
	std::memcpy(leak.contents, "\xff\x80nix", 5);
	return leak;
}

static void
words()
{
	const std::string block = "  5 bytes unreachable at 7f0012345670\n";
	const std::string contents = "   contents:\n"
				     "   7f0012345670: ff 80 6e 69 78 "
				     "                                 ..nix\n";
	Leak leak = make_leak();

	CHECK(leak.ToString(false) == block);
	CHECK(leak.ToString(true) == block + contents);

	UnreachableMemoryInfo info;
	info.leaks.push_back(leak);
	info.num_leaks = 3;
	info.leak_bytes = 15;
	std::string text = info.ToString(false);
	CHECK(text.find("  15 bytes in 3 unreachable allocations\n  ABI: '") ==
	    0);
	CHECK(text.find("'\n\n" + block + "\n") != std::string::npos);
	CHECK(text.size() == std::strlen(text.c_str()));
	CHECK(info.ToString(true).find(block + contents + "\n") !=
	    std::string::npos);
	info.num_entries = 2;
	info.unreported_leaks = 2;
	info.unreported_bytes = 10;
	CHECK(info.ToString(false).find("  ... and 1 more entry, 10 bytes in 2"
					" allocations\n") != std::string::npos);
}

static void
copies()
{
	UnreachableMemoryInfo from, to;

	from.leaks.assign(2, make_leak());
	from.num_leaks = 7;
	from.num_threads = 3;
	from.stop = MEMUNREACHABLE_STOP_SIGNAL;
	from.tries = 2;
	to.leaks.assign(5, make_leak());
	to = from;
	CHECK(to.num_leaks == 7 && to.leaks.size() == 2);
	CHECK(to.num_threads == 3 && to.tries == 2);
	CHECK(to.stop == MEMUNREACHABLE_STOP_SIGNAL);
	CHECK(to.leaks[1].begin == from.leaks[1].begin);
	to = std::move(from);
	CHECK(to.leaks.size() == 2);

	UnreachableMemoryInfo copy(to);
	CHECK(copy.leaks.size() == 2 && to.leaks.size() == 2);

	std::vector<Leak> own = copy.leaks;
	own.reserve(1000);
	own.insert(own.begin(), 500, make_leak());
	own.shrink_to_fit();
	own.swap(copy.leaks);
	CHECK(copy.leaks.size() == 502 && own.size() == 2);
	static_assert(std::is_same<decltype(UnreachableMemoryInfo::leaks),
			  std::vector<Leak>>::value,
	    "as Android's");
}

static void
case_version()
{
	UnreachableMemoryInfo info;

	info.version = 1;
	CHECK(!GetUnreachableMemory(info));
	CHECK(info.leaks.empty());
	CHECK(info.version == 1);
	CHECK(info.status == MEMUNREACHABLE_BAD_ARGUMENT);
	CHECK(info.reason[0] != '\0');
}

static __attribute__((noinline)) uintptr_t
hidden_block(size_t size)
{
	void *p = std::malloc(size);

	CHECK(p != nullptr);
	std::memset(p, 'x', size);
	return mu_hide(p);
}

static const Leak *
find(const UnreachableMemoryInfo &info, uintptr_t hidden)
{
	for (const Leak &leak : info.leaks) {
		if (~leak.begin == hidden)
			return &leak;
	}
	return nullptr;
}

// Whatever is done with a vector of entries: it hides none of them.
static __attribute__((noinline)) void
hides_nothing(const UnreachableMemoryInfo &info, uintptr_t hidden)
{
	UnreachableMemoryInfo copy(info), moved, later;
	std::vector<Leak> leaks = info.leaks;
	auto *on_heap = new UnreachableMemoryInfo;

	moved = std::move(copy);
	*on_heap = moved;
	for (int i = 0; i < 100; i++)
		leaks.push_back(leaks[0]);
	leaks.erase(leaks.begin(), leaks.begin() + 50);
	scrub_stack();
	CHECK(!NoLeaks());
	CHECK(GetUnreachableMemory(later));
	CHECK(later.num_leaks == info.num_leaks);
	CHECK(find(later, hidden) != nullptr);
	delete on_heap;
}

// False if passes are refused on this machine.
static bool
passes()
{
	uintptr_t hidden = hidden_block(1000);
	UnreachableMemoryInfo info;

	scrub_stack();
	if (!GetUnreachableMemory(info)) {
		std::fprintf(stderr, "test_cxx: SKIPPED: %s: %s\n",
		    memunreachable_status_name(info.status), info.reason);
		std::free(mu_reveal(hidden));
		return false;
	}
	CHECK(info.num_leaks >= 1 && info.leak_bytes >= 1000);
	CHECK(info.num_allocations >= info.num_leaks);
	// With stopping by signal only other threads are stopped.
	CHECK(info.pause_ns > 0 || info.stop == MEMUNREACHABLE_STOP_SIGNAL);
	CHECK(info.total_ns >= info.pause_ns);
	CHECK(info.num_threads == 1 && info.tries >= 1);
	CHECK(info.stop == MEMUNREACHABLE_STOP_PTRACE ||
	    info.stop == MEMUNREACHABLE_STOP_SIGNAL);
	const Leak *leak = find(info, hidden);
	CHECK(leak != nullptr);
	CHECK(leak->size >= 1000 && leak->size < 1024);
	CHECK(std::memcmp(leak->contents, "xxxxxxxx", 8) == 0);
	leak = nullptr;
	scrub_stack();

	hides_nothing(info, hidden);

	// The answer itself is no reference for the next pass into it.
	size_t num_leaks = info.num_leaks;
	CHECK(GetUnreachableMemory(info));
	CHECK(info.num_leaks == num_leaks && find(info, hidden) != nullptr);

	CHECK(GetUnreachableMemory(info, 0));
	CHECK(info.leaks.empty() && info.num_leaks == num_leaks);
	CHECK(info.unreported_leaks == num_leaks);

	int looks = 0;
	CHECK(memunreachable_watch_start(
	    1,
	    [](void *ctx, const MemunreachableLook *look) {
		    CHECK(look->reason != nullptr);
		    __atomic_add_fetch(
			static_cast<int *>(ctx), 1, __ATOMIC_SEQ_CST);
	    },
	    &looks));
	while (__atomic_load_n(&looks, __ATOMIC_SEQ_CST) < 2)
		sched_yield();
	CHECK(memunreachable_watch_stop());
	CHECK(
	    memunreachable_watch_verdict() != MEMUNREACHABLE_VERDICT_UNCHECKED);

	memunreachable::Checkpoint checkpoint;
	CHECK(checkpoint && checkpoint.NoNewLeaks());
	uintptr_t newer = mu_hide(std::memset(std::malloc(600), 1, 600));
	CHECK(checkpoint.GetNewUnreachableMemory(info));
	CHECK(info.num_leaks == 1 && find(info, newer) != nullptr);
	CHECK(!checkpoint.NoNewLeaks());
	std::free(mu_reveal(newer));
	memunreachable::Checkpoint moved(std::move(checkpoint));
	CHECK(moved && !checkpoint && moved.NoNewLeaks());

	std::string text = GetUnreachableMemoryString(true, 10);
	CHECK(text.find(" unreachable allocation") != std::string::npos);
	CHECK(text.find(" bytes unreachable at ") != std::string::npos);
	CHECK(!NoLeaks());
	std::free(mu_reveal(hidden));
	return true;
}

static void *kept;

static bool
take_words(void *ctx, const MemunreachableReference *reference)
{
	if (reference->kind == MEMUNREACHABLE_REFERENCE_GLOBAL)
		*static_cast<std::string *>(ctx) = ToString(*reference);
	return true;
}

// Who points at a block, also without a pass.
static void
why_reachable()
{
	MemunreachableReference reference = MemunreachableReference();
	std::string words;

	reference.kind = MEMUNREACHABLE_REFERENCE_GLOBAL;
	reference.address = 0x1000;
	reference.offset = 0x20;
	reference.path = "/a";
	CHECK(ToString(reference) == "1000: /a+0x20");

	kept = std::malloc(100);
	ptrdiff_t count =
	    memunreachable_why_reachable(kept, take_words, &words);
	CHECK(count > 0 ? words.find("test_cxx+0x") != std::string::npos
			: count != 0);
	std::free(kept);
}

int
main()
{
	layout();
	starts_as_zero();
	words();
	why_reachable();
	copies();
	case_version();
	return passes() ? EXIT_SUCCESS : 77;
}
