/*
 * For variables that the short paths read: hidden visibility tells the compiler
 * that they are in this library, so no look-up in the GOT is needed.
 *
 * Runs in: any.
 */
#ifndef LIB_MALLOC_DEBUG_STATE_HIDDEN_H
#define LIB_MALLOC_DEBUG_STATE_HIDDEN_H

#define HIDDEN __attribute__((visibility("hidden")))

#endif
