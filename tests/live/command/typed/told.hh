/* The same for C++: "new" that tells. */
#ifndef TESTS_LIVE_COMMAND_TYPED_TOLD_HH
#define TESTS_LIVE_COMMAND_TYPED_TOLD_HH

#include "typed.h"

template <class T>
T *
tell_new(const char *what, const char *name, T *object)
{
	tell(what, object, name);
	return object;
}

/* So that a compiler does not know that nothing reads them. */
template <class T>
void
keep(T &object)
{
	__asm__ volatile("" : : "r"(&object) : "memory");
}

#endif
