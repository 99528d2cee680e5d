// Streams that are never destroyed: their buffers, texts and open files.
#include <fstream>
#include <sstream>
#include <string>

#include "tests/corpus/support/corpus.h"

static NOINLINE std::ostringstream *
make_text()
{
	auto *out = new std::ostringstream;

	*out << std::string(500, 'o') << 42;
	return out;
}

// Its buffer is lost with it, not the FILE beneath, which stdio has listed.
static NOINLINE std::ifstream *
open_file(const char *name)
{
	if (name != nullptr)
		corpus_lose(name);
	auto *in = new std::ifstream;
	in->rdbuf()->pubsetbuf(new char[2000], 2000);
	corpus_lose_end();
	in->open("/proc/self/status");
	std::string line;
	std::getline(*in, line);
	corpus_use(line.data());
	return in;
}

void
corpus_scenario()
{
	corpus_keep(make_text());
	corpus_keep(open_file(nullptr));
	open_file("file");
	corpus_lose("text");
	make_text();
}
