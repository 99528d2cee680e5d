#include "lib/look/reading.h"

void
mu_look_read_subject(struct mu_look_reading *reading)
{
	struct mu_snapshot *snap = &reading->look->snap;
	uint64_t flags;

	mu_read_section(reading, MU_LOOK_SUBJECT);
	mu_reading_require(
	    reading, mu_read_number(reading) == sizeof(uintptr_t));
	snap->glibc_major = (unsigned)mu_read_most(reading, UINT16_MAX);
	snap->glibc_minor = (unsigned)mu_read_most(reading, UINT16_MAX);
	flags = mu_read_number(reading);
	snap->glibc_inferred = (flags & MU_LOOK_INFERRED) != 0;
	reading->look->saved.contents = (flags & MU_LOOK_CONTENTS) != 0;
	snap->reach = (struct mu_reach) {
		.no_globals = (flags & MU_LOOK_NO_GLOBALS) != 0,
		.no_stacks = (flags & MU_LOOK_NO_STACKS) != 0,
		.no_registers = (flags & MU_LOOK_NO_REGISTERS) != 0,
		.no_tls = (flags & MU_LOOK_NO_TLS) != 0,
		.no_regions = (flags & MU_LOOK_NO_REGIONS) != 0,
		.words.unaligned = (flags & MU_LOOK_UNALIGNED) != 0,
	};
	snap->reach.words.tags = (uintptr_t)mu_read_number(reading);
}

void
mu_look_read_mappings(struct mu_look_reading *reading)
{
	struct mu_snapshot *snap = &reading->look->snap;
	uint64_t flags, left;
	struct mu_mapping *mapping;
	uintptr_t last = 0;
	size_t max = 0;

	mu_read_section(reading, MU_LOOK_MAPPINGS);
	for (left = mu_read_number(reading); left > 0; left--) {
		if (!MU_READING_ROOM(
			reading, snap->mappings, snap->num_mappings, max))
			return;
		mapping = &snap->mappings[snap->num_mappings];
		*mapping =
		    (struct mu_mapping) { .range = mu_read_range(reading) };
		mapping->range.begin += last;
		mapping->range.end += last;
		mu_reading_require(reading,
		    mapping->range.begin >= last &&
			mapping->range.end > mapping->range.begin);
		last = mapping->range.end;
		flags = mu_read_number(reading);
		mapping->readable = (flags & MU_LOOK_READABLE) != 0;
		mapping->writable = (flags & MU_LOOK_WRITABLE) != 0;
		mapping->executable = (flags & MU_LOOK_EXECUTABLE) != 0;
		mapping->shared = (flags & MU_LOOK_SHARED) != 0;
		mapping->offset = mu_read_number(reading);
		mapping->dev_major =
		    (unsigned)mu_read_most(reading, UINT32_MAX);
		mapping->dev_minor =
		    (unsigned)mu_read_most(reading, UINT32_MAX);
		mapping->inode = mu_read_number(reading);
		mapping->name = mu_read_string(reading);
		snap->num_mappings++;
	}
}

static uintptr_t *
read_words(struct mu_look_reading *reading, size_t *count)
{
	uintptr_t *words = NULL;
	size_t max = 0;
	uint64_t left;

	for (left = mu_read_number(reading); left > 0; left--) {
		if (!MU_READING_ROOM(reading, words, *count, max))
			return words;
		words[(*count)++] = (uintptr_t)mu_read_number(reading);
	}
	return words;
}

static void
read_thread(struct mu_look_reading *reading, struct mu_thread *thread,
    struct mu_owner *owner)
{
	size_t values = reading->look->snap.num_values;

	*thread = (struct mu_thread) { .call = -1 };
	thread->tid = (pid_t)mu_read_most(reading, INT32_MAX);
	thread->sp = (uintptr_t)mu_read_number(reading);
	thread->pc = (uintptr_t)mu_read_number(reading);
	thread->tp = (uintptr_t)mu_read_number(reading);
	thread->first_value = mu_read_most(reading, values);
	thread->num_values =
	    mu_read_most(reading, values - thread->first_value);
	owner->stack = mu_read_range_or_none(reading);
	owner->tls = mu_read_range_or_none(reading);
	owner->variables = (uintptr_t)mu_read_number(reading);
}

