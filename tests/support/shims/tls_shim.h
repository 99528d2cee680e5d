/*
 * Places in a dlopen()ed library where a test can put a pointer, found by
 * dlsym().
 */
#ifndef TESTS_SUPPORT_SHIMS_TLS_SHIM_H
#define TESTS_SUPPORT_SHIMS_TLS_SHIM_H

void *shim_tls(void); /* the calling thread's, of dynamic TLS */
void *shim_data(void);
void *shim_bss(void);
const void *shim_constants(void); /* a read-only page */

#endif
