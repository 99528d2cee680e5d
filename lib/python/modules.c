#include "lib/python/modules.h"

#include <string.h>

#include "lib/python/key.h"

#define WORD sizeof(uintptr_t)
#define STATE_WORDS ((size_t)256)
#define STATE_LEAST ((size_t)64) /* bytes */
#define FIRST 16                 /* "sys" is one of the first modules */

/* The file NAME, or one whose name goes on. */
static bool
is_file(const char *path, const char *name)
{
	const char *slash = strrchr(path, '/');

	return slash != NULL && strncmp(slash, name, strlen(name)) == 0;
}

static struct mu_range
find_variables(const struct mu_snapshot *snap, const char *name)
{
	const struct mu_mapping *mapping = snap->mappings;
	const struct mu_mapping *end = mapping + snap->num_mappings;
	struct mu_range range = { 0, 0 };

	for (; mapping < end; mapping++) {
		if (mapping->writable && is_file(mapping->name, name) &&
		    !mapping->shared) {
			if (range.begin == 0)
				range.begin = mapping->range.begin;
			range.end = mapping->range.end;
		} else if (range.begin != 0) {
			/* Variables that are 0 at first have no file. */
			if (mapping->range.begin == range.end &&
			    mapping->writable && mapping->name[0] == '\0')
				range.end = mapping->range.end;
			break;
		}
	}
	return range;
}

/* The program has none if there is a library. */
struct mu_range
mu_python_variables(const struct mu_snapshot *snap)
{
	struct mu_range range = find_variables(snap, "/libpython3.");

	return range.begin != 0 ? range : find_variables(snap, "/python3");
}

struct finding {
	const struct mu_snapshot *snap;
	struct mu_python_classes *classes;
	struct mu_python_visit *visit;
	size_t left; /* keys that are still to be looked at */
	bool found;
};

static void
compare_name(void *ctx, enum mu_python_way way, uintptr_t key, uintptr_t value)
{
	struct finding *finding = ctx;
	struct mu_python_seen module;
	char name[MU_PYTHON_KEY];

	finding->found |= way == MU_PYTHON_ELEMENT &&
	    mu_python_attribute_text(finding->snap, key, name) &&
	    strcmp(name, "sys") == 0 &&
	    mu_python_see(finding->classes, value, &module) &&
	    module.class.kind == MU_PYTHON_MODULE;
	finding->visit->stop = finding->found || --finding->left == 0;
}

static void
ignore(void *ctx, const struct mu_python_seen *dict)
{
	(void)ctx;
	(void)dict;
}

/* True if there is a dictionary at ADDRESS, and SYS is one of its modules. */
static bool
is_modules(struct mu_python_classes *classes, uintptr_t address,
    struct mu_range variables, struct mu_python_seen *modules)
{
	struct finding finding = {
		.snap = classes->snap, .classes = classes, .left = FIRST
	};
	struct mu_python_visit visit = {
		.visit = compare_name,
		.attributes = ignore,
		.ctx = &finding,
		.most = SIZE_MAX,
	};
	uintptr_t class;

	finding.visit = &visit;
	/* The class dict is a variable, what it makes is none. */
	if (address % WORD != 0 || address == 0 ||
	    mu_range_has(variables, address) ||
	    !mu_snapshot_word(classes->snap, address + WORD, &class) ||
	    !mu_range_has(variables, class) ||
	    !mu_python_see(classes, address, modules) || !modules->class.itself)
		return false;
	mu_python_each(classes, modules, &visit);
	return finding.found;
}

static bool
search(struct mu_python_classes *classes, const struct mu_blocks *states,
    struct mu_range words, struct mu_range variables,
    struct mu_deadline *deadline, struct mu_python_seen *modules)
{
	struct mu_block block;
	struct mu_range state;
	uintptr_t at, value;

	for (at = words.begin;
	     at + WORD <= words.end && !mu_deadline_passed(deadline, 1);
	     at += WORD) {
		if (!mu_snapshot_word(classes->snap, at, &value) || value == 0)
			continue;
		if (states == NULL) {
			if (is_modules(classes, value, variables, modules))
				return true;
			continue;
		}
		if (!mu_blocks_find(states, value, &block) ||
		    block.range.begin != value ||
		    mu_range_size(block.range) < STATE_LEAST)
			continue;
		state = block.range;
		if (mu_range_size(state) > STATE_WORDS * WORD)
			state.end = state.begin + STATE_WORDS * WORD;
		if (search(classes, NULL, state, variables, deadline, modules))
			return true;
	}
	return false;
}

bool
mu_python_modules_find(struct mu_python_classes *classes,
    const struct mu_blocks *blocks, struct mu_range variables,
    struct mu_deadline *deadline, struct mu_python_seen *modules)
{
	return search(classes, NULL, variables, variables, deadline, modules) ||
	    search(classes, blocks, variables, variables, deadline, modules);
}
