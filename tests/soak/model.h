/*
 * The blocks that the soak loses, and what an answer must therefore contain.
 *
 * All of them are made before any thread is, where nothing has ever been, and
 * their addresses are in one table: to lose them is to wipe a part of it. Each
 * group has one block more that only its first one leads to.
 */
#ifndef TESTS_SOAK_MODEL_H
#define TESTS_SOAK_MODEL_H

#include "tests/soak/soaker.h"

#define GROUP 4 /* blocks; the last is referenced by the one before */
#define MAX_LOST 1024
#define BIG_SIZE 150000 /* mmapped */

struct model {
	uintptr_t hidden[MAX_LOST]; /* ascending, so the addresses descend */
	size_t lost;                /* the first so many; whole groups */
	bool seen[MAX_LOST];
	size_t held; /* in a child: not found, for the stack of main() */
	pthread_mutex_t lock; /* held to change LOST, and to fork */
};

static struct model model = { .lock = PTHREAD_MUTEX_INITIALIZER };
static void *volatile kept[MAX_LOST]; /* the one place that leads to them */

LIVE bool
is_inner(size_t i)
{
	return i % GROUP == GROUP - 1;
}

static int
compare_hidden(const void *a, const void *b)
{
	uintptr_t x = *(const uintptr_t *)a, y = *(const uintptr_t *)b;

	return (x > y) - (x < y);
}

/* Blocks FROM to TO are what the table has, or what it has no longer. */
LIVE void
model_keep(size_t from, size_t to, bool keep)
{
	for (; from < to; from++)
		if (!is_inner(from))
			kept[from] =
			    keep ? mu_reveal(model.hidden[from]) : NULL;
}

LIVE void
model_open(struct soaker *soaker)
{
	size_t i, size;

	for (i = 0; i < MAX_LOST; i++) {
		size = i % 64 == 0 ? BIG_SIZE : 16 + roll(soaker, 2000);
		model.hidden[i] = block_new(size);
	}
	qsort(model.hidden, MAX_LOST, sizeof(model.hidden[0]), compare_hidden);
	for (i = 0; i < MAX_LOST; i++)
		if (is_inner(i))
			block_link(model.hidden[i - 1], 8, model.hidden[i]);
	model_keep(0, MAX_LOST, true);
}

/* Lose another group; when there is none left, take all of them back. */
LIVE void
model_step(void)
{
	pthread_mutex_lock(&model.lock);
	if (model.lost < MAX_LOST) {
		model_keep(model.lost, model.lost + GROUP, false);
		model.lost += GROUP;
	} else {
		model.lost = 0;
		model_keep(0, MAX_LOST, true);
	}
	pthread_mutex_unlock(&model.lock);
}

/* The index in the model; MAX_LOST: not a block of the model. */
LIVE size_t
model_find(uintptr_t hidden)
{
	uintptr_t *found = bsearch(&hidden, model.hidden, MAX_LOST,
	    sizeof(model.hidden[0]), compare_hidden);

	return found == NULL ? MAX_LOST : (size_t)(found - model.hidden);
}

/* Is this entry one that may be there? OTHERS: blocks that are not ours, too.
 */
LIVE bool
entry_is_right(const struct Leak *leak, bool others)
{
	size_t i = model_find(mu_hide((void *)leak->begin)), inner;

	if (i == MAX_LOST)
		return others;
	inner = is_inner(i + 1);
	if (i >= model.lost || is_inner(i) || model.seen[i] ||
	    leak->referenced_count != inner || leak->size < 16)
		return false;
	model.seen[i] = true;
	return true;
}

/* Count the references that are not on the stack of main(). */
LIVE bool
tell_reference(void *ctx, const struct MemunreachableReference *reference)
{
	size_t *others = ctx;
	char text[512];

	if (strcmp(reference->path, "[stack]") == 0)
		return true;
	++*others;
	memunreachable_format_reference(reference, text, sizeof(text));
	fprintf(stderr, "    held by %s%s\n", text,
	    reference->kind == MEMUNREACHABLE_REFERENCE_BLOCK &&
		    !reference->reachable
		? " (lost as well)"
		: "");
	return true;
}

/*
 * In the child of another thread main() has no sp, and all of its stack counts:
 * also what the comparison of an answer has left there.
 */
LIVE bool
is_on_old_stack(uintptr_t hidden)
{
	size_t others = 0;
	ptrdiff_t count = memunreachable_why_reachable(
	    mu_reveal(hidden), tell_reference, &others);

	if (count <= 0)
		fprintf(stderr, "    nothing holds it: %td\n", count);
	return count > 0 && others == 0;
}

/*
 * Does the answer say of no block that it is lost that is not, and, if it is
 * complete, name all that are? OTHERS: in a child of fork() whatever the
 * other threads held is lost as well.
 */
LIVE bool
model_agrees(const struct UnreachableMemoryInfo *info, bool others)
{
	bool complete = info->status == MEMUNREACHABLE_COMPLETE;
	size_t i;

	memset(model.seen, 0, sizeof(model.seen));
	for (i = 0; i < info->num_reported; i++)
		if (!entry_is_right(&info->leaks[i], others)) {
			wrong("%#zx of %zu bytes is not lost, or not so",
			    (size_t)info->leaks[i].begin, info->leaks[i].size);
			return false;
		}
	for (i = 0; complete && i < model.lost; i++)
		if (!model.seen[i] && !is_inner(i)) {
			if (others && is_on_old_stack(model.hidden[i])) {
				model.held++;
				continue;
			}
			wrong("%#zx is lost, and not found",
			    (size_t)mu_reveal(model.hidden[i]));
			return false;
		}
	if (others || info->num_leaks == model.lost ||
	    (!complete && info->num_leaks < model.lost))
		return true;
	wrong("%zu blocks are lost, %zu found", model.lost, info->num_leaks);
	return false;
}

#endif
