/*
 * Names of C++ types without what their authors did not write.
 *
 * Pure.
 */
#ifndef LIB_TYPES_PLAIN_NAME_H
#define LIB_TYPES_PLAIN_NAME_H

/*
 * Shorten NAME in place: arguments that are the default of a container, inline
 * namespaces of the C++ libraries, and the long names of strings.
 */
void mu_plain_name(char *name);

#endif
