#include "lib/explain/python_paths.h"

#include <bsd/string.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "heapwalk/subject/saved.h"
#include "lib/python/key.h"
#include "lib/python/modules.h"
#include "mu/hash.h"
#include "mu/sort.h"

#define MODULES ((size_t)1 << 16)
#define SAMPLE ((size_t)1024)     /* elements of one container */
#define OBJECTS ((size_t)1 << 18) /* that are visited */
#define PATHS ((size_t)1 << 16)
#define KEYED ((size_t)32)           /* keys of a dictionary with names */
#define LEAST ((size_t)8)            /* elements; fewer are no collection */
#define ATTRIBUTES ((size_t)1000)    /* fewer are no collection either */
#define NAME_SIZE ((size_t)160)      /* bytes of a path */
#define USES_MAX ((uint32_t)1 << 28) /* more: it lives for ever */
#define SLOT_NAME ((size_t)64)

struct path {
	uint64_t key; /* of the parent and the name */
	uint32_t parent;
	const char *name;
	double elements, bytes;
};

/* An object whose contents are to be visited. */
struct waiting {
	uintptr_t address;
	uint32_t path;
	float weight; /* how many objects it stands for */
};

struct seen_object {
	uint64_t address;
};

struct walk {
	struct mu_explaining *explaining;
	struct mu_python_classes classes;
	struct mu_arena *arena;
	struct mu_keyed seen;  /* struct seen_object */
	struct mu_keyed steps; /* struct step */
	struct path *paths;    /* the first one is none */
	size_t num_paths, max_paths;
	struct waiting *queue;
	size_t count, max;
	bool no_memory;

	/* What is being visited. */
	struct mu_python_visit visit;
	struct waiting from;
	bool keyed; /* its elements have names */
};

/* By what a path is found again. */
struct step {
	uint64_t key;
	uint32_t path;
};

/* The path by NAME from PARENT; 0: there is no room. */
static uint32_t
path_of(struct walk *walk, uint32_t parent, const char *name)
{
	uint64_t key = mu_hash_bytes(name, strlen(name)) * 31 + parent;
	struct step *step;
	const char *copy;
	bool added;

	step = mu_keyed_add(&walk->steps, key | 1, &added);
	if (step == NULL)
		return 0;
	if (!added)
		return step->path;
	copy = mu_places_keep(&walk->explaining->places, name);
	if (copy == NULL ||
	    !mu_arena_room(walk->arena, walk->paths, walk->num_paths,
		walk->max_paths, 1024)) {
		walk->no_memory = true;
		return 0;
	}
	step->path = (uint32_t)walk->num_paths++;
	walk->paths[step->path] =
	    (struct path) { .parent = parent, .name = copy };
	return step->path;
}

/* True if the object at ADDRESS was not met before. */
static bool
is_new(struct walk *walk, uintptr_t address)
{
	bool added;
	const struct seen_object *object =
	    mu_keyed_add(&walk->seen, address, &added);

	return object != NULL && added;
}

/* What has no name of its own, as the dictionary of an lru_cache. */
static const char *
kind_name(enum mu_python_kind kind)
{
	static const char *const names[] = {
		[MU_PYTHON_DICT] = "dict",
		[MU_PYTHON_LIST] = "list",
		[MU_PYTHON_TUPLE] = "tuple",
		[MU_PYTHON_SET] = "set",
		[MU_PYTHON_DEQUE] = "deque",
		[MU_PYTHON_MODULE] = "module",
		[MU_PYTHON_TYPE] = "type",
		[MU_PYTHON_OBJECT] = "object",
	};

	return names[kind];
}

/*
 * ".orders", "[\"alice\"]", "[]", of what the visited object has at KEY, which
 * is of KIND.
 */
static void
name_step(const struct walk *walk, enum mu_python_way way, uintptr_t key,
    enum mu_python_kind kind, char *name, size_t size)
{
	const struct mu_snapshot *snap = walk->explaining->snap;
	char text[MU_PYTHON_KEY] = "";
	size_t i;

	if (way == MU_PYTHON_ATTRIBUTE &&
	    mu_python_attribute_text(snap, key, text)) {
		snprintf(name, size, ".%s", text);
	} else if (way == MU_PYTHON_SLOT) {
		for (i = 0; i + 1 < SLOT_NAME; i++) {
			const char *byte = mu_snapshot_view(snap, key + i, 1);

			if (byte == NULL || *byte == '\0')
				break;
			text[i] = *byte;
		}
		snprintf(name, size, ".%s", text);
	} else if (way == MU_PYTHON_ELEMENT && walk->keyed &&
	    mu_python_key_text(snap, key, text)) {
		snprintf(name, size, "[%s]", text);
	} else if (way == MU_PYTHON_INSIDE) {
		snprintf(name, size, ".<%s>", kind_name(kind));
	} else {
		strlcpy(name, "[]", size);
	}
}

