/* main() of tests that link libmemunreachable-gtest-main. */
#include <memunreachable/gtest.h>

int
main(int argc, char **argv)
{
	testing::InitGoogleTest(&argc, argv);
	memunreachable::InstallGoogleTestListener();
	return RUN_ALL_TESTS();
}
