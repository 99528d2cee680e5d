#include "lib/explain/collections.h"

#include <stdio.h>
#include <string.h>

#include "heapwalk/explain/keyed.h"
#include "lib/explain/holdings.h"
#include "mu/hash.h"
#include "mu/sort.h"

#define WORD sizeof(uintptr_t)
#define PATHS ((size_t)1 << 12)
#define SHOWN ((size_t)128)
#define NAME_SIZE 160         /* bytes of a path */
#define LEAST 8               /* elements; fewer are no collection */
#define HOLDINGS ((size_t)32) /* words that hold what has no path */
#define PYTHON ((size_t)128)  /* containers of CPython */

_Static_assert(PATHS < UINT16_MAX, "path of a block");

struct path {
	uint32_t parent;  /* an earlier one; the first path is no path */
	uint32_t part_of; /* the path that has all of these, too; or 0 */
	const char *name;
	mu_declared_id type; /* of its elements; 0: not known */
	size_t elements, bytes;
};

/* By what a path is found again. */
struct step {
	uint64_t key; /* of the parent and the name */
	uint32_t path;
};

/* A block whose pointers are to be followed. */
struct held_block {
	uint32_t number;
	uint32_t path;
};

struct collecting {
	struct mu_explaining *explaining;
	const struct mu_blocks *blocks;
	struct mu_arena *arena;
	struct path *paths;
	size_t num_paths, max_paths;
	struct mu_keyed steps; /* struct step */
	uint16_t *of;          /* by block number: its path; 0: none yet */
	struct held_block *stack;
	size_t count, max;
	bool no_memory;
};

static bool
is_inside(const char *part)
{
	return strncmp(part, "_M_", 3) == 0 || strncmp(part, "__", 2) == 0;
}

/* NAME without the parts that only containers of the C++ library have. */
static void
take_name(const char *name, char *to, size_t size)
{
	size_t length, used = 0;

	for (to[0] = '\0'; name != NULL && *name != '\0'; name += length) {
		name += *name == '.';
		length = strcspn(name, ".");
		if (length == 0 || is_inside(name) || used + length + 2 > size)
			continue;
		used += (size_t)snprintf(to + used, size - used, "%s%.*s",
		    used > 0 ? "." : "", (int)length, name);
	}
}

/* The path by NAME from PARENT; that one itself if it has no name, or there is
 * no room. */
static uint32_t
path_of(struct collecting *collecting, uint32_t parent, const char *name)
{
	char text[NAME_SIZE];
	struct step *step;
	uint64_t key;
	bool added;

	take_name(name, text, sizeof(text));
	if (text[0] == '\0')
		return parent;
	key = mu_hash_bytes(text, strlen(text)) * 31 + parent;
	step = mu_keyed_add(&collecting->steps, key | 1, &added);
	if (step == NULL)
		return parent;
	if (!added)
		return step->path;
	if (!mu_arena_room(collecting->arena, collecting->paths,
		collecting->num_paths, collecting->max_paths, 256)) {
		collecting->no_memory = true;
		return parent;
	}
	step->path = (uint32_t)collecting->num_paths++;
	collecting->paths[step->path] = (struct path) {
		.parent = parent,
		.name = mu_places_keep(&collecting->explaining->places, text),
	};
	return step->path;
}

/* Elements of TYPE further down are of the path that has such ones. */
static uint32_t
path_with(
    const struct collecting *collecting, uint32_t path, mu_declared_id type)
{
	for (; type != 0 && path != 0; path = collecting->paths[path].parent)
		if (collecting->paths[path].type == type)
			return path;
	return 0;
}

/* The path that PATH is a part of; or itself. */
static uint32_t
whole_of(const struct collecting *collecting, uint32_t path)
{
	while (collecting->paths[path].part_of != 0)
		path = collecting->paths[path].part_of;
	return path;
}

/* The path that has what PATH has, too; 0: none. */
static uint32_t
above(const struct collecting *collecting, uint32_t path)
{
	const struct path *item = &collecting->paths[path];

	return item->part_of != 0 ? item->part_of : item->parent;
}

/*
 * An element of FROM leads to one of TO, of the same type: some variable leads
 * into the middle of a list, and was looked at before the list's own.
 */
static void
join(struct collecting *collecting, uint32_t from, uint32_t to)
{
	uint32_t path;

	if (from == to ||
	    collecting->paths[from].type != collecting->paths[to].type ||
	    collecting->paths[from].type == 0)
		return;
	from = whole_of(collecting, from);
	to = whole_of(collecting, to);
	for (path = from; path != 0; path = above(collecting, path))
		if (path == to)
			return;
	collecting->paths[to].part_of = from;
}

