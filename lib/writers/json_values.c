#include "lib/writers/json_values.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/term/safe_text.h"

bool
mu_json_set(json_t *object, const char *key, json_t *value)
{
	return json_object_set_new(object, key, value) == 0;
}

json_t *
mu_json_done(json_t *value, bool ok)
{
	if (ok)
		return value;
	json_decref(value);
	return NULL;
}

/* json_int_t is 64 bits, signed; no size of memory or time gets there. */
json_t *
mu_json_count(uint64_t count)
{
	return json_integer(count > INT64_MAX ? INT64_MAX : (json_int_t)count);
}

json_t *
mu_json_address(uintptr_t address)
{
	char text[32];

	snprintf(text, sizeof(text), "0x%lx", (unsigned long)address);
	return json_string(text);
}

json_t *
mu_json_text(const char *text)
{
	size_t size = MU_SAFE_SIZE(strlen(text));
	char *safe = malloc(size);
	json_t *value = NULL;

	if (safe != NULL)
		value = json_string(mu_safe_for_json(text, safe, size));
	free(safe);
	return value;
}

json_t *
mu_json_name(const char *name)
{
	return name == NULL || name[0] == '\0' ? json_null()
					       : mu_json_text(name);
}

static json_t *
arena_object(const struct mu_arena_usage *arena)
{
	json_t *object = json_object();
	bool ok = true;

	ok &= mu_json_set(object, "address", mu_json_address(arena->address));
#define SET(field) \
	ok &= mu_json_set(object, #field, mu_json_count(arena->field))
	SET(span);
	SET(live);
	SET(bins);
	SET(tcache);
	SET(top);
#undef SET
	return mu_json_done(object, ok);
}

static json_t *
arenas_array(const struct mu_heap_usage *usage)
{
	json_t *arenas = json_array();
	bool ok = arenas != NULL;
	size_t i;

	for (i = 0; ok && i < usage->num_arenas; i++)
		ok = json_array_append_new(
			 arenas, arena_object(&usage->arenas[i])) == 0;
	return mu_json_done(arenas, ok);
}

json_t *
mu_json_heap(const struct mu_heap_usage *usage)
{
	json_t *heap;
	bool ok = true;

	if (mu_usage_held(usage) == 0)
		return json_null();
	heap = json_object();
	ok &= mu_json_set(heap, "verdict",
	    json_string(mu_verdict_name(mu_usage_judge(usage))));
#define SET(field) ok &= mu_json_set(heap, #field, mu_json_count(usage->field))
	SET(live_reachable);
	SET(live_unreachable);
	SET(free_held);
	SET(mmapped);
	SET(mmapped_live);
#undef SET
	ok &= mu_json_set(heap, "arenas", arenas_array(usage));
	return mu_json_done(heap, ok);
}