/* The bytes of SEEN belong to what refers to it, in equal parts. */
static void
count_plain(struct walk *walk, const struct mu_python_seen *seen)
{
	double bytes = (double)mu_python_bytes(&walk->classes, seen);

	if (seen->uses <= USES_MAX)
		walk->paths[walk->from.path].bytes += bytes *
		    (double)walk->from.weight * (double)walk->visit.step /
		    seen->uses;
}

static bool
push(struct walk *walk, const struct waiting *waiting)
{
	if (!mu_arena_room(
		walk->arena, walk->queue, walk->count, walk->max, 4096)) {
		walk->no_memory = true;
		return false;
	}
	walk->queue[walk->count++] = *waiting;
	return true;
}

/* What several refer to is not one for each of them. */
static float
weight_of(const struct walk *walk, const struct mu_python_seen *seen)
{
	return seen->uses == 1 ? walk->from.weight * (float)walk->visit.step
			       : 1;
}

/* The table of a dictionary that is no more than the attributes of an object
 * is its own. */
static void
count_attributes(void *ctx, const struct mu_python_seen *dict)
{
	struct walk *walk = ctx;
	struct path *path = &walk->paths[walk->from.path];
	size_t count = mu_python_count(dict);

	if (!is_new(walk, dict->address))
		return;
	path->bytes += (double)mu_python_bytes(&walk->classes, dict) *
	    (double)walk->from.weight;
	if (count >= ATTRIBUTES)
		path->elements += (double)count;
}

static void
follow(void *ctx, enum mu_python_way way, uintptr_t key, uintptr_t value)
{
	struct walk *walk = ctx;
	char name[MU_PYTHON_KEY + 4];
	struct mu_python_seen seen;
	struct waiting next;
	struct path *path;

	walk->visit.stop = mu_deadline_passed(&walk->explaining->deadline, 8) ||
	    walk->no_memory;
	if (walk->visit.stop || !mu_python_see(&walk->classes, value, &seen))
		return;
	if (seen.class.kind == MU_PYTHON_PLAIN) {
		count_plain(walk, &seen);
		return;
	}
	if (walk->seen.count >= OBJECTS || !is_new(walk, value))
		return;
	name_step(walk, way, key, seen.class.kind, name, sizeof(name));
	next = (struct waiting) {
		.address = value,
		.path = path_of(walk, walk->from.path, name),
		.weight = weight_of(walk, &seen),
	};
	if (next.path == 0 || !push(walk, &next))
		return;
	path = &walk->paths[next.path];
	path->bytes += (double)mu_python_bytes(&walk->classes, &seen) *
	    (double)next.weight;
	if (seen.class.kind != MU_PYTHON_TUPLE)
		path->elements +=
		    (double)mu_python_count(&seen) * (double)next.weight;
}

static void
visit_object(struct walk *walk)
{
	struct mu_python_seen seen;

	if (!mu_python_see(&walk->classes, walk->from.address, &seen))
		return;
	walk->visit.step = 1;
	walk->keyed = seen.class.kind == MU_PYTHON_DICT &&
	    mu_python_count(&seen) <= KEYED;
	mu_python_each(&walk->classes, &seen, &walk->visit);
}

/* A module, with its name. */
static void
begin_module(void *ctx, enum mu_python_way way, uintptr_t key, uintptr_t value)
{
	struct walk *walk = ctx;
	struct mu_python_seen module;
	struct waiting next = { .address = value, .weight = 1 };
	char name[MU_PYTHON_KEY];

	if (way != MU_PYTHON_ELEMENT ||
	    !mu_python_see(&walk->classes, value, &module) ||
	    module.class.kind == MU_PYTHON_PLAIN || !is_new(walk, value) ||
	    !mu_python_attribute_text(walk->explaining->snap, key, name))
		return;
	next.path = path_of(walk, 0, name);
	if (next.path == 0 || !push(walk, &next))
		return;
	/* That is first. */
	if (strcmp(name, "__main__") == 0) {
		walk->queue[walk->count - 1] = walk->queue[0];
		walk->queue[0] = next;
	}
}

