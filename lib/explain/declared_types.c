#include "lib/explain/declared_types.h"

#include <string.h>

#define ASKED ((size_t)1024) /* questions at a time */
#define FIRST_ROOM ((size_t)1 << 10)
#define MOST ((size_t)1 << 20) /* types */

void
mu_declared_types_open(
    struct mu_declared_types *types, struct mu_places *places)
{
	*types = (struct mu_declared_types) { .places = places,
		.slots = { .arena = places->tables,
		    .size = sizeof(struct mu_declared_slot),
		    .first = FIRST_ROOM,
		    .most = MOST } };
}

const struct mu_declared *
mu_declared_types_get(
    struct mu_declared_types *types, mu_declared_id id, bool *asked)
{
	struct mu_declared_slot *slot;
	bool added;

	*asked = true;
	if (id == 0 || types->no_memory)
		return NULL;
	slot = mu_keyed_add(&types->slots, id, &added);
	if (slot == NULL ||
	    !mu_arena_room(types->places->tables, types->wanted,
		types->num_wanted, types->max_wanted, 256)) {
		types->no_memory = true;
		return NULL;
	}
	if (added)
		types->wanted[types->num_wanted++] = id;
	*asked = slot->asked;
	return slot->declared;
}

const struct mu_declared *
mu_declared_types_known(
    const struct mu_declared_types *types, mu_declared_id id)
{
	const struct mu_declared_slot *slot = mu_keyed_find(&types->slots, id);

	return slot == NULL ? NULL : slot->declared;
}

static void
ask_some(struct mu_declared_types *types, size_t first, size_t count)
{
	struct mu_places *places = types->places;
	struct mu_symbol_question questions[ASKED] = { { 0 } };
	struct mu_symbol_answer answers[ASKED];
	struct mu_declared_slot *slot;
	size_t i;

	memset(answers, 0, count * sizeof(*answers));
	for (i = 0; i < count; i++)
		questions[i] = (struct mu_symbol_question) {
			.address = (uintptr_t)types->wanted[first + i],
			.declared = MU_DECLARED_TYPE,
		};
	mu_symbol_helper_ask(
	    &places->helper, questions, answers, count, places->deadline_ns);
	for (i = 0; i < count; i++) {
		slot = mu_keyed_find(&types->slots, types->wanted[first + i]);
		slot->asked = true;
		slot->declared = answers[i].declared;
	}
}

bool
mu_declared_types_ask(struct mu_declared_types *types)
{
	size_t i, count = types->num_wanted;

	for (i = 0; i < count; i += ASKED)
		ask_some(types, i, count - i < ASKED ? count - i : ASKED);
	types->num_wanted = 0;
	return count > 0 && !types->no_memory;
}
