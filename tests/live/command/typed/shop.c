/* A shop: customers in a hash table, with orders in lists and texts. */
#include "typed.h"

#define NEW(what, type) \
	((struct type *)named(calloc(1, sizeof(struct type)), what, #type))

struct item {
	struct item *next;
	char *title;
	double price;
	int pieces;
};

struct order {
	struct order *next;
	struct item *items;
	struct customer *customer;
	long number;
	char *remarks;
};

struct customer {
	struct customer *chain;
	char *name, *street;
	struct order *orders;
	int id, flags;
};

struct shop {
	struct customer *buckets[16];
	struct order *newest;
	size_t count;
};

struct shop *shop; /* not static: it is written only */

static void *
named(void *block, const char *what, const char *name)
{
	tell(what, block, name);
	return block;
}

static char *
text(const char *what, const char *words, int number)
{
	char *made = malloc(80);

	memset(made, 0, 80);
	snprintf(made, 80, "%s %d", words, number);
	return named(made, what, "char[*]");
}

static struct order *
make_order(const char *what, struct customer *customer, int number)
{
	struct order *order = NEW(what, order);
	struct item *item;
	int i;

	for (i = 0; i < 3; i++) {
		item = NEW(what, item);
		item->next = order->items;
		item->title = text(what, "a title", i);
		item->price = 1.25 * i + number;
		item->pieces = i;
		order->items = item;
	}
	order->customer = customer;
	order->number = 100000 + number;
	if (number % 2 == 0)
		order->remarks =
		    text(what, "to be sent by post, order", number);
	return order;
}

static struct customer *
make_customer(const char *what, int id)
{
	struct customer *customer = NEW(what, customer);
	struct order *order;
	int i;

	customer->name = text(what, "Alice number", id);
	customer->street = text(what, "Long Street", id);
	customer->id = id;
	for (i = 0; i < 4; i++) {
		order = make_order(what, customer, i);
		order->next = customer->orders;
		customer->orders = order;
	}
	return customer;
}

static __attribute__((noinline)) void
fill(void)
{
	struct customer *customer;
	int i;

	shop = NEW("held", shop);
	for (i = 0; i < 20; i++) {
		customer = make_customer("held", i);
		customer->chain = shop->buckets[i % 16];
		shop->buckets[i % 16] = customer;
		shop->newest = customer->orders;
		shop->count++;
	}
	for (i = 0; i < 6; i++)
		mu_hide(make_customer("lost", 100 + i));
	for (i = 0; i < 6; i++)
		mu_hide(make_order("lost", NULL, i));
}

int
main(void)
{
	fill();
	return stay();
}
