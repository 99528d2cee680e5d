/* Demangle a symbol name. */
#ifndef SYMBOLIZE_DEMANGLED_H
#define SYMBOLIZE_DEMANGLED_H

/*
 * C++ (Itanium ABI), and both schemes of Rust. Free the result; NULL if NAME is
 * not mangled, or its demangled form is too long.
 */
char *mu_demangled(const char *name);

#endif
