/*
 * Allocate the same number of bytes by each function and compare with the
 * sample. A function that calls another one must not be counted for both.
 */
#include <cstdio>
#include <cstdlib>
#include <new>

#include <malloc.h>

#include "memunreachable/malloc_debug.h"

/* 600 hits at 65536 bytes each: a factor of 1.5 is 8 standard deviations. */
static const size_t blocks = 40000, bytes = 1000;

#pragma weak get_malloc_leak_info
#pragma weak free_malloc_leak_info

static void *allocated[blocks];

static size_t
estimate()
{
	uint8_t *info;
	size_t overall, size, total, frames;

	get_malloc_leak_info(&info, &overall, &size, &total, &frames);
	free_malloc_leak_info(info);
	return total;
}

struct form {
	const char *name;
	void *(*allocate)(size_t size);
	void (*release)(void *block);
};

static const std::align_val_t wide { 64 };

/* clang-format off */
static const struct form forms[] = {
	{ "malloc", std::malloc, std::free },
	{ "calloc", [](size_t n) { return std::calloc(1, n); }, std::free },
	{ "realloc", [](size_t n) { return std::realloc(nullptr, n); },
	  std::free },
	{ "realloc a block",
	  [](size_t n) { return std::realloc(std::malloc(10), n); },
	  std::free },
	{ "reallocarray", [](size_t n) { return reallocarray(nullptr, 1, n); },
	  std::free },
	{ "reallocarray a block",
	  [](size_t n) { return reallocarray(std::malloc(10), 1, n); },
	  std::free },
	{ "aligned_alloc", [](size_t n) { return aligned_alloc(64, n); },
	  std::free },
	{ "new", [](size_t n) { return ::operator new(n); },
	  [](void *block) { ::operator delete(block); } },
	{ "new[]", [](size_t n) { return ::operator new[](n); },
	  [](void *block) { ::operator delete[](block); } },
	{ "nothrow new",
	  [](size_t n) { return ::operator new(n, std::nothrow); },
	  [](void *block) { ::operator delete(block); } },
	{ "nothrow new[]",
	  [](size_t n) { return ::operator new[](n, std::nothrow); },
	  [](void *block) { ::operator delete[](block); } },
	{ "aligned new", [](size_t n) { return ::operator new(n, wide); },
	  [](void *block) { ::operator delete(block, wide); } },
	{ "aligned nothrow new[]",
	  [](size_t n) { return ::operator new[](n, wide, std::nothrow); },
	  [](void *block) { ::operator delete[](block, wide); } },
};
/* clang-format on */

int
main()
{
	int failures = 0;

	if (get_malloc_leak_info == nullptr)
		return 2;
	for (const auto &form : forms) {
		size_t before = estimate(), got;

		for (auto &block : allocated)
			block = form.allocate(bytes);
		got = estimate() - before;
		for (auto &block : allocated)
			form.release(block);
		if (got < blocks * bytes * 2 / 3 ||
		    got > blocks * bytes * 3 / 2) {
			std::fprintf(stderr, "%s: %zu bytes, not %zu\n",
			    form.name, got, blocks * bytes);
			failures++;
		}
	}
	return failures == 0 ? 0 : 1;
}
