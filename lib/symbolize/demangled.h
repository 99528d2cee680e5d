/*
 * The name that a programmer wrote, from the one that the linker sees.
 */
#ifndef SYMBOLIZE_DEMANGLED_H
#define SYMBOLIZE_DEMANGLED_H

/*
 * C++ (Itanium ABI) and Rust, both of its schemes. To be freed; NULL if NAME is
 * of no such kind, or what it stands for is longer than anybody would read.
 */
char *mu_demangled(const char *name);

#endif
