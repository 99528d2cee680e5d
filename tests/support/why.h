/*
 * Asking who points at a block, and what was told: addresses are kept as
 * complements, as an answer in plain sight would be a reference itself.
 */
#ifndef TESTS_SUPPORT_WHY_H
#define TESTS_SUPPORT_WHY_H

#include <dlfcn.h>
#include <stddef.h>

#include "tests/support/live.h"

#define MAX_TOLD 64

struct told {
	int kind, thread;
	uintptr_t hidden_address, hidden_value, hidden_begin;
	ptrdiff_t into, offset;
	size_t size;
	bool reachable;
	char name[24];
	char path[PATH_MAX];
};

static struct told told[MAX_TOLD];
static size_t num_told; /* how often the callback was called */
static pthread_t told_in;

LIVE bool
take_down(void *ctx, const struct MemunreachableReference *reference)
{
	struct told *to = &told[num_told];

	(void)ctx;
	told_in = pthread_self();
	if (num_told++ >= MAX_TOLD)
		return true;
	to->kind = reference->kind;
	to->thread = reference->thread;
	to->hidden_address = ~reference->address;
	to->hidden_value = ~reference->value;
	to->hidden_begin = ~reference->begin;
	to->into = reference->into;
	to->offset = reference->offset;
	to->size = reference->size;
	to->reachable = reference->reachable;
	snprintf(to->name, sizeof(to->name), "%s", reference->name);
	snprintf(to->path, sizeof(to->path), "%s", reference->path);
	return true;
}

LIVE bool
print_reference(void *ctx, const struct MemunreachableReference *reference)
{
	char line[512];

	memunreachable_format_reference(reference, line, sizeof(line));
	fprintf(stderr, "%s%s\n", (const char *)ctx, line);
	return true;
}

/* The address is in no frame: its only copy is in a register of the call. */
LIVE ptrdiff_t
why_at(uintptr_t hidden, size_t offset)
{
	num_told = 0;
	memset(told, 0, sizeof(told));
	return memunreachable_why_reachable(
	    (char *)mu_reveal(hidden) + offset, take_down, NULL);
}

LIVE ptrdiff_t
why(uintptr_t hidden)
{
	ptrdiff_t count;

	scrub();
	count = why_at(hidden, 0);
	scrub();
	return count;
}

LIVE void
why_shown(uintptr_t hidden)
{
	memunreachable_why_reachable(
	    mu_reveal(hidden), print_reference, (void *)"found: ");
}

#define EXPECT_TOLD(hidden, n)                                          \
	do {                                                            \
		ptrdiff_t told_count = why(hidden);                     \
		if (told_count != (n))                                  \
			why_shown(hidden);                              \
		ck_assert_int_eq(told_count, n);                        \
		ck_assert_uint_eq(num_told, (n) < 0 ? 0 : (size_t)(n)); \
	} while (0)

/* One reference, of KIND, at PLACE (NULL: without an address). */
#define EXPECT_ONE(hidden, of_kind, place)                        \
	do {                                                      \
		EXPECT_TOLD(hidden, 1);                           \
		ck_assert_int_eq(told[0].kind, of_kind);          \
		ck_assert_uint_eq(                                \
		    told[0].hidden_address, ~(uintptr_t)(place)); \
		ck_assert_uint_eq(told[0].hidden_value, hidden);  \
		ck_assert_int_eq(told[0].into, 0);                \
		ck_assert(told[0].reachable);                     \
	} while (0)

/* What NAME of tests/support/tls_shim.h returns; the library is dlopen'ed. */
LIVE void *
shim(const char *name)
{
	static void *library;
	void *(*function)(void);
	char path[PATH_MAX];

	if (library == NULL) {
		support_path("tls_shim.so", path);
		library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
	}
	ck_assert_ptr_nonnull(library);
	*(void **)&function = dlsym(library, name);
	ck_assert_ptr_nonnull(function);
	return function();
}

#endif
