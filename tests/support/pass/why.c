#include "tests/support/pass/why.h"
#include "tests/support/built.h"

struct told told[MAX_TOLD];
size_t num_told; /* how often the callback was called */
pthread_t told_in;

__attribute__((noinline)) bool
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

__attribute__((noinline)) bool
print_reference(void *ctx, const struct MemunreachableReference *reference)
{
	char line[512];

	memunreachable_format_reference(reference, line, sizeof(line));
	fprintf(stderr, "%s%s\n", (const char *)ctx, line);
	return true;
}

/* The address is in no frame: its only copy is in a register of the call. */
static __attribute__((noinline)) ptrdiff_t
why_at(uintptr_t hidden, size_t offset)
{
	num_told = 0;
	memset(told, 0, sizeof(told));
	return memunreachable_why_reachable(
	    (char *)mu_reveal(hidden) + offset, take_down, NULL);
}

__attribute__((noinline)) ptrdiff_t
why(uintptr_t hidden)
{
	ptrdiff_t count;

	scrub();
	count = why_at(hidden, 0);
	scrub();
	return count;
}

__attribute__((noinline)) void
why_shown(uintptr_t hidden)
{
	memunreachable_why_reachable(
	    mu_reveal(hidden), print_reference, (void *)"found: ");
}

__attribute__((noinline)) void *
shim(const char *name)
{
	static void *library;
	void *(*function)(void);
	char path[PATH_MAX];

	if (library == NULL) {
		built_path("tests/support/shims/tls_shim.so", path);
		library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
	}
	ck_assert_ptr_nonnull(library);
	*(void **)&function = dlsym(library, name);
	ck_assert_ptr_nonnull(function);
	return function();
}