static void
read_tls_blocks(struct mu_look_reading *reading)
{
	struct mu_owners *owners = &reading->look->owners;
	struct mu_tls_block *block;
	uint64_t left;

	for (left = mu_read_number(reading); left > 0; left--) {
		if (!MU_READING_ROOM(reading, owners->blocks,
			owners->num_blocks, owners->max_blocks))
			return;
		block = &owners->blocks[owners->num_blocks++];
		block->range = mu_read_range(reading);
		block->thread = mu_read_number(reading);
		mu_reading_require(reading,
		    block->thread < reading->look->snap.num_threads &&
			(owners->num_blocks == 1 ||
			    block[-1].range.begin <= block->range.begin));
	}
}

static void
read_tls_variables(struct mu_look_reading *reading)
{
	struct mu_owners *owners = &reading->look->owners;
	struct mu_tls_variables *variables;
	uint64_t left;

	for (left = mu_read_number(reading); left > 0; left--) {
		if (!MU_READING_ROOM(reading, owners->variables,
			owners->num_variables, owners->max_variables))
			return;
		variables = &owners->variables[owners->num_variables++];
		variables->module = (uintptr_t)mu_read_number(reading);
		variables->address = (uintptr_t)mu_read_number(reading);
		variables->thread = mu_read_number(reading);
		mu_reading_require(reading,
		    variables->thread < reading->look->snap.num_threads);
	}
}

void
mu_look_read_threads(struct mu_look_reading *reading)
{
	struct mu_snapshot *snap = &reading->look->snap;
	struct mu_owners *owners = &reading->look->owners;
	size_t i, max = 0, max_owners = 0;
	uint64_t left;

	mu_read_section(reading, MU_LOOK_THREADS);
	snap->values = read_words(reading, &snap->num_values);
	snap->regnos =
	    mu_reading_make(reading, snap->num_values, sizeof(*snap->regnos));
	for (i = 0; i < snap->num_values && !mu_reading_failed(reading); i++)
		snap->regnos[i] = (uint16_t)mu_read_most(reading, UINT16_MAX);
	for (left = mu_read_number(reading); left > 0; left--) {
		if (!MU_READING_ROOM(
			reading, snap->threads, snap->num_threads, max) ||
		    !MU_READING_ROOM(reading, owners->threads,
			snap->num_threads, max_owners))
			return;
		read_thread(reading, &snap->threads[snap->num_threads],
		    &owners->threads[snap->num_threads]);
		snap->num_threads++;
	}
	read_tls_blocks(reading);
	read_tls_variables(reading);
}

void
mu_look_read_roots(struct mu_look_reading *reading)
{
	struct mu_look_file *look = reading->look;
	struct mu_snapshot *snap = &look->snap;
	struct mu_roots *roots = &look->roots;
	size_t max = 0, max_regions = 0;
	struct mu_root *root;
	uint64_t left;

	mu_read_section(reading, MU_LOOK_ROOTS);
	for (left = mu_read_number(reading); left > 0; left--) {
		if (!MU_READING_ROOM(
			reading, roots->ranges, roots->num_ranges, max))
			return;
		root = &roots->ranges[roots->num_ranges++];
		*root = (struct mu_root) { .range = mu_read_range(reading) };
		root->kind =
		    (enum mu_root_kind)mu_read_most(reading, MU_ROOT_REGION);
		root->code = mu_read_flag(reading);
		root->view = mu_look_image_at(&look->image, root->range);
		mu_reading_require(reading, root->view != NULL);
		roots->bytes += mu_range_size(root->range);
	}
	roots->values = read_words(reading, &roots->num_values);
	snap->kernel_values = read_words(reading, &snap->num_kernel_values);
	snap->root_values = read_words(reading, &snap->num_root_values);
	for (left = mu_read_number(reading); left > 0; left--) {
		if (!MU_READING_ROOM(reading, snap->root_regions,
			snap->num_root_regions, max_regions))
			return;
		snap->root_regions[snap->num_root_regions++] =
		    mu_read_range(reading);
	}
}
