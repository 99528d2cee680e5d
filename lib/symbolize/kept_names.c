#include "lib/symbolize/kept_names.h"

#include <stdlib.h>
#include <string.h>

#include "mu/array.h"
#include "mu/bisect.h"
#include "mu/hash.h"
#include "mu/sort.h"

/* A kind is one of these bits, or the question about what is declared. */
#define KIND_CALL 1u
#define KIND_RULES 2u
#define KIND_BLOCK 4u
#define KIND_DETAIL 5u   /* of a module */
#define KIND_HELD 6u     /* a block, by a word that leads to it */
#define KIND_DECLARED 8u /* times enum mu_declared_question */

#define KIND_THREAD (KIND_DECLARED * MU_DECLARED_QUESTIONS)

#define FIRST_SLOTS ((size_t)1 << 10) /* a power of 2 */
#define STRINGS_LIMIT ((size_t)1 << 30)

_Static_assert(KIND_DECLARED *MU_DECLARED_QUESTIONS <= MU_KEPT_KINDS, "kinds");

static uint32_t
kind_of(const struct mu_symbol_question *question)
{
	if (question->block != NULL)
		return question->block->held_at != 0 ? KIND_HELD : KIND_BLOCK;
	if (question->declared != MU_DECLARED_NOTHING)
		return KIND_DECLARED * (uint32_t)question->declared;
	if (question->detail)
		return KIND_DETAIL;
	return (question->call ? KIND_CALL : 0) |
	    (question->rules ? KIND_RULES : 0);
}

void
mu_kept_names_open(struct mu_kept_names *kept, bool contents)
{
	*kept = (struct mu_kept_names) { .contents = contents,
		.wire = { .fd = -1 } };
}

void
mu_kept_names_reset(struct mu_kept_names *kept)
{
	bool contents = kept->contents;

	mu_kept_names_close(kept);
	mu_kept_names_open(kept, contents);
}

/* The place of the answer with these bytes; 0 there: it is a new one. */
static uint32_t *
slot_of(const struct mu_kept_names *kept, const char *bytes, size_t size)
{
	size_t at = mu_hash_bytes(bytes, size) >> 20 & (kept->num_slots - 1);
	size_t i;

	for (; kept->slots[at] != 0; at = (at + 1) & (kept->num_slots - 1)) {
		i = kept->slots[at] - 1;
		if (kept->ends[i] - kept->begins[i] == size &&
		    memcmp(kept->wire.buffer + kept->begins[i], bytes, size) ==
			0)
			break;
	}
	return &kept->slots[at];
}

static bool
make_slots(struct mu_kept_names *kept)
{
	struct mu_kept_names more = *kept;
	size_t i;

	if (kept->num_slots > 0 && kept->num_answers < kept->num_slots / 2)
		return true;
	more.num_slots =
	    kept->num_slots == 0 ? FIRST_SLOTS : kept->num_slots * 2;
	more.slots = calloc(more.num_slots, sizeof(*more.slots));
	if (more.slots == NULL)
		return false;
	for (i = 0; i < kept->num_answers; i++)
		*slot_of(&more, kept->wire.buffer + kept->begins[i],
		    kept->ends[i] - kept->begins[i]) = (uint32_t)i + 1;
	free(kept->slots);
	*kept = more;
	return true;
}

/* Write ANSWER, unless it was written before: its index. */
static bool
index_of(struct mu_kept_names *kept, const struct mu_symbol_answer *answer,
    uint32_t *index)
{
	struct mu_wire_answer wire = {
		.symbol = answer->symbol,
		.detail = answer->detail,
		.type = answer->type,
		.rules = answer->rules,
		.declared = answer->declared,
	};
	size_t begin, size;
	uint32_t *slot;

	if (!kept->contents)
		wire.type.text = NULL;
	if (!make_slots(kept) || kept->num_answers == UINT32_MAX - 1 ||
	    !mu_array_room(kept->begins, kept->num_answers, kept->max_begins,
		256, SIZE_MAX) ||
	    !mu_array_room(
		kept->ends, kept->num_answers, kept->max_ends, 256, SIZE_MAX))
		return false;
	mu_wire_write(&kept->wire, &wire);
	if (kept->wire.failed)
		return false;
	begin = kept->wire.record;
	size = kept->wire.used - begin;
	slot = slot_of(kept, kept->wire.buffer + begin, size);
	if (*slot != 0) {
		kept->wire.used = begin;
		*index = *slot - 1;
		return true;
	}
	*index = (uint32_t)kept->num_answers;
	*slot = *index + 1;
	kept->begins[*index] = begin;
	kept->ends[*index] = kept->wire.used;
	kept->num_answers++;
	return true;
}

static void
note(struct mu_kept_names *kept, uint64_t address, uint32_t kind,
    const struct mu_symbol_answer *answer)
{
	uint32_t index;

	if (kept->failed)
		return;
	kept->failed = !index_of(kept, answer, &index) ||
	    !mu_array_room(kept->questions, kept->num_questions,
		kept->max_questions, 256, SIZE_MAX);
	if (!kept->failed)
		kept->questions[kept->num_questions++] =
		    (struct mu_kept_question) { address, kind, index };
}

