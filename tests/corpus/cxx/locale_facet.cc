// A facet of our own in a std::locale: counted, in an array of pointers.
#include <locale>
#include <sstream>
#include <string>

#include "tests/corpus/support/corpus.h"

struct point : std::numpunct<char> {
	std::string *word = new std::string(30, 'n');
	char do_decimal_point() const override
	{
		return ',';
	}
};

static NOINLINE std::locale *
make_locale()
{
	auto *loc = new std::locale(std::locale::classic(), new point);
	std::ostringstream out;

	out.imbue(*loc); // numpunct has a cache in the locale
	out << 1.5 << 1000000;
	return loc;
}

void
corpus_scenario()
{
	corpus_keep(make_locale());
	corpus_lose("locale");
	make_locale();
}
