/*
 * Android's libmemunreachable API for C++11 and later, inline over the C ABI,
 * with and without exceptions. Included by memunreachable.h; do not include it
 * directly.
 *
 * The C structures are deliberately not declared in C++: ::Leak beside
 * android::Leak would make `using namespace android;` ambiguous. Structures of
 * the same layout in android::memunreachable_abi replace them, and the C
 * functions that take them are declared under other names for the same symbols.
 */
#ifndef MEMUNREACHABLE_MEMUNREACHABLE_CXX_H
#define MEMUNREACHABLE_MEMUNREACHABLE_CXX_H

#ifndef MEMUNREACHABLE_MEMUNREACHABLE_H
#error "include <memunreachable/memunreachable.h>"
#endif

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <new>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

struct MemunreachableCheckpoint;
struct MemunreachableReference;

namespace android
{

/* One entry: a leaked block, what leaked with it, and similar entries. */
struct Leak {
	uintptr_t begin = 0; // first byte, as malloc returned it
	size_t size = 0;     // usable bytes: at least what was requested

	// Unreachable blocks that this one leads to.
	size_t referenced_count = 0;
	size_t referenced_size = 0;

	// Further entries with the same backtrace, merged into this one.
	size_t similar_count = 0;
	size_t similar_size = 0;
	size_t similar_referenced_count = 0;
	size_t similar_referenced_size = 0;

	size_t total_size = 0; // sum of the four sizes; the sort key

	// The first min(size, 32) bytes, then zeros.
	static constexpr size_t contents_length = 32;
	char contents[contents_length] = {};

	struct Backtrace {
		size_t num_frames = 0; // 0 if no stack was recorded

		static constexpr size_t max_frames = 16;
		uintptr_t frames[max_frames] = {};

		size_t num_more = 0;             // recorded frames that follow
		const uintptr_t *more = nullptr; // in the C report only
		size_t cut = 0;                  // 1: no more were recorded

		size_t reserved[5] = {};
	} backtrace;

	size_t reserved[8] = {};

	// This entry as the report shows it.
	std::string ToString(bool log_contents) const;
};

} // namespace android

/*
 * Every std::vector<android::Leak>, also a copy of a report's, keeps its
 * entries in memory that passes do not search: otherwise the addresses in it
 * would hide the leaks from the next pass. [namespace.std] lets a program
 * specialise a standard template for its own class.
 */
template <> class std::allocator<android::Leak>
{
    public:
	using value_type = android::Leak;
	using pointer = value_type *;
	using const_pointer = const value_type *;
	using reference = value_type &;
	using const_reference = const value_type &;
	using size_type = std::size_t;
	using difference_type = std::ptrdiff_t;
	using propagate_on_container_move_assignment = std::true_type;
	using is_always_equal = std::true_type;
	template <typename Other> struct rebind {
		using other = std::allocator<Other>;
	};

	allocator() noexcept = default;
	template <typename Other>
	allocator(const std::allocator<Other> &) noexcept
	{
	}

	value_type *allocate(size_type count);
	void deallocate(value_type *place, size_type count) noexcept;

	size_type max_size() const noexcept
	{
		return static_cast<size_type>(PTRDIFF_MAX) / sizeof(value_type);
	}
	template <typename Object, typename... Args>
	void construct(Object *place, Args &&...args)
	{
		::new (static_cast<void *>(place))
		    Object(std::forward<Args>(args)...);
	}
	template <typename Object> void destroy(Object *object)
	{
		object->~Object();
	}
};

namespace android
{

/* The result of one pass. */
struct UnreachableMemoryInfo {
	std::vector<Leak> leaks; // at most limit, by total_size, then address
	size_t num_leaks = 0;    // ALL unreachable blocks, whatever the limit
	size_t leak_bytes = 0;
	size_t num_allocations = 0; // all live blocks
	size_t allocation_bytes = 0;

