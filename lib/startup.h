/*
 * What happens without being called: options are read when the library is
 * loaded; a report at exit when they ask for it.
 *
 * Runs in: original.
 */
#ifndef LIB_STARTUP_H
#define LIB_STARTUP_H

/*
 * Set the library up from MEMUNREACHABLE_OPTIONS. Called by the constructor;
 * a call before it (from an earlier constructor) finds the defaults.
 */
void mu_startup(void);

#endif
