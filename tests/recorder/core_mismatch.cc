/*
 * Blocks given back by the wrong call.
 */
#include <cstdio>
#include <cstdlib>
#include <new>

int
main()
{
	void (*volatile release)(void *) = std::free;
	void (*volatile release_one)(void *) = ::operator delete;
	void *(*volatile allocate)(size_t) = ::operator new;
	void *(*volatile allocate_array)(size_t) = ::operator new[];

	release(allocate(10));
	release_one(allocate_array(20));
	release_one(std::malloc(30));
	std::puts("went on");
}
