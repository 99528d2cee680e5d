/* What the tests of bodies.def share. */
#ifndef TRUTH_BODIES_H
#define TRUTH_BODIES_H

#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

struct node {
	struct node *next;
	int value;
	char text[20];
};

static char *kept[4];
static struct node *list;

/* The compiler must keep the allocation. */
static inline void
use(void *p)
{
	__asm__ volatile("" : : "r"(p) : "memory");
}

static void
push(struct node **head, int value)
{
	struct node *node = (struct node *)malloc(sizeof(*node));

	node->next = *head;
	node->value = value;
	snprintf(node->text, sizeof(node->text), "node %d", value);
	*head = node;
}

static void
free_list(struct node *node)
{
	struct node *next;

	for (; node != NULL; node = next) {
		next = node->next;
		free(node);
	}
}

static void
deep(int depth, bool frees)
{
	char name[64], *copy;

	snprintf(name, sizeof(name), "at depth %d", depth);
	if (depth > 0) {
		deep(depth - 1, frees);
		use(name);
		return;
	}
	copy = strdup(name);
	use(copy);
	if (frees)
		free(copy);
}

static char **
new_table(size_t rows)
{
	char **table = (char **)malloc(rows * sizeof(*table)), text[40];
	size_t i;

	for (i = 0; i < rows; i++) {
		snprintf(text, sizeof(text), "row %zu of a table", i);
		table[i] = strdup(text);
	}
	return table;
}

static void
free_table(char **table, size_t rows)
{
	while (rows > 0)
		free(table[--rows]);
	free(table);
}

static void *
thread_frees(void *arg)
{
	char *p = strdup("of a thread");

	use(p);
	free(p);
	return arg;
}

static void *
thread_loses(void *arg)
{
	use(strdup("lost by a thread"));
	return arg;
}

static void
in_thread(void *(*body)(void *))
{
	pthread_t thread;

	if (pthread_create(&thread, NULL, body, NULL) == 0)
		pthread_join(thread, NULL);
}

static int
compare(const void *a, const void *b)
{
	return *(const int *)a - *(const int *)b;
}

static char *
read_line(void)
{
	FILE *stream = fopen("/proc/self/status", "r");
	char *line = NULL;
	size_t size = 0;

	if (stream == NULL || getline(&line, &size, stream) < 0)
		abort();
	fclose(stream);
	return line;
}

/* A child that ends has lost what it likes. */
static void
use_child(void)
{
	pid_t pid = fork();

	if (pid == 0) {
		use(strdup("lost by a child"));
		_exit(0);
	}
	waitpid(pid, NULL, 0);
}

static void
use_key(void)
{
	static pthread_key_t key;

	pthread_key_create(&key, free);
	pthread_setspecific(key, strdup("of a key"));
}

#endif
