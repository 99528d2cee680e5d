/* Blocks that are released by the wrong function. */
#include <cstdio>
#include <cstdlib>
#include <new>

/* What deallocation functions are told besides, right and wrong. */
static void
sizes_and_alignments()
{
	const size_t none = 0;
	const std::align_val_t a1 { 1 }, a32 { 32 }, a64 { 64 };
	void *(*volatile one)(size_t) = ::operator new;
	void *(*volatile array)(size_t) = ::operator new[];
	void *(*volatile one_aligned)(size_t, std::align_val_t) =
	    ::operator new;
	void *(*volatile array_aligned)(size_t, std::align_val_t) =
	    ::operator new[];

	::operator delete(one(41), 41);
	::operator delete(one(0), none);
	::operator delete[](array(42), 42);
	::operator delete(one_aligned(43, a64), 43, a64);
	::operator delete[](array_aligned(44, a64), a64);
	::operator delete(one_aligned(45, a64), a64, std::nothrow);
	::operator delete(one_aligned(46, a1), 46, a1);
	::operator delete(one(5000), 5000);

	::operator delete(one(51), 50);
	::operator delete[](array(52), 5200);
	::operator delete(one_aligned(53, a64));
	::operator delete(one(54), a64);
	::operator delete(one_aligned(55, a64), a32);
	::operator delete[](array_aligned(56, a32), 57, a64);
	::operator delete(array_aligned(58, a32), a32);
	::operator delete(one_aligned(59, a64), 59);
	::operator delete(one(0), 8);
}

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
	sizes_and_alignments();
	std::puts("went on");
}
