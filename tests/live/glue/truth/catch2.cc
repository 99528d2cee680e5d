/* The 50 tests with Catch2, version 2 or 3. */
#include <memunreachable/catch2.h>
#ifdef MEMUNREACHABLE_CATCH2_V3
#include <catch2/catch_test_macros.hpp>
#endif

#include "bodies.h"

#define T(name, ...)         \
	TEST_CASE(#name)     \
	{                    \
		__VA_ARGS__; \
	}
#include "bodies.def"