	size_t version = 0; // set by the caller: must be 0
	size_t reserved[8] = {};

	// Not in Android's structure:
	int status = 0;              // enum MemunreachableStatus
	char reason[256] = {};       // as in C
	uint64_t pause_ns = 0;       // the longest stop
	uint64_t total_ns = 0;       // from call to return
	size_t num_threads = 0;      // stopped threads and the calling one
	int stop = 0;                // enum MemunreachableStop
	unsigned tries = 0;          // how often the threads were stopped
	size_t num_entries = 0;      // whatever the limit; 0 for a limit of 0
	size_t unreported_leaks = 0; // blocks that no entry covers, each once
	size_t unreported_bytes = 0;
	size_t unrecorded_min = 0; // as in C
	size_t unrecorded_max = 0;

	// The whole report.
	std::string ToString(bool log_contents) const;
};

/* The layout of the C structures, and the C functions that take them. */
namespace memunreachable_abi
{

struct info {
	const Leak *leaks;
	size_t num_reported;
	size_t num_leaks;
	size_t leak_bytes;
	size_t num_allocations;
	size_t allocation_bytes;
	size_t version;
	int status;
	char reason[256];
	uint64_t pause_ns;
	uint64_t total_ns;
	size_t num_threads;
	int stop;
	unsigned tries;
	size_t num_entries;
	size_t unreported_leaks;
	size_t unreported_bytes;
	size_t unrecorded_min;
	size_t unrecorded_max;
	size_t reserved[1];
};

static_assert(std::is_trivially_copyable<Leak>::value &&
	std::is_standard_layout<Leak>::value,
    "an entry is copied as bytes");
#if UINTPTR_MAX > 0xffffffffu
static_assert(sizeof(Leak::Backtrace) == 200, "as struct LeakBacktrace");
static_assert(sizeof(Leak) == 368, "as struct Leak, and as Android's");
static_assert(offsetof(Leak, contents) == 72, "as struct Leak");
static_assert(offsetof(Leak, backtrace) == 104, "as struct Leak");
static_assert(offsetof(Leak, reserved) == 304, "as struct Leak");
static_assert(sizeof(info) == 400, "as struct UnreachableMemoryInfo");
static_assert(offsetof(info, status) == 56, "as in C");
static_assert(offsetof(info, pause_ns) == 320, "as in C");
static_assert(offsetof(info, num_threads) == 336, "as in C");
static_assert(offsetof(info, stop) == 344, "as in C");
static_assert(offsetof(info, tries) == 348, "as in C");
static_assert(offsetof(info, reserved) == 392, "as in C");
#endif

extern "C" {
bool memunreachable_abi_get(info *, size_t) __asm__("GetUnreachableMemory");
bool memunreachable_abi_get_new(info *, const MemunreachableCheckpoint *,
    size_t) __asm__("GetNewUnreachableMemory");
MemunreachableCheckpoint *memunreachable_abi_checkpoint() __asm__(
    "memunreachable_checkpoint");
void memunreachable_abi_checkpoint_free(MemunreachableCheckpoint *) __asm__(
    "memunreachable_checkpoint_free");
bool memunreachable_abi_no_new_leaks(const MemunreachableCheckpoint *) __asm__(
    "NoNewLeaks");
void memunreachable_abi_free(info *) __asm__("FreeUnreachableMemoryInfo");
char *memunreachable_abi_string(bool, size_t) __asm__(
    "GetUnreachableMemoryString");
size_t memunreachable_abi_format_leak(
    const Leak *, bool, char *, size_t) __asm__("memunreachable_format_leak");
size_t memunreachable_abi_format_info(
    const info *, bool, char *, size_t) __asm__("memunreachable_format_info");
size_t memunreachable_abi_format_reference(const MemunreachableReference *,
    char *, size_t) __asm__("memunreachable_format_reference");
void *memunreachable_abi_alloc(size_t) __asm__(
    "memunreachable_unsearched_alloc");
bool memunreachable_abi_dealloc(void *) __asm__(
    "memunreachable_unsearched_free");
bool memunreachable_abi_disable() __asm__("memunreachable_disable");
bool memunreachable_abi_enable() __asm__("memunreachable_enable");
}

/* Releases the C result on every return, also when the vector throws. */
struct answer {
	info c;