static bool
is_pointers(const struct mu_live_type *type, const struct mu_declared *declared)
{
	return type->stride > 0 && declared != NULL && declared->scalar;
}

/* A block of SIZE bytes counts for PATH. */
static void
count_block(struct path *path, size_t size, const struct mu_live_type *type,
    const struct mu_declared *declared)
{
	path->bytes += size;
	if (is_pointers(type, declared) || type->content)
		return;
	if (path->type == 0)
		path->type = type->id;
	if (type->stride == 0)
		path->elements++;
	else
		path->elements +=
		    type->elements > 0 ? type->elements : size / type->stride;
}

/* A word with VALUE at FIELD leads from PATH on. */
static void
follow(struct collecting *collecting, uint32_t from, const char *field,
    uintptr_t value)
{
	const struct mu_live_types *live = &collecting->explaining->types;
	const struct mu_live_type *type;
	const struct mu_declared *declared;
	struct mu_block block;
	uint32_t path;

	if (!mu_range_has(collecting->blocks->envelope, value) ||
	    !mu_blocks_find(collecting->blocks, value, &block) ||
	    block.range.begin != value || !mu_block_marked(&block))
		return;
	if (collecting->of[block.number] != 0) {
		join(collecting, from, collecting->of[block.number]);
		return;
	}
	type = mu_live_type_of(live, block.number);
	declared = mu_declared_types_known(
	    &collecting->explaining->typed.types, type->id);
	path = is_pointers(type, declared)
	    ? 0
	    : path_with(collecting, from, type->id);
	if (path == 0)
		path = path_of(collecting, from, field);
	collecting->of[block.number] = (uint16_t)path;
	count_block(&collecting->paths[path], mu_range_size(block.range), type,
	    declared);
	if (declared == NULL || declared->num_fields == 0)
		return;
	if (mu_arena_room(collecting->arena, collecting->stack,
		collecting->count, collecting->max, 4096))
		collecting->stack[collecting->count++] =
		    (struct held_block) { block.number, path };
	else
		collecting->no_memory = true;
}

/* Follow the pointers of the object of DECLARED in the SIZE bytes at VIEW. */
static void
follow_all(struct collecting *collecting, uint32_t path,
    const struct mu_declared *declared, const char *view, size_t size)
{
	const struct mu_declared_field *field = declared->fields;
	uintptr_t value;
	size_t i, j, at;

	for (i = 0; i < declared->num_fields; i++, field++)
		for (j = 0; !field->one_of && field->offset >= 0 &&
		     (j == 0 || (j < field->count && field->stride > 0));
		     j++) {
			at = (size_t)field->offset + j * field->stride;
			if (at > size || size - at < WORD)
				break;
			memcpy(&value, view + at, WORD);
			follow(collecting, path, field->name, value);
		}
}

static void
visit_block(struct collecting *collecting, const struct held_block *held)
{
	const struct mu_live_type *type =
	    mu_live_type_of(&collecting->explaining->types, held->number);
	const struct mu_declared *declared = mu_declared_types_known(
	    &collecting->explaining->typed.types, type->id);
	struct mu_block block;
	size_t at, size, step;

	if (!mu_blocks_at(collecting->blocks, held->number, &block))
		return;
	size = mu_range_size(block.range);
	step = type->stride > 0 ? type->stride : size;
	for (at = 0; step > 0 && size - at >= step; at += step) {
		follow_all(
		    collecting, held->path, declared, block.view + at, step);
		mu_deadline_passed(
		    &collecting->explaining->deadline, declared->num_fields);
	}
}

/* A local may have a value that it had before. */
static const char *
name_local(const struct mu_typed_variable *variable, char *name)
{
	snprintf(name, NAME_SIZE, "probably %s(): %s", variable->function,
	    variable->name == NULL ? "?" : variable->name);
	return name;
}

static void
visit_variable(
    struct collecting *collecting, const struct mu_typed_variable *variable)
{
	const struct mu_declared *declared = mu_declared_types_known(
	    &collecting->explaining->typed.types, variable->type);
	const struct mu_snapshot *snap = collecting->explaining->snap;
	char name[NAME_SIZE];
	struct held_block held;
	const char *view;
	uint32_t path;

	if (variable->reference || declared == NULL || declared->size == 0)
		return;
	view = mu_snapshot_view(snap, variable->range.begin, declared->size);
	path = variable->function == NULL
	    ? path_of(collecting, 0, variable->name)
	    : path_of(collecting, 0, name_local(variable, name));
	if (view == NULL || path == 0)
		return;
	follow_all(collecting, path, declared, view, declared->size);
	while (collecting->count > 0 && !collecting->no_memory &&
	    !collecting->explaining->deadline.passed) {
		held = collecting->stack[--collecting->count];
		visit_block(collecting, &held);
	}
}

