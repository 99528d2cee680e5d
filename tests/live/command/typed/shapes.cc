// Classes with virtual functions: inheritance of all kinds, owned objects.
#include <memory>
#include <string>
#include <vector>

#include "told.hh"

namespace draw
{

struct Colour {
	float red = .5f, green = .25f, blue = .75f, alpha = 1;
	std::string name = "a colour that has a long name";
};

struct Shape {
	virtual ~Shape() = default;
	virtual double area() const = 0;
	Colour *colour = nullptr;
	std::string label = "the label of a shape, longer than fifteen";
};

struct Circle : Shape {
	double area() const override { return radius * radius * 3; }
	double radius = 2.5;
};

struct Polygon : Shape {
	double area() const override { return points.size(); }
	std::vector<double> points = std::vector<double>(24, 1.25);
};

struct Listener {
	virtual ~Listener() = default;
	virtual void heard(int) {}
	long calls = 0;
};

struct Button : Circle, Listener {
	void heard(int) override { calls++; }
	std::unique_ptr<Polygon> outline;
};

struct Group : Shape {
	double area() const override { return 0; }
	std::vector<std::unique_ptr<Shape>> shapes;
	Listener *listener = nullptr;
};

struct Base {
	virtual ~Base() = default;
	long id = 5;
};
struct Left : virtual Base {
	long left[3] = { 1, 2, 3 };
};
struct Right : virtual Base {
	long right[5] = { 4, 5, 6 };
};
struct Diamond : Left, Right {
	std::string text = "the text of a diamond, longer than fifteen";
};

} // namespace draw

using namespace draw;

static Group *held_group;
static std::vector<Diamond *> held_diamonds;

template <class T>
static T *
made(const char *what, const char *name, T *shape)
{
	tell(what, shape, name);
	tell(what, shape->label.data(), "char[*]");
	shape->colour = tell_new(what, "draw::Colour", new Colour);
	return shape;
}

static Button *
make_button(const char *what)
{
	auto button = made(what, "draw::Button", new Button);

	button->outline.reset(made(what, "draw::Polygon", new Polygon));
	return button;
}

static Group *
make_group(const char *what, int depth)
{
	auto group = made(what, "draw::Group", new Group);

	for (int i = 0; i < 3; i++) {
		group->shapes.emplace_back(
		    made(what, "draw::Circle", new Circle));
		group->shapes.emplace_back(
		    made(what, "draw::Polygon", new Polygon));
		group->shapes.emplace_back(make_button(what));
	}
	group->listener = make_button(what);
	if (depth > 0)
		group->shapes.emplace_back(make_group(what, depth - 1));
	return group;
}

static __attribute__((noinline)) void
fill()
{
	held_group = make_group("held", 3);
	for (int i = 0; i < 10; i++)
		held_diamonds.push_back(
		    tell_new("held", "draw::Diamond", new Diamond));
	for (int i = 0; i < 3; i++)
		mu_hide(make_group("lost", 1));
	for (int i = 0; i < 5; i++) {
		mu_hide(make_button("lost"));
		mu_hide(tell_new("lost", "draw::Diamond", new Diamond));
	}
}

int
main()
{
	also("double[*]");
	also("draw::Shape*[*]");
	also("draw::Diamond*[*]");
	also("std::unique_ptr<draw::Shape*>[*]");
	also("draw::*[*]");
	also("elements of a std::vector");
	fill();
	keep(held_group);
	keep(held_diamonds);
	return stay();
}
