// Objects with vtables, in each way that they can be in a block.
#include <memory>
#include <string>
#include <vector>

#include "lost.h"

namespace shop
{

struct Base {
	virtual ~Base() {}
	long first = 1;
};

struct Other {
	virtual ~Other() {}
	virtual long f() { return second; }
	long second = 2;
};

struct Order : Base {
	~Order() override {}
	int number = 3;
};

struct Both : Base, Other {
	long third = 4;
};

// Its only functions are the destructors.
struct Virtual : virtual Base, virtual Other {
	long fourth = 5;
};

// It has a vtable, but no function.
struct Bases {
	long here = 6;
};
struct NoFunction : virtual Bases {
	long fifth = 7;
};

struct Plain {
	int x = 1, y = 2;
	Plain *next = nullptr;
};

template <class T> struct Box {
	virtual ~Box() {}
	T value{};
};

struct Outer {
	long before = 1;
	struct Inner {
		virtual ~Inner() {}
		long value = 1;
	} inner;
};

struct alignas(16) Wide {
	~Wide() { last = 0; }
	virtual long f() { return last; }
	long last = 1;
};

} // namespace shop

namespace
{
struct Hidden {
	virtual ~Hidden() {}
	int value = 1;
};
} // namespace

static __attribute__((noinline)) void
lose_objects()
{
	struct Local {
		virtual ~Local() {}
		int value = 1;
	};

	lose(new shop::Base, "shop::Base");
	lose(new shop::Order, "shop::Order");
	lose(new shop::Both, "shop::Both");
	lose(new shop::Virtual, "shop::Virtual");
	lose(new shop::NoFunction, "shop::NoFunction");
	lose(new shop::Box<shop::Plain>, "shop::Box<shop::Plain>");
	lose(new shop::Box<std::pair<int, long>>, "shop::Box<pair<int, long> >");
	lose(new shop::Outer::Inner, "shop::Outer::Inner");
	lose(new Hidden, "(anonymous namespace)::Hidden");
	lose(new Local, "lose_objects()::Local");
	lose(new shop::Plain, "?");
	lose(malloc(100), "?");
}

// The count is at the begin of the block.
static __attribute__((noinline)) void
lose_arrays()
{
	lose((char *)new shop::Order[3] - 8, "shop::Order[3]");
	lose((char *)new shop::Both[2] - 8, "shop::Both[2]");
	lose((char *)new shop::Order[500] - 8, "shop::Order[500]");
	lose((char *)new shop::Wide[4] - 16, "shop::Wide[4]");
}

// What a container holds, after the container itself is gone.
static __attribute__((noinline)) void
lose_contents()
{
	alignas(std::vector<shop::Order>) static char
	    room[sizeof(std::vector<shop::Order>)];
	alignas(std::shared_ptr<shop::Order>) static char
	    pointers[3][sizeof(std::shared_ptr<shop::Order>)];
	auto *vector = new (room) std::vector<shop::Order>(5);

	lose(vector->data(), "shop::Order[5]");
	memset(room, 0, sizeof(room));
	lose(new shop::Outer, "shop::Outer::Inner");

	new (pointers[0]) std::shared_ptr<shop::Plain>(new shop::Plain);
	new (pointers[1]) std::shared_ptr<shop::Order>(
	    std::make_shared<shop::Order>());
	new (pointers[2]) std::shared_ptr<shop::Plain>(new shop::Plain,
	    [](shop::Plain *plain) { delete plain; });
	uintptr_t blocks[3];
	for (int i = 0; i < 3; i++)
		memcpy(&blocks[i], pointers[i] + sizeof(void *),
		    sizeof(blocks[i]));
	lose((void *)blocks[0], "shared_ptr control block of shop::Plain");
	lose((void *)blocks[1],
	    "shop::Order with its shared_ptr control block");
	lose((void *)blocks[2], "shared_ptr control block of shop::Plain");
	memset(pointers, 0, sizeof(pointers));
	memset(blocks, 0, sizeof(blocks));
	__asm__ volatile("" : : "r"(blocks), "r"(pointers) : "memory");
}

// What looks like an object in some way, and is none.
static __attribute__((noinline)) void
lose_others()
{
	shop::Base object;
	uintptr_t vptr;
	uintptr_t *block = static_cast<uintptr_t *>(calloc(1, 64));

	memcpy(&vptr, &object, sizeof(vptr));
	block[0] = vptr + 8; // not where an object points to
	lose(block, "?");
	block = static_cast<uintptr_t *>(calloc(1, 64));
	block[0] = vptr - 8;
	lose(block, "?");
	block = static_cast<uintptr_t *>(calloc(1, 64));
	memcpy(&block[0], reinterpret_cast<void *>(vptr - 8), 8);
	lose(block, "?"); // type information
	block = static_cast<uintptr_t *>(calloc(1, 64));
	memcpy(&block[0], reinterpret_cast<void *>(vptr), 8);
	lose(block, "?"); // a function
}

int
main(int argc, char **)
{
	lose_objects();
	lose_arrays();
	lose_contents();
	lose_others();
	return tell_lost(argc);
}
