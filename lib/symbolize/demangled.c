/*
 * Demangling by libiberty, the one maintained library that knows both C++ and
 * Rust: __cxa_demangle() of the C++ runtimes takes Rust's legacy names for C++
 * and shows their hashes, and does not know the v0 scheme at all.
 *
 * A name comes from the subject. libiberty bounds its own recursion (it refuses
 * names of over 1024 bytes for that), but not its output: substitutions double
 * with every few bytes, so that a short name may stand for gigabytes. Its
 * callbacks let us leave when we have seen enough.
 */
#include "lib/symbolize/demangled.h"

#include <setjmp.h>
#include <stdlib.h>
#include <string.h>

#if __has_include(<libiberty/demangle.h>)
#include <libiberty/demangle.h>
#else
#include <demangle.h>
#endif

#define OPTIONS (DMGL_PARAMS | DMGL_ANSI)
#define DEMANGLED_MAX ((size_t)16 << 10) /* bytes */

struct demangling {
	char text[DEMANGLED_MAX];
	size_t length;
	jmp_buf too_long;
};

/*
 * libiberty's memory is on the stack here, except for the letters of a Rust
 * identifier that is not ASCII: those few bytes are leaked.
 */
static void
add_piece(const char *piece, size_t length, void *ctx)
{
	struct demangling *demangling = ctx;

	if (length > sizeof(demangling->text) - demangling->length)
		longjmp(demangling->too_long, 1);
	memcpy(demangling->text + demangling->length, piece, length);
	demangling->length += length;
}

/* Try Rust first: its legacy names are valid C++ names as well. */
static int
demangle(const char *name, struct demangling *demangling)
{
	if (setjmp(demangling->too_long) != 0)
		return 0;
	if (rust_demangle_callback(name, OPTIONS, add_piece, demangling))
		return 1;
	demangling->length = 0;
	return cplus_demangle_v3_callback(name, OPTIONS, add_piece, demangling);
}

char *
mu_demangled(const char *name)
{
	struct demangling demangling;

	/* _Z and _R, with one more _ on systems where C names have one */
	if (name[0] != '_')
		return NULL;
	demangling.length = 0;
	if (!demangle(name, &demangling) || demangling.length == 0)
		return NULL;
	return strndup(demangling.text, demangling.length);
}
