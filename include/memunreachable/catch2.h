/*
 * Catch2's tests, of version 2 or 3, fail for what they lost. It is enough to
 * include this header in one file of the program; of version 2 before
 * <catch2/catch.hpp>, which it includes.
 */
#ifndef MEMUNREACHABLE_CATCH2_H
#define MEMUNREACHABLE_CATCH2_H

#if defined(__has_include)
#if __has_include(<catch2/reporters/catch_reporter_event_listener.hpp>)
#define MEMUNREACHABLE_CATCH2_V3
#endif
#endif

#ifdef MEMUNREACHABLE_CATCH2_V3
#include <catch2/catch_test_case_info.hpp>
#include <catch2/interfaces/catch_interfaces_capture.hpp>
#include <catch2/internal/catch_assertion_handler.hpp>
#include <catch2/reporters/catch_reporter_event_listener.hpp>
#include <catch2/reporters/catch_reporter_registrars.hpp>
#else
#if defined(TWOBLUECUBES_SINGLE_INCLUDE_CATCH_HPP_INCLUDED) && \
    !defined(CATCH_CONFIG_EXTERNAL_INTERFACES) &&              \
    !defined(CATCH_CONFIG_MAIN) && !defined(CATCH_CONFIG_RUNNER)
#error "include <memunreachable/catch2.h> before <catch2/catch.hpp>"
#endif
#define CATCH_CONFIG_EXTERNAL_INTERFACES
#include <catch2/catch.hpp>
#endif
#include <memunreachable/test_frames.h>

#include <string>

namespace memunreachable
{

#ifdef MEMUNREACHABLE_CATCH2_V3
using Catch2ListenerBase = Catch::EventListenerBase;
#else
using Catch2ListenerBase = Catch::TestEventListenerBase;
#endif

/*
 * Each run of a test case is checked: with sections there are several. One
 * that failed is not: what a failed assertion leaves behind is no leak of the
 * code.
 */
class Catch2Listener : public Catch2ListenerBase
{
    public:
	using Catch2ListenerBase::Catch2ListenerBase;

	void testCaseStarting(const Catch::TestCaseInfo &info) override
	{
		Catch2ListenerBase::testCaseStarting(info);
		line_ = info.lineInfo;
		memunreachable_frames_scrub();
	}
	void sectionStarting(const Catch::SectionInfo &info) override
	{
		Catch2ListenerBase::sectionStarting(info);
		if (depth_++ != 0 || !is_first())
			return;
		memunreachable_frames_begin(&frames_, info.name.c_str(), next_);
	}
	void sectionEnded(const Catch::SectionStats &stats) override
	{
		const char *lost = nullptr;

		if (--depth_ == 0 && is_first()) {
			next_ = stats.assertions.failed == 0;
			if (next_)
				lost = memunreachable_frames_end(&frames_);
		}
		if (lost != nullptr)
			fail(lost);
		Catch2ListenerBase::sectionEnded(stats);
	}

    private:
	memunreachable_frames frames_ {};
	Catch::SourceLineInfo line_ { "", 0 };
	unsigned depth_ = 0;
	bool next_ = false; // the last run was checked

	/* Each file that includes the header registers one. */
	bool is_first() const
	{
		static const Catch2Listener *first = this;

		return first == this;
	}

	void fail(const char *lost)
	{
		const Catch::AssertionInfo info { "memory was lost", line_,
			Catch::StringRef(),
			Catch::ResultDisposition::ContinueOnFailure };
		Catch::AssertionReaction reaction;

		Catch::getResultCapture().handleMessage(info,
		    Catch::ResultWas::ExplicitFailure, std::string(lost),
		    reaction);
	}
};

/* Version 2 makes a name of its argument. */
CATCH_REGISTER_LISTENER(Catch2Listener)

} // namespace memunreachable

#endif
