// Objects that know each other by plain pointers and never go: the subject is
// deleted, its observers, which only it knew, are not.
#include <string>
#include <vector>

#include "tests/corpus/support/corpus.h"

struct subject;

struct observer {
	subject *watched = nullptr;
	std::string name = std::string(25, 'o');
	std::vector<observer *> peers;
	virtual ~observer() = default;
};

struct subject {
	std::vector<observer *> observers;
};

static NOINLINE subject *
make_subject(size_t n)
{
	auto *s = new subject;

	for (size_t i = 0; i < n; i++) {
		s->observers.push_back(new observer);
		s->observers.back()->watched = s;
	}
	for (observer *o : s->observers)
		o->peers = s->observers;
	corpus_use(s);
	return s;
}

static NOINLINE void
delete_subject()
{
	corpus_lose("observer");
	subject *s = make_subject(5);
	corpus_lose_end();
	delete s;
}

void
corpus_scenario()
{
	corpus_keep(make_subject(5));
	delete_subject();
}