	explicit answer(size_t version)
	    : c()
	{
		c.version = version;
	}
	answer(const answer &) = delete;
	answer &operator=(const answer &) = delete;
	~answer()
	{
		memunreachable_abi_free(&c);
	}
};

template <typename Format>
inline std::string
text(Format format)
{
	std::string result(format(nullptr, 0) + 1, '\0');
	result.resize(format(&result[0], result.size()));
	return result;
}

} // namespace memunreachable_abi

inline std::string
Leak::ToString(bool log_contents) const
{
	return memunreachable_abi::text([&](char *buffer, size_t length) {
		return memunreachable_abi::memunreachable_abi_format_leak(
		    this, log_contents, buffer, length);
	});
}

inline std::string
UnreachableMemoryInfo::ToString(bool log_contents) const
{
	memunreachable_abi::info c = memunreachable_abi::info();
	c.leaks = leaks.data();
	c.num_reported = leaks.size();
	c.num_leaks = num_leaks;
	c.leak_bytes = leak_bytes;
	c.num_allocations = num_allocations;
	c.allocation_bytes = allocation_bytes;
	c.version = version;
	c.status = status;
	std::memcpy(c.reason, reason, sizeof(c.reason));
	c.pause_ns = pause_ns;
	c.total_ns = total_ns;
	c.num_threads = num_threads;
	c.stop = stop;
	c.tries = tries;
	c.num_entries = num_entries;
	c.unreported_leaks = unreported_leaks;
	c.unreported_bytes = unreported_bytes;
	c.unrecorded_min = unrecorded_min;
	c.unrecorded_max = unrecorded_max;
	return memunreachable_abi::text([&](char *buffer, size_t length) {
		return memunreachable_abi::memunreachable_abi_format_info(
		    &c, log_contents, buffer, length);
	});
}

/* Format one reference as one line of text. */
inline std::string
ToString(const MemunreachableReference &reference)
{
	return memunreachable_abi::text([&](char *buffer, size_t length) {
		return memunreachable_abi::memunreachable_abi_format_reference(
		    &reference, buffer, length);
	});
}

namespace memunreachable_abi
{

inline bool
take(UnreachableMemoryInfo &info, const answer &answer, bool ok)
{
	if (ok && answer.c.num_reported > 0)
		info.leaks.assign(
		    answer.c.leaks, answer.c.leaks + answer.c.num_reported);
	/* These frames are freed with the C report. */
	for (Leak &leak : info.leaks)
		leak.backtrace.more = nullptr;
	info.num_leaks = answer.c.num_leaks;
	info.leak_bytes = answer.c.leak_bytes;
	info.num_allocations = answer.c.num_allocations;
	info.allocation_bytes = answer.c.allocation_bytes;
	info.status = answer.c.status;
	std::memcpy(info.reason, answer.c.reason, sizeof(info.reason));
	info.pause_ns = answer.c.pause_ns;
	info.total_ns = answer.c.total_ns;
	info.num_threads = answer.c.num_threads;
	info.stop = answer.c.stop;
	info.tries = answer.c.tries;
	info.num_entries = answer.c.num_entries;
	info.unreported_leaks = answer.c.unreported_leaks;
	info.unreported_bytes = answer.c.unreported_bytes;
	info.unrecorded_min = answer.c.unrecorded_min;
	info.unrecorded_max = answer.c.unrecorded_max;
	return ok;
}

} // namespace memunreachable_abi

/*
 * Run a pass. Returns true if the heap was checked: info.status is
 * MEMUNREACHABLE_COMPLETE or MEMUNREACHABLE_PARTIAL. Otherwise false:
 * info.status and info.reason say why, leaks is empty and the totals are zero.
 */
inline bool
GetUnreachableMemory(UnreachableMemoryInfo &info, size_t limit = 100)
{
	info.leaks.clear();
	memunreachable_abi::answer answer(info.version);
	return memunreachable_abi::take(info, answer,
	    memunreachable_abi::memunreachable_abi_get(&answer.c, limit));
}

/* Run a pass and return its report as text, or why there is none. */
inline std::string
GetUnreachableMemoryString(bool log_contents = false, size_t limit = 100)
{
	struct freed {
		char *text;
		~freed()
		{
			std::free(text);
		}
	} c = { memunreachable_abi::memunreachable_abi_string(
	    log_contents, limit) };

	return c.text != nullptr
	    ? std::string(c.text)
	    : std::string("Failed to get unreachable memory\n"
			  "Not checked: out of memory\n");
}

} // namespace android

