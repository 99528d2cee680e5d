#include "lib/explain/declared_types.h"

#include <string.h>

#define ASKED ((size_t)1024)         /* questions at a time */
#define FIRST_ROOM ((size_t)1 << 10) /* a power of 2 */
#define MOST ((size_t)1 << 20)       /* types */
#define SPREAD 0x9e3779b97f4a7c15ull /* 2^64 / the golden ratio */

void
mu_declared_types_open(
    struct mu_declared_types *types, struct mu_places *places)
{
	*types = (struct mu_declared_types) { .places = places };
}

static struct mu_declared_slot *
slot_of(const struct mu_declared_types *types, mu_declared_id id)
{
	size_t at = (size_t)(id * SPREAD >> 20) & (types->room - 1);

	while (types->slots[at].id != 0 && types->slots[at].id != id)
		at = (at + 1) & (types->room - 1);
	return &types->slots[at];
}

static bool
make_room(struct mu_declared_types *types)
{
	struct mu_declared_types more = *types;
	size_t i;

	if (types->room > 0 && types->count < types->room / 2)
		return true;
	more.room = types->room == 0 ? FIRST_ROOM : types->room * 2;
	more.slots = mu_arena_alloc_table(
	    types->places->tables, more.room, sizeof(*more.slots));
	if (more.slots == NULL || more.room > 2 * MOST)
		return false;
	for (i = 0; i < types->room; i++)
		if (types->slots[i].id != 0)
			*slot_of(&more, types->slots[i].id) = types->slots[i];
	*types = more;
	return true;
}

const struct mu_declared *
mu_declared_types_get(
    struct mu_declared_types *types, mu_declared_id id, bool *asked)
{
	struct mu_declared_slot *slot;

	*asked = true;
	if (id == 0 || types->no_memory)
		return NULL;
	if (!make_room(types) ||
	    !mu_arena_room(types->places->tables, types->wanted,
		types->num_wanted, types->max_wanted, 256)) {
		types->no_memory = true;
		return NULL;
	}
	slot = slot_of(types, id);
	if (slot->id == 0) {
		slot->id = id;
		types->count++;
		types->wanted[types->num_wanted++] = id;
	}
	*asked = slot->asked;
	return slot->declared;
}

const struct mu_declared *
mu_declared_types_known(
    const struct mu_declared_types *types, mu_declared_id id)
{
	return id == 0 || types->room == 0 ? NULL
					   : slot_of(types, id)->declared;
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
		slot = slot_of(types, types->wanted[first + i]);
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
