// Blocks that are allocated and never written where objects were before: they
// begin like these, and are none.
#include <vector>

#include "lost.h"

struct Shape {
	virtual ~Shape() {}
	long first = 1, second = 2, third = 3;
};

static __attribute__((noinline)) void
lose_blocks()
{
	{
		std::vector<Shape> shapes(500);
		__asm__ volatile("" : : "r"(shapes.data()) : "memory");
	}
	for (int i = 0; i < 50; i++)
		lose(malloc(24), "?");
	for (int i = 0; i < 20; i++)
		lose(malloc(40), "?");
	for (int i = 0; i < 20; i++)
		lose(malloc(100), "?");
}

int
main(int argc, char **)
{
	lose_blocks();
	return tell_lost(argc);
}
