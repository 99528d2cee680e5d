/*
 * The class of a C++ object by its pointer to a vtable, which is the first
 * word of each object that has virtual functions or bases (Itanium C++ ABI,
 * 2.5.2):
 *
 *	vptr - 16: offset of the whole object from this vptr (0 or negative)
 *	vptr -  8: type information; 0 with -fno-rtti
 *	vptr     : addresses of functions
 *
 * Type information is itself an object with a vptr: its class is one of three
 * of the C++ runtime (2.9.5). Its second word is the mangled name of the type,
 * so the class has a name in programs without symbols, too.
 *
 * Runs in: the helper that finds names.
 */
#ifndef LIB_TYPES_VTABLE_H
#define LIB_TYPES_VTABLE_H

#include "lib/symbolize/symbols.h"
#include "lib/types/type.h"

struct mu_vtable {
	char *name;    /* of the class, demangled; free it */
	ptrdiff_t top; /* of the whole object, from this vptr; never positive */
	enum mu_type_source source;
	bool certain; /* all of the above is as the ABI says */
};

/* Returns false if VPTR is no pointer to a vtable. */
bool mu_vtable_find(
    struct mu_symbols *symbols, uintptr_t vptr, struct mu_vtable *vtable);

#endif
