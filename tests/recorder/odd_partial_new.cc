/*
 * The program replaces only the two basic operators, by a pool: all other forms
 * must call these ([new.delete]).
 */
#include <cstdio>
#include <cstdlib>
#include <new>

alignas(16) static char pool[1 << 16];
static size_t used;
static int failures;

static bool
pooled(const void *block)
{
	return block >= pool && block < pool + sizeof(pool);
}

void *
operator new(size_t size)
{
	void *block = pool + used;

	used += (size + 15) & ~size_t { 15 };
	if (used > sizeof(pool))
		std::abort();
	return block;
}

/* Sized delete is the library's: that is what is tried here. */
#ifndef __clang__
#pragma GCC diagnostic ignored "-Wsized-deallocation"
#endif

void
operator delete(void *block) noexcept
{
	if (block != nullptr && !pooled(block)) {
		std::fprintf(stderr, "deleted: %p is not the pool's\n", block);
		failures++;
	}
}

static void *
expect(void *block, const char *form)
{
	if (!pooled(block)) {
		std::fprintf(stderr, "%s: not the pool's\n", form);
		failures++;
	}
	return block;
}

struct counted {
	int number = 1;
	~counted()
	{
		number = 0;
	}
};

int
main()
{
	counted *volatile one = new counted;
	counted *volatile several = new counted[3];

	/* Sized; free() of what is the pool's would stop the program. */
	delete one;
	delete[] several;

	void *block = expect(::operator new(40), "new");
	::operator delete (block, size_t { 40 });
	block = expect(::operator new(40, std::nothrow), "nothrow new");
	::operator delete(block, std::nothrow);
	block = expect(::operator new[](40), "new[]");
	::operator delete[](block);
	block = expect(::operator new[](40), "new[]");
	::operator delete[](block, size_t { 40 });
	block = expect(::operator new[](40, std::nothrow), "nothrow new[]");
	::operator delete[](block, std::nothrow);

	/* The others are those of the C++ library. */
	const std::align_val_t wide { 256 };
	::operator delete(::operator new(40, wide), wide);
	block = ::operator new[](40, wide, std::nothrow);
	::operator delete[](block, size_t { 40 }, wide);
	std::free(std::malloc(40));
	return failures == 0 ? 0 : 1;
}
