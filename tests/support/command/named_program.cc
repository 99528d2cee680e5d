// A program that tells where its things are, for tests that ask for their names
// by address; one line each, "ready" is the last. It ends with its input.
//
// NAMED_LIBRARY: all but main(). NAMED_MAIN: only that.
#include <stdio.h>
#include <unistd.h>

int named_report();

#ifndef NAMED_MAIN
namespace named
{

struct Shape {
	virtual ~Shape();
	virtual int area(int side);
};

Shape::~Shape()
{
}

int
Shape::area(int side)
{
	return side * side;
}

int counter = 4711;
int zeroed[100000];

__attribute__((noinline)) int
compute(const char *words, int number) // the line in the test
{
	return words[0] + number;
}
constexpr int compute_line = __LINE__ - 4;

static void
tell(const char *what, const void *address)
{
	printf("%s %p\n", what, address);
}

}

extern "C" int
named_plain(int number)
{
	return number + 1;
}

int
named_report()
{
	named::Shape shape;
	char byte;

	named::tell("compute", (const void *)named::compute);
	named::tell("plain", (const void *)named_plain);
	named::tell("vtable", *(void **)(void *)&shape);
	named::tell("counter", &named::counter);
	named::tell("zeroed", &named::zeroed[99999]);
	named::tell("local", &shape);
	printf("line 0x%x\nready 0x0\n", named::compute_line);
	fflush(stdout);
	while (read(0, &byte, 1) > 0)
		continue;
	return named::compute("", 0) + named_plain(-1) + shape.area(0);
}
#endif

#ifndef NAMED_LIBRARY
int
main()
{
	return named_report();
}
#endif
