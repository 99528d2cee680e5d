#include "lib/watch/rounds.h"

#include <bsd/string.h>
#include <string.h>

#include "lib/term/human.h"
#include "lib/writers/json_values.h"
#include "mu/sort.h"

/*
 * How LINE grew over COUNT rounds. Returns false if it has no more blocks after
 * the last one.
 */
static bool
find_manner(const struct mu_series_line *line, size_t count,
    enum mu_rounds_manner *manner)
{
	const uint64_t *blocks = line->blocks;
	uint64_t last = blocks[count] - blocks[count - 1];
	bool each = true, same = true;
	size_t i;

	if (blocks[count] <= blocks[0])
		return false;
	for (i = 1; i <= count; i++) {
		each &= blocks[i] > blocks[i - 1];
		same &= i == 1 || blocks[i] - blocks[i - 1] == last;
	}
	same &= blocks[count] > blocks[count - 1];
	if (count >= 2 && same && blocks[1] - blocks[0] == last)
		*manner = MU_ROUNDS_EXACT;
	else if (count >= 3 && same)
		*manner = MU_ROUNDS_AFTER;
	else if (count >= 2 && each)
		*manner = MU_ROUNDS_EACH;
	else
		*manner = MU_ROUNDS_SOME;
	return true;
}

static int
compare_left(const void *a, const void *b)
{
	const struct mu_rounds_left *x = a, *y = b;

	if (x->manner != y->manner)
		return x->manner < y->manner ? -1 : 1;
	if (x->kind != y->kind)
		return x->kind < y->kind ? -1 : 1;
	if (x->bytes != y->bytes)
		return x->bytes > y->bytes ? -1 : 1;
	return strcmp(x->name, y->name);
}

static void
add_left(struct mu_rounds *rounds, const struct mu_rounds_left *left)
{
	struct mu_rounds_left *last = &rounds->left[MU_ROUNDS_LEFT - 1];

	if (rounds->num_left < MU_ROUNDS_LEFT)
		last = &rounds->left[rounds->num_left++];
	else if (compare_left(left, last) > 0)
		return;
	*last = *left;
	mu_sort(rounds->left, rounds->num_left, sizeof(*last), compare_left);
}

static uint64_t
gain(uint64_t before, uint64_t after)
{
	return after > before ? after - before : 0;
}

void
mu_rounds_compare(const struct mu_series *series, struct mu_rounds *rounds)
{
	const struct mu_series_line *line;
	struct mu_rounds_left left;
	size_t i, from, last;

	memset(rounds, 0, sizeof(*rounds));
	if (series->count < 2)
		return;
	last = rounds->count = series->count - 1;
	for (i = 0; i < series->num_lines; i++) {
		line = &series->lines[i];
		if (line->kind == MU_WATCH_HELD ||
		    !find_manner(line, last, &left.manner))
			continue;
		from = left.manner == MU_ROUNDS_SOME ? 0 : last - 1;
		left.kind = line->kind;
		left.blocks = gain(line->blocks[from], line->blocks[last]);
		left.bytes = gain(line->values[from], line->values[last]);
		strlcpy(left.name, line->name, sizeof(left.name));
		add_left(rounds, &left);
		rounds->leak |=
		    left.kind == MU_WATCH_LOST && left.manner != MU_ROUNDS_SOME;
	}
}

/* "3 blocks, 216 bytes in each round  lost  Session" */
static void
put_left(const struct mu_out *out, const struct mu_rounds_left *left)
{
	static const char *const manners[] = {
		[MU_ROUNDS_EXACT] = "in each round",
		[MU_ROUNDS_AFTER] = "in each round but the first",
		[MU_ROUNDS_EACH] = "in the last round, some in each",
		[MU_ROUNDS_SOME] = "in all rounds together",
	};

	mu_put(out,
	    "  %s  %llu block%s, %s %s: ", mu_watch_kind_name(left->kind),
	    (unsigned long long)left->blocks, left->blocks == 1 ? "" : "s",
	    mu_human_bytes(left->bytes).text, manners[left->manner]);
	mu_put_safe(out, left->name);
	mu_put(out, "\n");
}

void
mu_rounds_text(const struct mu_out *out, const struct mu_rounds *rounds)
{
	size_t i;

	if (rounds->count == 0) {
		mu_put(out, "no round was looked at\n");
		return;
	}
	mu_put(out, "%zu round%s left behind%s\n", rounds->count,
	    rounds->count == 1 ? "" : "s",
	    rounds->num_left == 0 ? " nothing" : ":");
	for (i = 0; i < rounds->num_left; i++)
		put_left(out, &rounds->left[i]);
}

static json_t *
left_object(const struct mu_rounds_left *left)
{
	static const char *const manners[] = {
		[MU_ROUNDS_EXACT] = "exact",
		[MU_ROUNDS_AFTER] = "exact_but_first",
		[MU_ROUNDS_EACH] = "each",
		[MU_ROUNDS_SOME] = "some",
	};
	json_t *object = json_object();
	bool ok = true;

	ok &= mu_json_set(object, "name", mu_json_text(left->name));
	ok &= mu_json_set(
	    object, "kind", json_string(mu_watch_kind_name(left->kind)));
	ok &= mu_json_set(object, "manner", json_string(manners[left->manner]));
	ok &= mu_json_set(object, "blocks", mu_json_count(left->blocks));
	ok &= mu_json_set(object, "bytes", mu_json_count(left->bytes));
	return mu_json_done(object, ok);
}

json_t *
mu_rounds_json(const struct mu_rounds *rounds)
{
	json_t *array = json_array();
	bool ok = array != NULL;
	size_t i;

	for (i = 0; ok && i < rounds->num_left; i++)
		ok = json_array_append_new(
			 array, left_object(&rounds->left[i])) == 0;
	return mu_json_done(array, ok);
}
