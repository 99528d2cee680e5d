/*
 * Structures of a C program, and what is none: which of them does debug
 * information name, and is it right?
 */
#include <stdint.h>

#include "lost.h"

struct item {
	struct item *next;
	char *name;
	long amount;
};

struct tree {
	struct tree *left, *right, *parent;
	void *value;
	long key;
};

struct operations {
	int (*open)(void *);
	int (*close)(void *);
	long flags;
};

struct file {
	const struct operations *operations;
	char *path;
	int fd, mode;
	long offset;
	unsigned char buffer[64];
};

typedef struct {
	double x, y, z;
	struct item *first;
	char label[16];
} point_t;

struct request {
	struct file *file;
	struct item items[3];
	struct {
		char *key, *value;
	} headers[4];
	struct request *next;
};

union any {
	long number;
	char *text;
};

struct entry {
	union any value;
	struct entry *chain;
	unsigned hash, kind;
	char *owner;
};

struct counters {
	long reads, writes, errors, retries;
};

struct session {
	char *user, *host;
	struct file *log;
	struct session *previous, *next;
	long begun, seen;
	int port, state;
};

struct ring {
	struct ring *next;
	struct ring *previous;
	int number;
};

struct matrix {
	size_t rows, columns;
	double *cells;
};

static int
do_nothing(void *what)
{
	return what != NULL;
}

static const struct operations file_operations = { do_nothing, do_nothing, 7 };

static char *
text(const char *words)
{
	return strdup(words);
}

static struct item *
new_item(struct item *next, int n)
{
	struct item *item = calloc(1, sizeof(*item));

	item->next = next;
	item->name = text("an item");
	item->amount = n;
	return item;
}

static struct tree *
new_tree(struct tree *parent, int depth)
{
	struct tree *tree = malloc(sizeof(*tree));

	tree->parent = parent;
	tree->key = depth;
	tree->value = NULL;
	tree->left = depth > 0 ? new_tree(tree, depth - 1) : NULL;
	tree->right = depth > 1 ? new_tree(tree, depth - 2) : NULL;
	return tree;
}

static struct file *
new_file(void)
{
	struct file *file = malloc(sizeof(*file));

	file->operations = &file_operations;
	file->path = text("/var/log/messages");
	file->fd = 3;
	file->mode = 0644;
	file->offset = 12345;
	return file;
}

static __attribute__((noinline)) void
lose_structures(int n)
{
	struct operations *operations = malloc(sizeof(*operations));
	point_t *point = malloc(sizeof(*point));
	struct request *request = calloc(1, sizeof(*request));
	struct entry *entry = calloc(1, sizeof(*entry));
	struct counters *counters = calloc(1, sizeof(*counters));
	struct session *session = calloc(1, sizeof(*session));
	struct matrix *matrix = calloc(1, sizeof(*matrix));
	struct ring *ring = malloc(sizeof(*ring));

	lose(new_item(new_item(NULL, n), 2), "item");
	lose(new_tree(NULL, 3), "tree");
	*operations = file_operations;
	lose(operations, "operations");
	lose(new_file(), "file");
	point->x = point->y = point->z = n;
	point->first = new_item(NULL, 4);
	strcpy(point->label, "here");
	lose(point, "point_t");
	request->file = new_file();
	request->headers[0].key = text("Content-Type");
	request->headers[0].value = text("text/plain");
	request->items[1].name = text("inside");
	lose(request, "request");
	entry->value.text = text("a value");
	entry->owner = text("root");
	entry->hash = 0x12345678;
	lose(entry, "entry");
	counters->reads = n;
	lose(counters, "counters");
	session->user = text("alice");
	session->host = text("example.org");
	session->log = new_file();
	session->begun = 1700000000;
	lose(session, "session");
	ring->next = malloc(sizeof(*ring));
	ring->previous = ring->next;
	ring->number = 1;
	ring->next->next = ring->next->previous = NULL;
	ring->next->number = 2;
	lose(ring, "ring");
	matrix->rows = matrix->columns = 4;
	matrix->cells = calloc(16, sizeof(double));
	matrix->cells[3] = 0.5;
	lose(matrix, "matrix");
}

/* Blocks of the same sizes that are no structures. */
static __attribute__((noinline)) void
lose_others(int n)
{
	static const size_t sizes[] = { 24, 40, 56, 72, 104, 200, 300 };
	uint32_t random = (uint32_t)n;
	size_t i, j;

	for (i = 0; i < sizeof(sizes) / sizeof(*sizes); i++) {
		unsigned char *bytes = malloc(sizes[i]);
		long *numbers = calloc(1, sizes[i]);
		void **pointers = calloc(1, sizes[i]);

		for (j = 0; j < sizes[i]; j++) {
			random = random * 1664525 + 1013904223;
			bytes[j] = (unsigned char)(random >> 24);
		}
		for (j = 0; j < sizes[i] / sizeof(long); j++)
			numbers[j] = (long)j * n;
		for (j = 0; j < sizes[i] / sizeof(void *); j++)
			pointers[j] = calloc(1, 24);
		lose(bytes, "?");
		lose(numbers, "?");
		lose(pointers, "?");
	}
}

int
main(int argc, char **argv)
{
	(void)argv;
	lose_structures(1);
	lose_others(77);
	return tell_lost(argc);
}
