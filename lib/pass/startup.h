/*
 * Code that runs without a call: it reads the options when the library is
 * loaded, and reports at exit if they say so.
 *
 * Runs in: original.
 */
#ifndef LIB_PASS_STARTUP_H
#define LIB_PASS_STARTUP_H

/*
 * Set the library up from MEMUNREACHABLE_OPTIONS. Called by the constructor;
 * a call before it (from an earlier constructor) finds the defaults.
 */
void mu_startup(void);

#endif
