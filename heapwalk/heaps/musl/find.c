/*
 * Find the context without symbols: distributions strip them. It begins with
 * the secret, 64 random bits (AT_RANDOM), which the first area has, too.
 */
#include <string.h>

#include "heapwalk/heaps/musl/heap.h"
#include "heapwalk/subject/classify.h"
#include "heapwalk/subject/each_word.h"

static bool
is_context(const struct mu_snapshot *snap, uintptr_t at)
{
	uintptr_t secret = mu_word_at(snap, at + MU_MUSL_SECRET);
	uintptr_t head = mu_word_at(snap, at + MU_MUSL_AREA_HEAD);
	uintptr_t tail = mu_word_at(snap, at + MU_MUSL_AREA_TAIL);

	return secret != 0 && head != 0 && head % MU_MUSL_PAGE == 0 &&
	    tail % MU_MUSL_PAGE == 0 &&
	    (uint32_t)mu_word_at(snap, at + MU_MUSL_INIT_DONE) == 1 &&
	    mu_word_at(snap, head + MU_MUSL_AREA_CHECK) == secret &&
	    mu_word_at(snap, tail + MU_MUSL_AREA_CHECK) == secret;
}

struct search {
	const struct mu_snapshot *snap;
	uintptr_t found;
};

/* The address of the first area lies at a multiple of a page. */
static bool
see_word(void *ctx, uintptr_t at, uintptr_t word)
{
	struct search *search = ctx;
	uintptr_t context = at - MU_MUSL_AREA_HEAD;

	if (word % MU_MUSL_PAGE != 0 || at < MU_MUSL_AREA_HEAD ||
	    !is_context(search->snap, context))
		return true;
	search->found = context;
	return false;
}

static bool
is_data(const struct mu_mapping *mapping)
{
	return mapping->readable && mapping->writable && !mapping->shared;
}

/* Variables without an initial value lie behind the file's last page. */
static bool
is_bss(const struct mu_mapping *mapping, const struct mu_mapping *data)
{
	return is_data(mapping) && mapping->inode == 0 &&
	    mapping->range.begin == data->range.end;
}

/* DATA, of a file, is followed by other mappings up to END. */
static uintptr_t
find_in(const struct mu_snapshot *snap, const struct mu_mapping *data,
    const struct mu_mapping *end)
{
	struct search search = { .snap = snap, .found = 0 };

	mu_each_word(snap, data->range, see_word, &search);
	if (search.found == 0 && data + 1 < end && is_bss(data + 1, data))
		mu_each_word(snap, data[1].range, see_word, &search);
	return search.found;
}

bool
mu_musl_is_named(const struct mu_mapping *mapping)
{
	const char *name = mu_path_base(mapping->name);

	return strcmp(name, "libc.so") == 0 || mu_starts_with(name, "ld-musl");
}

/* The variables of a program may be large: those of libc come first. */
void
mu_musl_find(struct mu_musl *musl, const struct mu_snapshot *snap)
{
	const struct mu_mapping *end = snap->mappings + snap->num_mappings;
	const struct mu_mapping *mapping;
	unsigned round;

	*musl = (struct mu_musl) { .context = 0 };
	if (snap->glibc_major != 0)
		return;
	for (round = 0; round < 2; round++)
		for (mapping = snap->mappings; mapping < end; mapping++) {
			if (!is_data(mapping) || mapping->inode == 0 ||
			    mu_musl_is_named(mapping) != (round == 0))
				continue;
			musl->context = find_in(snap, mapping, end);
			if (musl->context != 0) {
				musl->found.file = mapping;
				return;
			}
		}
}
