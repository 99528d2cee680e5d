/*
 * Of variables that the short ways read: the compiler is told in the header
 * that they are the library's own, so that it need not look up where they are.
 *
 * Runs in: any.
 */
#ifndef HIDDEN_H
#define HIDDEN_H

#define HIDDEN __attribute__((visibility("hidden")))

#endif
