/*
 * Find the object whose malloc comes next, and take all functions from it.
 * RTLD_DEFAULT is not used, as it finds the recorder itself if that is first.
 * dladdr() tells which object a function is in, so that functions of two
 * allocators are not mixed: one could not free blocks of the other.
 */
#include "lib/malloc_debug/state/real.h"

#include <dlfcn.h>
#include <errno.h>
#include <gnu/lib-names.h>
#include <link.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "mu/sys.h"

/*
 * Alignment and least size for allocators other than glibc's: with size classes
 * of 8 and 16 bytes two blocks could share a word (see MU_SHADOW_...).
 */
#define LEAST_ELSEWHERE 32

struct real_functions real;

/*
 * ld prints this text if an object refers to the symbol, which only the startup
 * code of a static libc does (.gnu.warning in the manual of ld).
 */
__attribute__((section(".gnu.warning.__libc_setup_tls"),
    used)) static const char not_static[] =
    "libmemunreachable-malloc-debug.a cannot be linked with -static, which"
    " leaves no malloc behind it: link the program dynamically";

/* glibc's private names; weak, as other C libraries do not have them. */
void *__libc_malloc(size_t) __attribute__((weak));
void __libc_free(void *) __attribute__((weak));
void *__libc_calloc(size_t, size_t) __attribute__((weak));
void *__libc_realloc(void *, size_t) __attribute__((weak));
void *__libc_memalign(size_t, size_t) __attribute__((weak));

/* Replacements for functions that an allocator does not have. */
static size_t
usable_unknown(void *pointer)
{
	(void)pointer;
	return 0;
}

static void *
memalign_missing(size_t alignment, size_t size)
{
	if (alignment <= 16)
		return real.malloc(size);
	errno = ENOMEM;
	return NULL;
}

static int (*posix_memalign_found)(void **, size_t, size_t);

static void *
memalign_by_posix(size_t alignment, size_t size)
{
	void *block = NULL;
	int error = posix_memalign_found(&block, alignment, size);

	if (error == 0)
		return block;
	errno = error;
	return NULL;
}

static const void *
object_of(const void *address)
{
	Dl_info info;

	return dladdr(address, &info) == 0 ? NULL : info.dli_fbase;
}

/*
 * The object at BASE, and the handle through which its symbols are found if
 * another object comes before.
 */
struct object {
	const void *base;
	const char *name;
	void *handle; /* opened only if needed: dlopen() may not work yet */
	bool opened;
};

static void *
next_in(const struct object *object, const char *name)
{
	void *symbol = dlsym(RTLD_NEXT, name);

	return symbol != NULL && object_of(symbol) == object->base ? symbol
								   : NULL;
}

static void *
found_in(struct object *object, const char *name)
{
	void *symbol = next_in(object, name);

	if (symbol != NULL)
		return symbol;
	if (object->handle == NULL && !object->opened) {
		object->opened = true;
		object->handle = dlopen(object->name, RTLD_LAZY | RTLD_NOLOAD);
	}
	symbol = object->handle == NULL ? NULL : dlsym(object->handle, name);
	return symbol != NULL && object_of(symbol) == object->base ? symbol
								   : NULL;
}

static void
set(void *function, void *symbol)
{
	memcpy(function, &symbol, sizeof(symbol));
}

/* Functions that an allocator may not have. */
static void
find_aligned(struct real_functions *out, struct object *object)
{
	void *symbol = found_in(object, "memalign");

	if (symbol == NULL)
		symbol = found_in(object, "aligned_alloc");
	if (symbol != NULL) {
		set(&out->memalign, symbol);
		return;
	}
	symbol = found_in(object, "posix_memalign");
	set(&posix_memalign_found, symbol);
	out->memalign = symbol != NULL ? memalign_by_posix : memalign_missing;
}

