/*
 * Objects of GLib that are declared as something less: as what they derive
 * from, or not at all.
 */
#include <glib-object.h>

#include "typed.h"

typedef struct {
	GObject parent;
	long values[6];
} ShopThing;
typedef GObjectClass ShopThingClass;
typedef struct {
	long numbers[3];
} ShopThingPrivate;
G_DEFINE_TYPE_WITH_PRIVATE(ShopThing, shop_thing, G_TYPE_OBJECT)

typedef struct {
	GInitiallyUnowned parent;
} ShopPlain;
typedef GInitiallyUnownedClass ShopPlainClass;
G_DEFINE_TYPE(ShopPlain, shop_plain, G_TYPE_INITIALLY_UNOWNED)

GObject *held_objects[64]; /* not static: they are written only */
void *held_unknown[64];
GParamSpec *held_param;
GList *held_list;

static void
shop_thing_init(ShopThing *thing)
{
	thing->values[0] = 7;
}

static void
shop_thing_class_init(ShopThingClass *class)
{
	(void)class;
}

static void
shop_plain_init(ShopPlain *plain)
{
	(void)plain;
}

static void
shop_plain_class_init(ShopPlainClass *class)
{
	(void)class;
}

/* BEFORE: bytes of private data. */
static void *
make(const char *what, GType type, size_t before, const char *name)
{
	char *object = g_object_new(type, NULL);

	tell(what, object - before, name);
	return object;
}

static __attribute__((noinline)) void
fill(void)
{
	size_t i;

	for (i = 0; i < 40; i += 4) {
		held_objects[i] =
		    make("held", G_TYPE_BINDING_GROUP, 0, "GBindingGroup");
		held_objects[i + 1] =
		    make("held", shop_plain_get_type(), 0, "ShopPlain");
		held_objects[i + 2] =
		    make("held", G_TYPE_SIGNAL_GROUP, 0, "GSignalGroup");
		held_objects[i + 3] =
		    make("held", shop_thing_get_type(), 32, "ShopThing");
		held_unknown[i] =
		    make("held", G_TYPE_BINDING_GROUP, 0, "GBindingGroup");
		held_list = g_list_prepend(held_list,
		    make("held", shop_plain_get_type(), 0, "ShopPlain"));
	}
	held_param = g_param_spec_ref_sink(
	    g_param_spec_int("number", NULL, NULL, 0, 9, 1, G_PARAM_READWRITE));
	tell("held", (char *)held_param - 32, "GParamInt");
	for (i = 0; i < 5; i++) {
		mu_hide(make("lost", G_TYPE_BINDING_GROUP, 0, "GBindingGroup"));
		mu_hide(make("lost", shop_thing_get_type(), 32, "ShopThing"));
	}
}

int
main(void)
{
	also("GList");
	also("_GList");
	also("GHashTable");
	also("* of a GHashTable");
	also("*GPtrArray*");
	also("GArray");
	also("elements of a GArray");
	also("GType *");
	also("slices of GLib");
	also("GParam*");
	also("strings of GLib's quarks");
	fill();
	return stay();
}
