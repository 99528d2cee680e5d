/*
 * GoogleTest's tests fail for what they lost. In main():
 *
 *	testing::InitGoogleTest(&argc, argv);
 *	memunreachable::InstallGoogleTestListener();
 *	return RUN_ALL_TESTS();
 *
 * or, without a main(), link libmemunreachable-gtest-main instead of
 * gtest_main. GoogleTest 1.10 or later.
 */
#ifndef MEMUNREACHABLE_GTEST_H
#define MEMUNREACHABLE_GTEST_H

#include <gtest/gtest.h>
#include <memunreachable/test_frames.h>

#include <string>

namespace memunreachable
{

/*
 * A test that failed or was skipped is not checked: what a failed assertion
 * leaves behind is no leak of the code. What SetUpTestSuite() and
 * TearDownTestSuite() lose is a failure of the suite. The child of a death test
 * sends no events.
 */
class GoogleTestListener : public testing::EmptyTestEventListener
{
    public:
	void OnTestSuiteStart(const testing::TestSuite &suite) override
	{
		suite_lost_.clear();
		suite_begins_ = true;
		memunreachable_frames_begin(&frames_,
		    (std::string("SetUpTestSuite() of ") + suite.name())
			.c_str(),
		    false);
	}
	void OnTestStart(const testing::TestInfo &info) override
	{
		if (suite_begins_) {
			const char *lost = memunreachable_frames_end(&frames_);

			suite_lost_ = lost != nullptr ? lost : "";
			suite_begins_ = false;
			next_ = true;
		}
		memunreachable_frames_begin(&frames_,
		    (std::string(info.test_suite_name()) + "." + info.name())
			.c_str(),
		    next_);
	}
	void OnTestEnd(const testing::TestInfo &info) override
	{
		const char *lost;

		next_ = info.result()->Passed();
		if (!next_)
			return;
		lost = memunreachable_frames_end(&frames_);
		if (lost != nullptr)
			ADD_FAILURE_AT(info.file(), info.line()) << lost;
	}
	void OnTestSuiteEnd(const testing::TestSuite &suite) override
	{
		const char *lost;

		if (!suite_lost_.empty())
			ADD_FAILURE() << suite_lost_;
		if (!next_)
			return;
		memunreachable_frames_begin(&frames_,
		    (std::string("TearDownTestSuite() of ") + suite.name())
			.c_str(),
		    true);
		lost = memunreachable_frames_end(&frames_);
		if (lost != nullptr)
			ADD_FAILURE() << lost;
	}

    private:
	memunreachable_frames frames_ {};
	std::string suite_lost_; // by SetUpTestSuite()
	bool suite_begins_ = false;
	bool next_ = false; // the last test was checked
};

/* Once is enough; more calls do nothing. */
inline void
InstallGoogleTestListener()
{
	static bool installed = false;

	if (!installed)
		testing::UnitTest::GetInstance()->listeners().Append(
		    new GoogleTestListener);
	installed = true;
}

} // namespace memunreachable

#endif