/* What both lead to is of a variable that is no local. */
static void
visit_variables(struct collecting *collecting, bool local)
{
	const struct mu_typed *typed = &collecting->explaining->typed;
	size_t i;

	for (i = 0; i < typed->count && !collecting->no_memory &&
	     !collecting->explaining->deadline.passed;
	     i++)
		if ((typed->variables[i].function != NULL) == local)
			visit_variable(collecting, &typed->variables[i]);
}

/* "cache.sessions"; what is part of a path has its name; false: too long. */
static bool
full_name(const struct collecting *collecting, uint32_t path, char *name)
{
	const size_t size = NAME_SIZE;
	const struct path *item;
	size_t at = size - 1, length;

	name[at] = '\0';
	for (; path != 0; path = above(collecting, path)) {
		item = &collecting->paths[path];
		if (item->part_of != 0)
			continue;
		length = item->name == NULL ? at : strlen(item->name);
		if (length + 1 > at)
			return false;
		if (at < size - 1)
			name[--at] = '.';
		at -= length;
		memcpy(name + at, item->name, length);
	}
	memmove(name, name + at, size - at);
	return name[0] != '\0';
}

static int
compare(const void *a, const void *b)
{
	const struct mu_collection *x = a, *y = b;

	if (x->bytes != y->bytes)
		return x->bytes > y->bytes ? -1 : 1;
	return strcmp(x->name, y->name);
}

/* What each path has by itself counts for all that have it, too. */
static void
add_up(const struct collecting *collecting, struct mu_collection *all)
{
	const struct path *item;
	uint32_t i, path;

	for (i = 1; i < collecting->num_paths; i++) {
		item = &collecting->paths[i];
		all[whole_of(collecting, i)].elements += item->elements;
		for (path = i; path != 0; path = above(collecting, path))
			all[path].bytes += item->bytes;
	}
}

static enum mu_status
take_paths(struct collecting *collecting)
{
	struct mu_explained *out = collecting->explaining->out;
	struct mu_collection *all;
	char name[NAME_SIZE];
	struct mu_python_held python;
	enum mu_status status;
	size_t count = 0;
	uint32_t i;

	all = mu_arena_alloc(&out->arena,
	    collecting->num_paths + PYTHON + HOLDINGS, sizeof(*all));
	if (all == NULL)
		return MU_ERR_NO_MEMORY;
	add_up(collecting, all);
	for (i = 1; i < collecting->num_paths; i++) {
		if (all[i].elements < LEAST || !full_name(collecting, i, name))
			continue;
		all[count] = all[i];
		all[count].name =
		    mu_places_keep(&collecting->explaining->places, name);
		if (all[count++].name == NULL)
			return MU_ERR_NO_MEMORY;
	}
	status = mu_python_paths_add(
	    collecting->explaining, all, &count, count + PYTHON, &python);
	if (status != MU_OK)
		return status;
	status = mu_holdings_add(collecting->explaining, collecting->of,
	    &python, all, &count, count + HOLDINGS);
	if (count > 0)
		mu_sort(all, count, sizeof(*all), compare);
	out->collections = all;
	out->num_collections = count < SHOWN + PYTHON ? count : SHOWN + PYTHON;
	return status;
}

enum mu_status
mu_collections_explain(struct mu_explaining *explaining)
{
	struct collecting collecting = {
		.explaining = explaining,
		.blocks = &explaining->heap->blocks,
		.arena = explaining->tables,
		.steps = { .arena = explaining->tables,
		    .size = sizeof(struct step),
		    .first = PATHS * 2,
		    .most = PATHS },
	};

	collecting.of = mu_arena_alloc_table(collecting.arena,
	    collecting.blocks->count + 1, sizeof(*collecting.of));
	if (collecting.of == NULL ||
	    !mu_arena_room(collecting.arena, collecting.paths,
		collecting.num_paths, collecting.max_paths, 256))
		return MU_ERR_NO_MEMORY;
	collecting.paths[collecting.num_paths++] =
	    (struct path) { .parent = 0 };
	visit_variables(&collecting, false);
	visit_variables(&collecting, true);
	if (explaining->deadline.passed)
		return MU_ERR_TIMEOUT;
	return collecting.no_memory ? MU_ERR_NO_MEMORY
				    : take_paths(&collecting);
}
