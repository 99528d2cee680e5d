// The life cycle that the original's test goes through. What is left is a new[]
// and a malloc of 256 bytes each; written to argv[1] and to a stream.
#include <memunreachable/MemoryTrace.hpp>

#include <cstdlib>
#include <cstring>
#include <fstream>
#include <iostream>
#include <sstream>
#include <streambuf>

using leaktracer::MemoryTrace;

// Otherwise the compiler may remove the allocations.
static void *volatile sink;

template <class T>
static T
seen(T pointer)
{
	sink = pointer;
	return pointer;
}

struct Full : std::streambuf {
};

static int failures;

static void
expect(bool truth, const char *what)
{
	if (!truth) {
		std::cerr << "FAILED: " << what << std::endl;
		failures++;
	}
}

// A stream that throws leaves a recorder that works.
static void
throwing_stream()
{
#ifdef __EXCEPTIONS
	Full full;
	std::ostream out(&full);
	bool thrown = false;

	out.exceptions(std::ios_base::badbit);
	try {
		MemoryTrace::GetInstance().writeLeaks(out);
	} catch (const std::ios_base::failure &) {
		thrown = true;
	}
	expect(thrown, "a stream that throws");
#endif
}

int
main(int argc, char **argv)
{
	MemoryTrace &trace = MemoryTrace::GetInstance();
	char *before = seen(new char[10]);
	void *early = seen(std::malloc(20));

	if (argc < 2)
		return 2;
	MemoryTrace::Setup();
	trace.startMonitoringAllThreads();
	char *lost = seen(new char[256]);
	void *lost_too = seen(std::malloc(256));
	char *not_lost = seen(new char[64]);
	void *freed = seen(std::malloc(64));
	int *one = seen(new int(1));
	void *late = seen(std::calloc(4, 32));
	std::memset(lost, 'n', 256);
	std::memset(lost_too, 'm', 256);
	late = seen(std::realloc(late, 4000));
	delete[] not_lost;
	std::free(early);
	trace.stopMonitoringAllocations();
	std::free(freed);
	delete one;
	std::free(late);
	delete[] before;
	trace.stopAllMonitoring();
	sink = new char[512];
	sink = std::malloc(512);

	trace.writeLeaksToFile(argv[1]);
	throwing_stream();
	std::ostringstream out;
	trace.writeLeaks(out);
	// The file has another time in its first line.
	std::ifstream file(argv[1]);
	std::stringstream text;
	text << file.rdbuf();
	const std::string a = text.str(), b = out.str();
	const char *leak = "\nleak, ";
	expect(a.find(leak) != std::string::npos &&
		b.find(leak) != std::string::npos &&
		a.substr(a.find(leak)) == b.substr(b.find(leak)),
	    "stream and file say the same");
	return failures == 0 ? 0 : 1;
}
