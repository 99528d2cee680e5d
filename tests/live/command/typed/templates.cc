// Templates, nested and unnamed namespaces, private implementations; no vtables.
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "told.hh"

namespace math
{
namespace detail
{

template <class T, int N> struct Vector {
	T values[N];
};

} // namespace detail

template <class T> struct Matrix {
	detail::Vector<T, 4> *rows[4] = {};
	T *scratch = nullptr;
	int kind = 3;
};

template <class K, class V> struct Cell {
	K key;
	V value;
	Cell *next = nullptr;
};

} // namespace math

namespace
{

struct Hidden {
	long size = 10;
	std::string name = "hidden, with a name that is long";
	Hidden *other = nullptr;
};

} // namespace

class Engine
{
public:
	Engine(const char *what);
	struct Impl;
	Impl *impl;
	math::Cell<long, std::string> *cells = nullptr;
	int state = 4;
};

struct Engine::Impl {
	math::Matrix<double> *matrix = nullptr;
	Hidden *hidden = nullptr;
	std::pair<int, std::string> version{ 3,
		"a version with a longer name" };
	unsigned long seeds[8] = { 1, 2, 3, 4, 5, 6, 7, 8 };
};

Engine::Engine(const char *what)
{
	impl = tell_new(what, "Engine::Impl", new Impl);
	impl->matrix = tell_new(
	    what, "math::Matrix<double>", new math::Matrix<double>);
	for (auto &row : impl->matrix->rows) {
		row = tell_new(what, "math::detail::Vector<double, 4>",
		    new math::detail::Vector<double, 4>);
		for (double &value : row->values)
			value = 1.75;
	}
	impl->matrix->scratch =
	    tell_new(what, "double[*]", new double[50]);
	for (int i = 0; i < 50; i++)
		impl->matrix->scratch[i] = 0.5 + i;
	impl->hidden = tell_new(what, "(anonymous namespace)::Hidden",
	    new Hidden);
	impl->hidden->other = tell_new(what, "(anonymous namespace)::Hidden",
	    new Hidden);
	for (int i = 0; i < 6; i++) {
		auto cell = new math::Cell<long, std::string>;
		cell->key = 100 + i;
		cell->value = "the value of a cell, longer than fifteen";
		cell->next = cells;
		cells = tell_new(
		    what, "math::Cell<long, std::string>", cell);
	}
}

static std::vector<Engine *> held_engines;

static __attribute__((noinline)) void
fill()
{
	for (int i = 0; i < 10; i++)
		held_engines.push_back(
		    tell_new("held", "Engine", new Engine("held")));
	for (int i = 0; i < 6; i++)
		mu_hide(tell_new("lost", "Engine", new Engine("lost")));
}

int
main()
{
	also("char[*]");
	also("double[*]");
	also("Engine*[*]");
	also("elements of a std::vector");
	fill();
	keep(held_engines);
	return stay();
}
