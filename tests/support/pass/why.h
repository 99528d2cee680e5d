/*
 * Ask for the references to a block. Addresses in the answer are kept as
 * complements, because plain copies would be references themselves.
 */
#ifndef TESTS_SUPPORT_PASS_WHY_H
#define TESTS_SUPPORT_PASS_WHY_H

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

extern struct told told[MAX_TOLD];
extern size_t num_told; /* how often the callback was called */
extern pthread_t told_in;

bool take_down(void *ctx, const struct MemunreachableReference *reference);
bool print_reference(
    void *ctx, const struct MemunreachableReference *reference);
ptrdiff_t why(uintptr_t hidden);
void why_shown(uintptr_t hidden);

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

/* What NAME of tests/support/shims/tls_shim.c returns; the library is
 * dlopen'ed. */
void *shim(const char *name);

#endif