void
mu_kept_names_note_thread(
    struct mu_kept_names *kept, pid_t tid, const char *name)
{
	const struct mu_symbol_answer answer = { .symbol.function = name };

	note(kept, (uint64_t)tid, KIND_THREAD, &answer);
}

void
mu_kept_names_note(struct mu_kept_names *kept,
    const struct mu_symbol_question *questions,
    const struct mu_symbol_answer *answers, size_t count)
{
	size_t i;

	for (i = 0; i < count; i++)
		if (answers[i].given && questions[i].path == NULL)
			note(kept, questions[i].address, kind_of(&questions[i]),
			    &answers[i]);
}

static int
compare(const void *a, const void *b)
{
	const struct mu_kept_question *x = a, *y = b;

	if (x->kind != y->kind)
		return x->kind < y->kind ? -1 : 1;
	return x->address < y->address ? -1 : x->address > y->address;
}

void
mu_kept_names_sort(struct mu_kept_names *kept)
{
	struct mu_kept_question *all = kept->questions;
	size_t i, num = 0;

	if (kept->num_questions > 0)
		mu_sort(all, kept->num_questions, sizeof(*all), compare);
	for (i = 0; i < kept->num_questions; i++) {
		if (num == 0 || compare(&all[num - 1], &all[i]) != 0)
			all[num++] = all[i];
	}
	kept->num_questions = num;
}

bool
mu_kept_names_replay(struct mu_kept_names *kept, const char *bytes, size_t size,
    size_t num_answers)
{
	struct mu_wire_reader reader = { .arena = &kept->arena };
	size_t i, used, at = 0;
	bool ok;

	kept->replay = true;
	mu_arena_open(&kept->arena, STRINGS_LIMIT);
	ok = num_answers <= size / sizeof(struct mu_wire_symbol);
	kept->answers = !ok ? NULL
			    : mu_arena_alloc_table(&kept->arena,
				  num_answers + 1, sizeof(*kept->answers));
	ok = kept->answers != NULL;
	for (i = 0; ok && i < num_answers; i++, at += used)
		ok = mu_wire_read(&reader, bytes + at, size - at, &used,
			 &kept->answers[i]) == MU_WIRE_READ;
	for (i = 0; ok && i < kept->num_questions; i++)
		ok = kept->questions[i].answer < num_answers &&
		    (i == 0 ||
			compare(&kept->questions[i - 1], &kept->questions[i]) <
			    0);
	kept->num_answers = ok ? num_answers : 0;
	free(reader.strings);
	return ok && at == size;
}

/* The last question of KIND at or before ADDRESS; NULL: there is none. */
static const struct mu_kept_question *
question_at(const struct mu_kept_names *kept, uint32_t kind, uint64_t address)
{
	const struct mu_kept_question wanted = { address, kind, 0 };
	size_t low = 0;

	mu_bisect(low, kept->num_questions, i,
	    compare(&kept->questions[i], &wanted) <= 0);
	return low == 0 || kept->questions[low - 1].kind != kind
	    ? NULL
	    : &kept->questions[low - 1];
}

/* Another address of a variable or function has the same name. */
static bool
find(const struct mu_kept_names *kept,
    const struct mu_symbol_question *question, struct mu_symbol_answer *answer)
{
	uint32_t kind = kind_of(question);
	const struct mu_kept_question *known =
	    question_at(kept, kind, question->address);
	const struct mu_wire_answer *wire;
	size_t into;

	if (kind == KIND_HELD &&
	    (known == NULL || known->address != question->address)) {
		kind = KIND_BLOCK;
		known = question_at(kept, kind, question->address);
	}
	if (known == NULL)
		return false;
	wire = &kept->answers[known->answer];
	into = question->address - known->address;
	if (into > 0 &&
	    (kind != 0 || !mu_range_has(wire->symbol.range, question->address)))
		return false;
	*answer = (struct mu_symbol_answer) {
		.symbol = wire->symbol,
		.type = wire->type,
		.rules = wire->rules,
		.declared = wire->declared,
		.detail = wire->detail,
		.given = true,
	};
	answer->symbol.offset += into;
	return true;
}

const char *
mu_kept_names_thread(const struct mu_kept_names *kept, pid_t tid)
{
	const struct mu_kept_question *known =
	    question_at(kept, KIND_THREAD, (uint64_t)tid);

	return known == NULL || known->address != (uint64_t)tid
	    ? NULL
	    : kept->answers[known->answer].symbol.function;
}

bool
mu_kept_names_answer(const struct mu_kept_names *kept,
    const struct mu_symbol_question *questions,
    struct mu_symbol_answer *answers, size_t count)
{
	bool all = true;
	size_t i;

	for (i = 0; i < count; i++)
		all &= questions[i].path == NULL &&
		    find(kept, &questions[i], &answers[i]);
	return all;
}

void
mu_kept_names_close(struct mu_kept_names *kept)
{
	kept->wire.fd = -1;
	mu_wire_close(&kept->wire);
	mu_arena_close(&kept->arena);
	free(kept->questions);
	free(kept->slots);
	free(kept->begins);
	free(kept->ends);
	*kept = (struct mu_kept_names) { .replay = false };
}
