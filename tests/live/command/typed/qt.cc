// Objects, texts and lists of Qt.
#include <QObject>
#include <QString>
#include <QTimer>
#include <QVector>

#include "told.hh"

struct Record {
	QString title = QStringLiteral("a title");
	QVector<double> values = QVector<double>(20, 1.5);
	long number = 7;
};

// Without a macro of Qt: the vtable says what it is.
class Window : public QObject
{
public:
	explicit Window(QObject *parent) : QObject(parent) {}
	Record *record = nullptr;
	long more[4] = { 1, 2, 3, 4 };
};

static QVector<Window *> held_windows;

static Window *
make_window(const char *what, QObject *parent, int depth)
{
	auto window = tell_new(what, "Window", new Window(parent));

	window->setObjectName("a window of a program");
	window->record = tell_new(what, "Record", new Record);
	tell(what, new QObject(window), "QObject");
	for (int i = 0; depth > 0 && i < 3; i++)
		make_window(what, window, depth - 1);
	return window;
}

static __attribute__((noinline)) void
fill()
{
	for (int i = 0; i < 4; i++)
		held_windows.append(make_window("held", nullptr, 2));
	for (int i = 0; i < 4; i++)
		mu_hide(make_window("lost", nullptr, 1));
}

int
main()
{
	also("QObjectPrivate");
	also("QObjectPrivate::*");
	also("Q*Data*");
	also("QThreadData");
	also("QAdoptedThread");
	also("QThreadPrivate");
	also("QArrayData*");
	also("QTypedArrayData*");
	also("QListData*");
	also("strings of GLib's quarks");
	also("slices of GLib");
	also("GHashTable");
	also("* of a GHashTable");
	fill();
	keep(held_windows);
	return stay();
}
