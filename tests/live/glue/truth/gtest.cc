/* The 50 tests with GoogleTest. */
#include <memunreachable/gtest.h>

#include "bodies.h"

#define T(name, ...)         \
	TEST(truth, name)    \
	{                    \
		__VA_ARGS__; \
	}
#include "bodies.def"

#ifdef OWN_MAIN
int
main(int argc, char **argv)
{
	testing::InitGoogleTest(&argc, argv);
	memunreachable::InstallGoogleTestListener();
	return RUN_ALL_TESTS();
}
#endif
