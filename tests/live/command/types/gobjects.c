/* Instances of GType, with private data before them and without. */
#include <glib-object.h>

#include "lost.h"

typedef struct {
	GObject parent;
	long value;
} ShopOrder;
typedef GObjectClass ShopOrderClass;
typedef struct {
	long values[20];
} ShopOrderPrivate;
G_DEFINE_TYPE_WITH_PRIVATE(ShopOrder, shop_order, G_TYPE_OBJECT)

static void
shop_order_init(ShopOrder *order)
{
	order->value = 7;
}

static void
shop_order_class_init(ShopOrderClass *class)
{
	(void)class;
}

/* Its private data are not a multiple of 16 bytes. */
typedef struct {
	ShopOrder parent;
	int count;
} ShopBasket;
typedef ShopOrderClass ShopBasketClass;
typedef struct {
	int number;
} ShopBasketPrivate;
G_DEFINE_TYPE_WITH_PRIVATE(ShopBasket, shop_basket, shop_order_get_type())

static void
shop_basket_init(ShopBasket *basket)
{
	basket->count = 1;
}

static void
shop_basket_class_init(ShopBasketClass *class)
{
	(void)class;
}

/* The block begins with the private data, before the instance. */
static void
lose_instance(GType type, size_t before, const char *name)
{
	char *instance = (char *)g_object_new(type, NULL);

	lose(instance - before, name);
}

static __attribute__((noinline)) void
lose_instances(void)
{
	lose_instance(shop_order_get_type(), 160, "ShopOrder");
	lose_instance(shop_basket_get_type(), 176, "ShopBasket");
	lose_instance(G_TYPE_BINDING_GROUP, 0, "GBindingGroup");
	lose(g_param_spec_ref_sink(g_param_spec_int(
		 "number", NULL, NULL, 0, 9, 1, G_PARAM_READWRITE)),
	    "GParamInt");
}

/* A block that begins like one of them. */
static __attribute__((noinline)) void
lose_others(void)
{
	void **block = calloc(1, 256);

	block[0] = g_type_class_peek(shop_order_get_type());
	lose(block, "?");
	block = calloc(1, 256);
	block[20] = (void *)(uintptr_t)shop_order_get_type();
	lose(block, "?");
	lose(g_strdup("SHELL=/bin/bash"), "text");
	block = g_malloc(sizeof(*block));
	*block = g_strdup("PATH=/usr/bin:/bin");
	lose(block, "pointer to text");
	block = calloc(1, 24);
	*block = block;
	lose(block, "?");
}

int
main(int argc, char **argv)
{
	(void)argv;
	lose_instances();
	lose_others();
	return tell_lost(argc);
}