/* Take the functions that belong to the malloc at SYMBOL. */
static bool
find_family(struct real_functions *out, void *symbol, void *handle)
{
	struct object object = { .handle = handle };
	Dl_info info;

	if (dladdr(symbol, &info) == 0 || info.dli_fbase == object_of(&real))
		return false;
	object.base = info.dli_fbase;
	object.name = info.dli_fname;
	set(&out->malloc, symbol);
	set(&out->free, found_in(&object, "free"));
	set(&out->calloc, found_in(&object, "calloc"));
	set(&out->realloc, found_in(&object, "realloc"));
	find_aligned(out, &object);
	set(&out->malloc_usable_size, found_in(&object, "malloc_usable_size"));
	if (out->malloc_usable_size == NULL)
		out->malloc_usable_size = usable_unknown;
	out->glibc =
	    next_in(&object, "gnu_get_libc_version") != NULL || handle != NULL;
	out->least = out->glibc ? 1 : LEAST_ELSEWHERE;
	if (object.opened && object.handle != NULL)
		dlclose(object.handle);
	return out->free != NULL && out->calloc != NULL && out->realloc != NULL;
}

static bool
find_libc(struct real_functions *out)
{
	void *handle = dlopen(LIBC_SO, RTLD_LAZY | RTLD_NOLOAD);
	void *symbol = handle == NULL ? NULL : dlsym(handle, "malloc");

	/* The handle is not closed; libc stays loaded anyway. */
	return symbol != NULL && find_family(out, symbol, handle);
}

static bool
find_private(struct real_functions *out)
{
	if (__libc_malloc == NULL || __libc_free == NULL ||
	    __libc_calloc == NULL || __libc_realloc == NULL ||
	    __libc_memalign == NULL)
		return false;
	*out = (struct real_functions) {
		.malloc = __libc_malloc,
		.free = __libc_free,
		.calloc = __libc_calloc,
		.realloc = __libc_realloc,
		.memalign = __libc_memalign,
		.malloc_usable_size = usable_unknown,
		.least = 1,
		.glibc = true,
	};
	return true;
}

bool
real_find_at(struct real_functions *out, enum real_place place)
{
	void *symbol;

	memset(out, 0, sizeof(*out));
	switch (place) {
	case REAL_NEXT:
		symbol = dlsym(RTLD_NEXT, "malloc");
		return symbol != NULL && find_family(out, symbol, NULL);
	case REAL_LIBC:
		return find_libc(out);
	case REAL_PRIVATE:
		return find_private(out);
	default:
		return false;
	}
}

void
real_find(void)
{
	static const char fatal[] =
	    "malloc_debug: there is no malloc behind the recorder\n";
	struct real_functions found;
	int place;

	for (place = REAL_NEXT; place < REAL_PLACES; place++) {
		if (real_find_at(&found, (enum real_place)place))
			break;
	}
	if (place == REAL_PLACES) {
		mu_sys_write(2, fatal, sizeof(fatal) - 1);
		abort();
	}
	/* malloc is stored last: a thread that sees it sees the others. */
	real = (struct real_functions) { .malloc = NULL };
	real.free = found.free;
	real.calloc = found.calloc;
	real.realloc = found.realloc;
	real.memalign = found.memalign;
	real.malloc_usable_size = found.malloc_usable_size;
	real.least = found.least;
	real.glibc = found.glibc;
	__atomic_store_n(&real.malloc, found.malloc, __ATOMIC_RELEASE);
}

/*
 * In a non-PIE program that takes the address of malloc, the symbol resolves to
 * the program's PLT entry: an undefined symbol with a value (ELF gABI). The PLT
 * entry jumps to the first malloc, whose object is unknown then.
 */
const char *
real_first(void)
{
	const void *first = dlsym(RTLD_DEFAULT, "malloc");
	const ElfW(Sym) *symbol = NULL;
	Dl_info info;

	if (first == NULL ||
	    dladdr1(first, &info, (void **)&symbol, RTLD_DL_SYMENT) == 0 ||
	    info.dli_fbase == object_of(&real))
		return NULL;
	if (symbol != NULL && symbol->st_shndx == SHN_UNDEF)
		return NULL;
	return info.dli_fname;
}