namespace memunreachable
{

/*
 * What is unreachable when it is made: a scope that answers only for its own
 * leaks. Without one that could be made (false), everything counts.
 */
class Checkpoint
{
    public:
	Checkpoint()
	    : checkpoint_(
		  android::memunreachable_abi::memunreachable_abi_checkpoint())
	{
	}
	Checkpoint(Checkpoint &&other) noexcept
	    : checkpoint_(other.checkpoint_)
	{
		other.checkpoint_ = nullptr;
	}
	Checkpoint &operator=(Checkpoint &&other) noexcept
	{
		std::swap(checkpoint_, other.checkpoint_);
		return *this;
	}
	~Checkpoint()
	{
		android::memunreachable_abi::memunreachable_abi_checkpoint_free(
		    checkpoint_);
	}

	explicit operator bool() const noexcept
	{
		return checkpoint_ != nullptr;
	}

	/* As ::NoNewLeaks() and ::GetNewUnreachableMemory(). */
	bool NoNewLeaks() const
	{
		return android::memunreachable_abi::
		    memunreachable_abi_no_new_leaks(checkpoint_);
	}
	bool GetNewUnreachableMemory(
	    android::UnreachableMemoryInfo &info, size_t limit = 100) const
	{
		info.leaks.clear();
		android::memunreachable_abi::answer answer(info.version);
		return android::memunreachable_abi::take(info, answer,
		    android::memunreachable_abi::memunreachable_abi_get_new(
			&answer.c, checkpoint_, limit));
	}

    private:
	MemunreachableCheckpoint *checkpoint_;
};

/*
 * memunreachable_disable() for a scope. False if there is no recorder: then the
 * blocks are reported.
 */
class ScopedDisabler
{
    public:
	ScopedDisabler() noexcept
	    : disabled_(
		  android::memunreachable_abi::memunreachable_abi_disable())
	{
	}
	ScopedDisabler(const ScopedDisabler &) = delete;
	ScopedDisabler &operator=(const ScopedDisabler &) = delete;
	~ScopedDisabler()
	{
		if (disabled_)
			android::memunreachable_abi::
			    memunreachable_abi_enable();
	}

	explicit operator bool() const noexcept
	{
		return disabled_;
	}

    private:
	bool disabled_;
};

} // namespace memunreachable

inline android::Leak *
std::allocator<android::Leak>::allocate(size_type count)
{
	void *place = nullptr;

	if (count <= max_size())
		place = android::memunreachable_abi::memunreachable_abi_alloc(
		    count * sizeof(value_type));
	if (place == nullptr) {
#if defined(__cpp_exceptions) || defined(__EXCEPTIONS)
		throw std::bad_alloc();
#else
		std::abort();
#endif
	}
	return static_cast<android::Leak *>(place);
}

inline void
std::allocator<android::Leak>::deallocate(
    android::Leak *place, size_type) noexcept
{
	android::memunreachable_abi::memunreachable_abi_dealloc(place);
}

#endif
