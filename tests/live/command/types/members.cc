// Blocks that begin like an object of a class, and are another structure, or
// were never written where an object was before: no name of theirs is certain.
#include <fstream>
#include <memory>

#include "lost.h"

namespace
{

struct Base {
	virtual ~Base()
	{
	}
	long first = 1;
};

struct Other {
	virtual ~Other()
	{
	}
	long second = 2;
};

struct Both : Base, Other {
	long third = 3;
};

struct Large {
	virtual ~Large()
	{
	}
	char room[2000];
};

// As large as the object, as malloc() sees it.
struct Holder {
	Base base;
	long more = 1;
};

struct Outer {
	Holder holder;
	long more[20];
};

struct Log {
	std::ofstream out;
	long more = 1;
};

// Large blocks that end at the top of the heap become a part of it, as they
// are.
__attribute__((noinline)) void
lose_large()
{
	Large *large = new Large;

	__asm__ volatile("" : "+r"(large));
	delete large;
	lose(malloc(3000), "?");
}

// The first two words are written: by malloc() and here.
__attribute__((noinline)) void
lose_used()
{
	Both *both = new Both;
	long *block;

	__asm__ volatile("" : "+r"(both));
	delete both;
	block = static_cast<long *>(malloc(sizeof(Both)));
	block[0] = block[1] = 7;
	lose(block, "?");
}

} // namespace

int
main(int argc, char **)
{
	lose_large();
	lose_used();
	lose(new Holder, "?");
	lose(new Outer, "?");
	lose((char *)new Holder[3] - 8, "?");
	lose(new Log, "?");
	return tell_lost(argc);
}
