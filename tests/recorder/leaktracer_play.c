/*
 * A program without knowledge of LeakTracer that does what its arguments say:
 * lose SIZE, chain SIZE (two blocks, one refers to the other), free SIZE,
 * reachable SIZE, fork N (the next N arguments are the child's), thread N, out
 * TEXT, wait (for a byte of standard input), exit STATUS, quit STATUS (by
 * _exit()).
 */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

static void *volatile sink;
static void *volatile held[64];
static size_t num_held;

struct words {
	char **words;
	int count;
};

static void *obey(void *arg);

static void
lose(size_t size)
{
	char *block = malloc(size);

	memset(block, 'A' + (int)(size % 26), size);
	sink = block;
	sink = NULL;
}

static void
lose_chain(size_t size)
{
	void *volatile *first = malloc(size);

	*first = calloc(1, size + 1);
	sink = (void *)first;
	sink = NULL;
}

static void
in_thread(struct words words)
{
	pthread_t thread;

	pthread_create(&thread, NULL, obey, &words);
	pthread_join(thread, NULL);
}

static void
in_child(struct words words)
{
	pid_t child = fork();

	if (child == 0) {
		obey(&words);
		exit(0);
	}
	waitpid(child, NULL, 0);
}

static void
do_word(const char *verb, const char *object)
{
	char byte;

	if (strcmp(verb, "lose") == 0)
		lose((size_t)atol(object));
	else if (strcmp(verb, "chain") == 0)
		lose_chain((size_t)atol(object));
	else if (strcmp(verb, "free") == 0)
		free(malloc((size_t)atol(object)));
	else if (strcmp(verb, "reachable") == 0)
		held[num_held++] = malloc((size_t)atol(object));
	else if (strcmp(verb, "out") == 0)
		fputs(object, stdout);
	else if (strcmp(verb, "wait") == 0) {
		if (write(1, "ready\n", 6) != 6 || read(0, &byte, 1) != 1)
			_exit(9);
	} else if (strcmp(verb, "exit") == 0)
		exit(atoi(object));
	else if (strcmp(verb, "quit") == 0)
		_exit(atoi(object));
}

static void *
obey(void *arg)
{
	struct words *words = arg, others;
	int i;

	for (i = 0; i + 1 < words->count; i += 2) {
		others.words = words->words + i + 2;
		others.count = atoi(words->words[i + 1]);
		if (strcmp(words->words[i], "thread") == 0)
			in_thread(others);
		else if (strcmp(words->words[i], "fork") == 0)
			in_child(others);
		else {
			do_word(words->words[i], words->words[i + 1]);
			continue;
		}
		i += others.count;
	}
	return NULL;
}

int
main(int argc, char **argv)
{
	struct words words = { argv + 1, argc - 1 };

	obey(&words);
	return 0;
}
