#include "lib/python/class.h"

#include <string.h>

#define WORD sizeof(uintptr_t)
#define BASES 16 /* of a class, at most */
#define METAS 4  /* classes of classes of ... */
#define KNOWN ((size_t)1 << 16)
#define SIZE_MOST ((size_t)1 << 20)

/* Words of PyTypeObject in Include/cpython/object.h. */
#define TYPE_MEMBERS 30
#define TYPE_BASE 32
#define TYPE_DICT_OFFSET 36

/* Py_TPFLAGS_... in Include/object.h */
#define FLAG_HEAP ((uintptr_t)1 << 9)
#define FLAG_HAVE_GC ((uintptr_t)1 << 14)
#define FLAG_LONG ((uintptr_t)1 << 24)
#define FLAG_LIST ((uintptr_t)1 << 25)
#define FLAG_TUPLE ((uintptr_t)1 << 26)
#define FLAG_BYTES ((uintptr_t)1 << 27)
#define FLAG_TEXT ((uintptr_t)1 << 28)
#define FLAG_DICT ((uintptr_t)1 << 29)
#define FLAG_TYPE ((uintptr_t)1 << 31)

void
mu_python_classes_open(struct mu_python_classes *classes,
    const struct mu_snapshot *snap, struct mu_arena *arena)
{
	*classes = (struct mu_python_classes) {
		.snap = snap,
		.known = { .arena = arena,
		    .size = sizeof(struct mu_python_known),
		    .first = 4096,
		    .most = KNOWN },
	};
}

bool
mu_python_class_read(const struct mu_snapshot *snap, uintptr_t address,
    struct mu_python_class *class)
{
	const void *view;

	if (address == 0 || address % WORD != 0)
		return false;
	view = mu_snapshot_peek(snap, address, sizeof(*class), class);
	if (view == NULL)
		return false;
	if (view != class)
		memcpy(class, view, sizeof(*class));
	return mu_python_class_ready(class);
}

/* True if the name of CLASS is NAME. */
static bool
is_named(const struct mu_snapshot *snap, const struct mu_python_class *class,
    const char *name)
{
	size_t size = strlen(name) + 1;
	char buffer[32];
	const void *view = size > sizeof(buffer)
	    ? NULL
	    : mu_snapshot_peek(snap, class->name, size, buffer);

	return view != NULL && memcmp(view, name, size) == 0;
}

/* Its class, or the class of that ..., is "type", which is its own class. */
static bool
is_class(const struct mu_snapshot *snap, struct mu_python_class class)
{
	uintptr_t at;
	int i;

	for (i = 0; i < METAS; i++) {
		at = class.type;
		if (!mu_python_class_read(snap, at, &class) ||
		    (class.flags & FLAG_TYPE) == 0)
			return false;
		if (class.type == at)
			return is_named(snap, &class, "type");
	}
	return false;
}

/* By flags, which classes inherit. */
static enum mu_python_kind
kind_by_flags(const struct mu_python_class *class)
{
	if ((class->flags & (FLAG_LONG | FLAG_BYTES | FLAG_TEXT)) != 0 ||
	    (class->flags & FLAG_HAVE_GC) == 0)
		return MU_PYTHON_PLAIN;
	if ((class->flags & FLAG_DICT) != 0)
		return MU_PYTHON_DICT;
	if ((class->flags & FLAG_LIST) != 0)
		return MU_PYTHON_LIST;
	if ((class->flags & FLAG_TUPLE) != 0)
		return MU_PYTHON_TUPLE;
	return (class->flags & FLAG_TYPE) != 0 ? MU_PYTHON_TYPE
					       : MU_PYTHON_OBJECT;
}

/*
 * By the name of the class itself. A weak reference owns nothing, and what
 * frames and what they leave refer to changes all the time.
 */
static enum mu_python_kind
kind_by_name(
    const struct mu_snapshot *snap, const struct mu_python_class *class)
{
	static const struct {
		const char *name;
		enum mu_python_kind kind;
	} all[] = { { "set", MU_PYTHON_SET }, { "frozenset", MU_PYTHON_SET },
		{ "collections.deque", MU_PYTHON_DEQUE },
		{ "module", MU_PYTHON_MODULE }, { "weakref", MU_PYTHON_PLAIN },
		{ "weakref.ReferenceType", MU_PYTHON_PLAIN },
		{ "weakproxy", MU_PYTHON_PLAIN },
		{ "weakref.ProxyType", MU_PYTHON_PLAIN },
		{ "frame", MU_PYTHON_PLAIN }, { "traceback", MU_PYTHON_PLAIN },
		{ "code", MU_PYTHON_PLAIN } };
	size_t i;

	for (i = 0; i < sizeof(all) / sizeof(*all); i++)
		if (is_named(snap, class, all[i].name))
			return all[i].kind;
	return MU_PYTHON_OBJECT;
}

/* What CLASS or one that it is derived from is. */
static enum mu_python_kind
find_kind(const struct mu_snapshot *snap, uintptr_t address,
    struct mu_python_class class)
{
	enum mu_python_kind kind = kind_by_flags(&class);
	uintptr_t base = address;
	size_t i;

	for (i = 0; i < BASES && kind == MU_PYTHON_OBJECT; i++) {
		kind = kind_by_name(snap, &class);
		if (!mu_snapshot_word(snap, base + TYPE_BASE * WORD, &base) ||
		    !mu_python_class_read(snap, base, &class))
			break;
	}
	return kind;
}

static void
read_class(const struct mu_snapshot *snap, struct mu_python_known *known)
{
	struct mu_python_class class;
	uintptr_t dict, address = known->address;

	if (!mu_python_class_read(snap, address, &class) ||
	    !is_class(snap, class) || class.basicsize > SIZE_MOST ||
	    class.itemsize > SIZE_MOST ||
	    !mu_snapshot_word(
		snap, address + TYPE_MEMBERS * WORD, &known->members) ||
	    !mu_snapshot_word(snap, address + TYPE_BASE * WORD, &known->base) ||
	    !mu_snapshot_word(snap, address + TYPE_DICT_OFFSET * WORD, &dict))
		return;
	known->kind = find_kind(snap, address, class);
	known->text = (class.flags & FLAG_TEXT) != 0;
	known->itself = known->kind == MU_PYTHON_DICT &&
	    (class.flags & FLAG_HEAP) == 0 && is_named(snap, &class, "dict");
	known->size = class.basicsize;
	known->item = class.itemsize;
	known->before = mu_python_class_before(&class);
	known->flags = class.flags;
	known->dict = (intptr_t)dict;
}

const struct mu_python_known *
mu_python_classes_find(struct mu_python_classes *classes, uintptr_t address)
{
	struct mu_python_known *known;
	bool added;

	if (address == 0 || address % WORD != 0)
		return NULL;
	known = mu_keyed_add(&classes->known, address, &added);
	if (known == NULL)
		return NULL;
	if (added)
		read_class(classes->snap, known);
	return known->kind == MU_PYTHON_NO_CLASS ? NULL : known;
}
