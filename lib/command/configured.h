/* Values that the Makefile fills in: lib/command/configured.c.in. */
#ifndef LIB_COMMAND_CONFIGURED_H
#define LIB_COMMAND_CONFIGURED_H

extern const char mu_configured_version[];
extern const char mu_configured_soname[];    /* of the library */
extern const char mu_configured_recorder[];  /* soname of the recorder */
extern const char mu_configured_libdir[];    /* where both are installed */
extern const char mu_configured_multiarch[]; /* "x86_64-linux-gnu", or "" */

#endif
