/* Lists, hash tables, texts and objects of GLib. */
#include <glib-object.h>

#include "typed.h"

typedef struct {
	GObject parent;
	GList *orders;
	GHashTable *names;
	char *title;
} ShopBasket;
typedef GObjectClass ShopBasketClass;
G_DEFINE_TYPE(ShopBasket, shop_basket, G_TYPE_OBJECT)

typedef struct {
	GPtrArray *items;
	char *name;
	long number;
	GQueue queue;
} Order;

static const char *what;
GSList *held_baskets; /* not static: it is written only */

static void *
named(void *block, const char *name)
{
	tell(what, block, name);
	return block;
}

static Order *
make_order(long number)
{
	Order *order = named(g_new0(Order, 1), "Order");
	int i;

	order->items = g_ptr_array_new();
	for (i = 0; i < 6; i++)
		g_ptr_array_add(order->items,
		    named(g_strdup("an item of an order"), "char[*]"));
	order->name = named(g_strdup("the name of an order"), "char[*]");
	order->number = number;
	for (i = 0; i < 3; i++)
		g_queue_push_tail(&order->queue,
		    named(g_strdup("what is in a queue"), "char[*]"));
	return order;
}

static void
shop_basket_init(ShopBasket *basket)
{
	long i;

	basket->title = named(g_strdup("the title of a basket"), "char[*]");
	for (i = 0; i < 5; i++)
		basket->orders =
		    g_list_append(basket->orders, make_order(1000 + i));
	basket->names = g_hash_table_new(g_str_hash, g_str_equal);
	for (i = 0; i < 5; i++)
		g_hash_table_insert(basket->names,
		    named(g_strdup_printf("a key that is text %ld", i),
			"char[*]"),
		    named(g_strdup("a value that is text"), "char[*]"));
}

static void
shop_basket_class_init(ShopBasketClass *class)
{
	(void)class;
}

static ShopBasket *
make_basket(void)
{
	return named(g_object_new(shop_basket_get_type(), NULL), "ShopBasket");
}

static __attribute__((noinline)) void
fill(void)
{
	int i;

	what = "held";
	for (i = 0; i < 10; i++)
		held_baskets = g_slist_prepend(held_baskets, make_basket());
	what = "lost";
	for (i = 0; i < 5; i++) {
		mu_hide(make_basket());
		mu_hide(make_order(2000 + i));
	}
}

int
main(void)
{
	also("_GList");
	also("GList");
	also("_GSList");
	also("GSList");
	also("_GHashTable");
	also("GHashTable");
	also("*GRealPtrArray*");
	also("*GPtrArray*");
	also("* of a GHashTable");
	also("GArray");
	also("elements of a GArray");
	also("void*[*]");
	also("unsigned int[*]");
	also("GType *");
	also("slices of GLib");
	also("GParam*");
	also("strings of GLib's quarks");
	fill();
	return stay();
}
