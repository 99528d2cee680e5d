/*
 * Code that runs by itself: it reads the options when the library is loaded,
 * and reports at exit if they say so.
 *
 * Runs in: original.
 */
#ifndef LIB_PASS_STARTUP_H
#define LIB_PASS_STARTUP_H

/*
 * Set up the library from MEMUNREACHABLE_OPTIONS. Called by the constructor; a
 * pass before that (from an earlier constructor) uses the defaults.
 */
void mu_startup(void);

#endif
