/*
 * What a program in C holds: tables, lists, trees and arrays, behind variables
 * of all kinds; and what looks like one type and is another.
 */
#include <stdlib.h>
#include <string.h>

#include "tests/live/command/declared/told.h"

#define NEW(type, name) told(calloc(1, sizeof(type)), name)

struct value {
	double weight;
	long id[4];
};

struct entry {
	struct entry *next;
	char *key;
	struct value *value;
};

struct table {
	size_t count;
	struct entry *buckets[64];
};

struct tree {
	struct tree *left, *right;
	struct value value;
	char *label;
};

/* Types that begin alike, and fit into the same block. */
struct shape {
	int kind;
	struct shape *next;
};

struct circle {
	int kind;
	struct shape *next;
	double radius;
};

struct base {
	long number;
	struct value *value;
};

struct derived {
	struct base base;
	int more;
};

struct word {
	char *text;
	int length, line, column, flags;
	struct word *next;
};

struct number {
	double value[9];
};

struct token {
	int kind;
	union {
		struct word *word;
		struct number *number;
	} of;
};

struct packet {
	int count;
	struct word *words[];
};

struct link {
	struct link *next, *before;
};

struct job {
	long id, state, priority;
	struct link all;
	char *command;
};

typedef struct {
	char *name;
	long numbers[11];
} unnamed;

/* What old pointers and pointers of another type lead to. */
struct colour {
	float red, green, blue, alpha[61];
};

struct ticket {
	char *owner;
	long number;
	struct ticket *next;
	long more[20];
};

struct invoice {
	long number;
	double price;
	char *item;
	long more[20];
};

struct stop {
	struct stop *next;
	int line, more[60];
};

struct station {
	struct station *next;
	long lines[30];
};

static struct colour *last_colour; /* was freed */
static char *description;
static struct ticket *last_ticket; /* was freed */
static void *last_invoice;
static struct ticket **tickets; /* the first one only */
static void *invoices[16];
static struct stop *stops; /* stations, in fact */

static struct table table;
struct tree *root;
static struct shape *shapes;
static struct base *bases[4];
static struct token tokens[2];
static struct packet *packet;
static struct value *values; /* ten of them */
static unnamed *one;
static void *anything;
static struct {
	struct link jobs;
} queue;
static __thread struct entry *thread_entry;
static struct {
	struct {
		struct number *deep;
	} more[3];
} nested;

static char *
text(const char *from)
{
	char *copy = malloc(100);

	memset(copy, 0, 100);
	strcpy(copy, from);
	return told(copy, "char[*]");
}

static void
fill_table(void)
{
	struct entry *entry;
	int i;

	for (i = 0; i < 200; i++) {
		entry = NEW(struct entry, "entry");
		entry->key = text("a key");
		entry->value = NEW(struct value, "value");
		entry->next = table.buckets[i % 64];
		table.buckets[i % 64] = entry;
		table.count++;
	}
}

static struct tree *
grow(int depth)
{
	struct tree *tree = NEW(struct tree, "tree");

	tree->label = text("a label of a tree, which is text");
	if (depth > 0) {
		tree->left = grow(depth - 1);
		tree->right = grow(depth - 1);
	}
	return tree;
}

static void
fill_shapes(void)
{
	struct derived *derived;
	struct circle *circle;
	struct shape *shape;
	int i;

	for (i = 0; i < 10; i++) {
		circle = NEW(struct circle, "circle");
		circle->next = shapes;
		shape = NEW(struct shape, "shape");
		shape->next = (struct shape *)circle;
		shapes = shape;
	}
	for (i = 0; i < 4; i++) {
		if (i % 2 == 0) {
			bases[i] = NEW(struct base, "base");
		} else {
			derived = NEW(struct derived, "derived");
			derived->more = i;
			bases[i] = &derived->base;
		}
		bases[i]->value = NEW(struct value, "value");
	}
}

static void
fill_others(void)
{
	struct job *job;
	int i;

	tokens[0].of.word = NEW(struct word, "word");
	tokens[1].of.number = NEW(struct number, "number");
	packet = told(
	    calloc(1, sizeof(*packet) + 5 * sizeof(struct word *)), "packet");
	for (i = 0; i < 5; i++)
		packet->words[i] = NEW(struct word, "word");
	values = told(calloc(10, sizeof(*values)), "value[10]");
	one = NEW(unnamed, "unnamed");
	one->name = text("the name of a structure without one");
	anything = NEW(struct number, "number");
	queue.jobs.next = queue.jobs.before = &queue.jobs;
	for (i = 0; i < 5; i++) {
		job = NEW(struct job, "job");
		job->command = text("a command, with arguments");
		job->all.next = queue.jobs.next;
		job->all.before = &queue.jobs;
		queue.jobs.next->before = &job->all;
		queue.jobs.next = &job->all;
	}
	thread_entry = NEW(struct entry, "entry");
	thread_entry->value = NEW(struct value, "value");
	nested.more[2].deep = NEW(struct number, "number");
}

static void
fill_stale(void)
{
	struct station *station;
	struct invoice *invoice;
	void **old;
	int i;

	last_colour = malloc(sizeof(struct colour));
	free(last_colour);
	description = told(malloc(sizeof(struct colour)), "char[*]");
	memset(description, ' ', sizeof(struct colour) - 1);
	description[sizeof(struct colour) - 1] = '\0';
	old = malloc(128 * sizeof(*old));
	for (i = 0; i < 128; i++) {
		if (i < 16)
			invoices[i] = NEW(struct invoice, "invoice");
		invoice = old[i] = invoices[i % 16];
		if (i % 2 == 0)
			invoice->item = (char *)invoices;
	}
	free(old);
	tickets = malloc(128 * sizeof(*tickets)); /* it has what OLD had */
	tickets[0] = NEW(struct ticket, "ticket");
	tickets[0]->owner = text("the owner of a ticket");
	last_ticket = malloc(sizeof(struct ticket));
	free(last_ticket);
	invoice = last_invoice = NEW(struct invoice, "invoice");
	invoice->item = text("what is to be paid");
	for (i = 0; i < 5; i++) {
		station = NEW(struct station, "station");
		station->next = (struct station *)stops;
		stops = (struct stop *)station;
	}
}

static __attribute__((noinline)) void
serve(void)
{
	static struct word *last;
	struct number *volatile local = NEW(struct number, "number");

	last = NEW(struct word, "word");
	last->text = text("the last word of all");
	stay();
	__asm__ volatile("" : : "r"(local), "r"(&last) : "memory");
}

int
main(void)
{
	fill_table();
	root = grow(6);
	fill_shapes();
	fill_others();
	fill_stale();
	serve();
	return 0;
}