static void
walk_all(struct walk *walk, const struct mu_python_seen *modules)
{
	struct mu_python_visit visit = {
		.visit = begin_module,
		.attributes = count_attributes,
		.ctx = walk,
		.most = MODULES,
	};
	size_t at;

	is_new(walk, modules->address);
	mu_python_each(&walk->classes, modules, &visit);
	walk->visit = (struct mu_python_visit) {
		.visit = follow,
		.attributes = count_attributes,
		.ctx = walk,
		.most = SAMPLE,
	};
	for (at = 0; at < walk->count && !walk->no_memory &&
	     !walk->explaining->deadline.passed;
	     at++) {
		walk->from = walk->queue[at];
		visit_object(walk);
	}
}

/* False: it is too long. */
static bool
full_name(const struct walk *walk, uint32_t path, char name[NAME_SIZE])
{
	size_t at = NAME_SIZE - 1, length;

	name[at] = '\0';
	for (; path != 0; path = walk->paths[path].parent) {
		length = strlen(walk->paths[path].name);
		if (length > at)
			return false;
		at -= length;
		memcpy(name + at, walk->paths[path].name, length);
	}
	memmove(name, name + at, NAME_SIZE - at);
	return true;
}

static int
compare(const void *a, const void *b)
{
	const struct path *x = a, *y = b;

	return (x->bytes < y->bytes) - (x->bytes > y->bytes);
}

/* What a path has counts for all that lead to it, which are before it. */
static double
add_up(struct walk *walk)
{
	double bytes = 0;
	size_t i;

	for (i = walk->num_paths - 1; i > 0; i--) {
		if (walk->paths[i].parent == 0)
			bytes += walk->paths[i].bytes;
		else
			walk->paths[walk->paths[i].parent].bytes +=
			    walk->paths[i].bytes;
	}
	return bytes;
}

static enum mu_status
take_paths(
    struct walk *walk, struct mu_collection *all, size_t *count, size_t most)
{
	struct path *taken;
	char name[NAME_SIZE];
	size_t i, num_taken = 0;

	taken = mu_arena_alloc(walk->arena, walk->num_paths, sizeof(*taken));
	if (taken == NULL)
		return MU_ERR_NO_MEMORY;
	for (i = 1; i < walk->num_paths; i++) {
		if (walk->paths[i].elements < (double)LEAST ||
		    !full_name(walk, (uint32_t)i, name))
			continue;
		taken[num_taken] = walk->paths[i];
		taken[num_taken].parent = (uint32_t)i;
		num_taken++;
	}
	if (num_taken > 0)
		mu_sort(taken, num_taken, sizeof(*taken), compare);
	for (i = 0; i < num_taken && *count < most; i++) {
		full_name(walk, taken[i].parent, name);
		all[*count] = (struct mu_collection) {
			.name = mu_places_keep(&walk->explaining->places, name),
			.elements = (size_t)taken[i].elements,
			.bytes = (size_t)taken[i].bytes,
		};
		if (all[*count].name == NULL)
			return MU_ERR_NO_MEMORY;
		++*count;
	}
	return MU_OK;
}

enum mu_status
mu_python_paths_add(struct mu_explaining *explaining, struct mu_collection *all,
    size_t *count, size_t most, struct mu_python_held *held)
{
	struct mu_arena *arena = explaining->tables;
	const struct mu_snapshot *snap = explaining->snap;
	struct mu_range variables = mu_python_variables(snap);
	struct walk walk = {
		.explaining = explaining,
		.arena = arena,
		.seen = { .arena = arena,
		    .size = sizeof(struct seen_object),
		    .first = 1 << 14,
		    .most = OBJECTS * 2 },
		.steps = { .arena = arena,
		    .size = sizeof(struct step),
		    .first = 1 << 12,
		    .most = PATHS },
	};
	struct mu_python_seen modules;

	*held = (struct mu_python_held) { .bytes = 0 };
	mu_python_classes_open(&walk.classes, snap, arena);
	if (mu_range_size(variables) == 0 || mu_snapshot_lacks_numbers(snap) ||
	    !mu_python_modules_find(&walk.classes, explaining->graph->blocks,
		variables, &explaining->deadline, &modules))
		return MU_OK;
	if (!mu_arena_room(
		arena, walk.paths, walk.num_paths, walk.max_paths, 1024))
		return MU_ERR_NO_MEMORY;
	walk.paths[walk.num_paths++] = (struct path) { .parent = 0 };
	walk_all(&walk, &modules);
	if (explaining->deadline.passed)
		return MU_ERR_TIMEOUT;
	if (walk.no_memory)
		return MU_ERR_NO_MEMORY;
	held->bytes = (size_t)add_up(&walk);
	held->variables = variables;
	return take_paths(&walk, all, count, most);
}
