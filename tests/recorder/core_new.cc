/*
 * Every form of operator new and operator delete; with the argument
 * "recorded" each block's kind is asked for.
 */
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <new>

extern "C" {
#include <dlfcn.h>
#include <stdint.h>
}

static int failures, handled;
static bool ask;

static void
expect(bool good, const char *what)
{
	if (!good) {
		std::fprintf(stderr, "%s\n", what);
		failures++;
	}
}

/* The kind in the word of a block: see include/mu/recorded.h. */
static int
kind_of(const void *block)
{
	struct head {
		unsigned char magic[16];
		uint32_t version, size, flags, max_frames;
		uint64_t directory;
	};
	auto *all = static_cast<const head *>(
	    dlsym(RTLD_DEFAULT, "memunreachable_recorded"));
	auto at = reinterpret_cast<uintptr_t>(block);
	auto *directory = reinterpret_cast<const uint64_t *>(all->directory);
	auto *span = reinterpret_cast<const uint32_t *>(directory[at >> 25]);
	uint32_t word = span == nullptr ? 0 : span[at >> 4 & ((1u << 21) - 1)];

	return (word & 1) == 0 ? -1 : static_cast<int>(word >> 2 & 3);
}

static void *
checked(void *block, int kind, size_t alignment)
{
	expect(block != nullptr, "no block");
	expect(
	    reinterpret_cast<uintptr_t>(block) % alignment == 0, "not aligned");
	if (ask)
		expect(kind_of(block) == kind, "wrong kind");
	std::memset(block, 1, 100);
	return block;
}

static void
forms()
{
	const std::align_val_t wide { 256 };

	::operator delete(checked(::operator new(100), 1, 16));
	::operator delete[](checked(::operator new[](100), 2, 16));
	::operator delete (checked(::operator new(100), 1, 16), size_t { 100 });
	::operator delete[](
	    checked(::operator new[](100), 2, 16), size_t { 100 });
	::operator delete(
	    checked(::operator new(100, std::nothrow), 1, 16), std::nothrow);
	::operator delete[](
	    checked(::operator new[](100, std::nothrow), 2, 16), std::nothrow);
	::operator delete(checked(::operator new(100, wide), 1, 256), wide);
	::operator delete[](checked(::operator new[](100, wide), 2, 256), wide);
	::operator delete (
	    checked(::operator new(100, wide), 1, 256), size_t { 100 }, wide);
	::operator delete[](
	    checked(::operator new[](100, wide), 2, 256), size_t { 100 }, wide);
	::operator delete(
	    checked(::operator new(100, wide, std::nothrow), 1, 256), wide,
	    std::nothrow);
	::operator delete[](
	    checked(::operator new[](100, wide, std::nothrow), 2, 256), wide,
	    std::nothrow);
	::operator delete(nullptr);
	::operator delete(::operator new(0));
}

static volatile size_t too_much = ~size_t { 0 } / 2 - 100;
static void *volatile sink; // or the call is left out

static bool
throws(void (*function)())
{
	try {
		function();
	} catch (const std::bad_alloc &) {
		return true;
	}
	return false;
}

static void
give_up()
{
	if (++handled == 3)
		std::set_new_handler(nullptr);
}

static void
failing()
{
	const std::align_val_t wide { 256 };

	expect(throws([] { sink = ::operator new(too_much); }), "new");
	expect(throws([] { sink = ::operator new[](too_much); }), "new[]");
	expect(throws([] {
		sink = ::operator new (too_much, std::align_val_t { 256 });
	}),
	    "aligned new");
	expect(throws([] {
		sink = ::operator new[](too_much, std::align_val_t { 256 });
	}),
	    "aligned new[]");
	expect(::operator new(too_much, std::nothrow) == nullptr, "nothrow");
	expect(
	    ::operator new[](too_much, std::nothrow) == nullptr, "nothrow[]");
	expect(::operator new(too_much, wide, std::nothrow) == nullptr,
	    "aligned nothrow");
	std::set_new_handler(give_up);
	expect(throws([] { sink = ::operator new(too_much); }), "handler");
	expect(handled == 3, "the handler was not called 3 times");
	/* The recorder works as before. */
	::operator delete(checked(::operator new(100), 1, 16));
}

int
main(int argc, char **argv)
{
	ask = argc > 1 && std::strcmp(argv[1], "recorded") == 0;
	forms();
	failing();
	return failures == 0 ? 0 : 1;
}
