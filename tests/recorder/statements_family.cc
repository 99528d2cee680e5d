/*
 * One block of each function that allocates, each of a different size, lost
 * ("lose") or freed ("free"); the sizes are printed. With "stacks" every block
 * has one that begins in its own function here.
 */
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <dlfcn.h>
#include <malloc.h>
#include <new>
#include <unistd.h>

#include "tests/recorder/statements_own.h"

namespace
{

// Functions without names for the loader are told by their places.
constexpr std::size_t place = 256;
#define PLACED __attribute__((noinline, aligned(256)))
#define WAY(name, expression)            \
	PLACED void *name(std::size_t n) \
	{                                \
		void *volatile block;    \
		block = (expression);    \
		return block;            \
	}

constexpr std::align_val_t wide { 64 };

void *
posix(std::size_t n)
{
	void *block = nullptr;

	return posix_memalign(&block, 128, n) == 0 ? block : nullptr;
}

WAY(by_malloc, std::malloc(n))
WAY(by_calloc, std::calloc(2, n / 2))
WAY(by_realloc, std::realloc(nullptr, n))
WAY(by_growth, std::realloc(std::malloc(n / 2), n))
WAY(by_shrinking, std::realloc(std::malloc(n * 2), n))
WAY(by_reallocarray, reallocarray(nullptr, 5, n / 5))
WAY(by_memalign, memalign(64, n))
WAY(by_posix_memalign, posix(n))
WAY(by_aligned_alloc, aligned_alloc(64, n))
WAY(by_valloc, valloc(n))
WAY(by_pvalloc, pvalloc(n))
WAY(by_new, ::operator new(n))
WAY(by_new_array, ::operator new[](n))
WAY(by_new_nothrow, ::operator new(n, std::nothrow))
WAY(by_new_array_nothrow, ::operator new[](n, std::nothrow))
WAY(by_new_aligned, ::operator new(n, wide))
WAY(by_new_array_aligned, ::operator new[](n, wide))
WAY(by_new_aligned_nothrow, ::operator new(n, wide, std::nothrow))
WAY(by_new_array_aligned_nothrow, ::operator new[](n, wide, std::nothrow))

void
by_one(void *p)
{
	::operator delete(p);
}
void
by_one_aligned(void *p)
{
	::operator delete(p, wide);
}
void
by_array(void *p)
{
	::operator delete[](p);
}
void
by_array_aligned(void *p)
{
	::operator delete[](p, wide);
}

const struct {
	void *(*allocate)(std::size_t);
	void (*release)(void *);
	std::size_t size;
} ways[] = {
	{ by_malloc, std::free, 5001 },
	{ by_calloc, std::free, 5002 },
	{ by_realloc, std::free, 5003 },
	{ by_growth, std::free, 5004 },
	{ by_reallocarray, std::free, 5005 },
	{ by_memalign, std::free, 5006 },
	{ by_posix_memalign, std::free, 5007 },
	{ by_shrinking, std::free, 5008 },
	{ by_valloc, std::free, 5009 },
	{ by_aligned_alloc, std::free, 5056 },
	{ by_pvalloc, std::free, 20480 },
	{ by_new, by_one, 5011 },
	{ by_new_array, by_array, 5012 },
	{ by_new_nothrow, by_one, 5013 },
	{ by_new_array_nothrow, by_array, 5014 },
	{ by_new_aligned, by_one_aligned, 5015 },
	{ by_new_array_aligned, by_array_aligned, 5016 },
	{ by_new_aligned_nothrow, by_one_aligned, 5017 },
	{ by_new_array_aligned_nothrow, by_array_aligned, 5018 },
};

using backtrace_function = std::size_t (*)(
    void *, std::uintptr_t *, std::size_t);

// posix_memalign()'s caller is posix(), wherever the compiler puts that.
bool
has_stack(void *block, void *(*caller)(std::size_t))
{
	static const own_code own = own_code_find();
	std::uintptr_t pcs[16] = {}, first;
	void *symbol = dlsym(RTLD_DEFAULT, "malloc_backtrace");
	backtrace_function backtrace;
	std::size_t count;

	std::memcpy(&backtrace, &symbol, sizeof(backtrace));
	count = symbol == nullptr ? 0 : backtrace(block, pcs, 16);
	for (std::size_t i = 0; i < count; i++) {
		if (own_code_has(&own, pcs[i]))
			return false;
	}
	first = reinterpret_cast<std::uintptr_t>(caller);
	return count >= 2 && own.to != 0 &&
	    (pcs[0] - first < place || caller == by_posix_memalign);
}

} // namespace

int
main(int argc, char **argv)
{
	const char *what = argc > 1 ? argv[1] : "";
	int wrong = 0;

	for (const auto &way : ways) {
		void *block = way.allocate(way.size);

		std::memset(block, 'x', way.size);
		if (std::strcmp(what, "stacks") == 0 &&
		    !has_stack(block, way.allocate)) {
			std::fprintf(stderr, "no stack: %zu\n", way.size);
			wrong = 1;
		}
		if (std::strcmp(what, "lose") != 0)
			way.release(block);
		std::printf("%zu\n", way.size);
	}
	return wrong;
}
