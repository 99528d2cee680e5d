/*
 * LeakTracer's class, inline over the C ABI. C++98 and later, with and without
 * exceptions.
 */
#ifndef MEMUNREACHABLE_MEMORYTRACE_HPP
#define MEMUNREACHABLE_MEMORYTRACE_HPP

#ifndef __cplusplus
#error "C programs include <memunreachable/leaktracer.h>"
#endif

#include <ostream>

#include "memunreachable/leaktracer.h"

namespace leaktracer
{

/* See the function of the same name in leaktracer.h. */
class MemoryTrace
{
    public:
	static MemoryTrace &GetInstance()
	{
		static MemoryTrace instance;
		return instance;
	}

	/* No set-up is needed. */
	static int Setup()
	{
		return 0;
	}

	void startMonitoringAllThreads()
	{
		leaktracer_startMonitoringAllThreads();
	}

	void startMonitoringThisThread()
	{
		leaktracer_startMonitoringThisThread();
	}

	void stopMonitoringAllocations()
	{
		leaktracer_stopMonitoringAllocations();
	}

	void stopAllMonitoring()
	{
		leaktracer_stopAllMonitoring();
	}

	void writeLeaksToFile(const char *reportFileName)
	{
		leaktracer_writeLeaksToFile(reportFileName);
	}

	/*
	 * If exceptions are enabled in OUT it throws at the end, not during the
	 * report.
	 */
	void writeLeaks(std::ostream &out)
	{
		const std::ios_base::iostate mask = out.exceptions();

		out.exceptions(std::ios_base::goodbit);
		leaktracer_writeLeaks(write, &out);
		out.exceptions(mask);
	}

    private:
	MemoryTrace()
	{
	}
	MemoryTrace(const MemoryTrace &);
	MemoryTrace &operator=(const MemoryTrace &);

	static void write(void *ctx, const char *text, size_t length)
	{
		static_cast<std::ostream *>(ctx)->write(
		    text, static_cast<std::streamsize>(length));
	}
};

}

#endif
