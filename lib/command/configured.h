/*
 * What the Makefile knows: filled in from lib/command/configured.c.in.
 */
#ifndef LIB_COMMAND_CONFIGURED_H
#define LIB_COMMAND_CONFIGURED_H

extern const char mu_configured_version[];
extern const char mu_configured_soname[];    /* of the library */
extern const char mu_configured_recorder[];  /* of the recorder's */
extern const char mu_configured_libdir[];    /* where it is installed */
extern const char mu_configured_multiarch[]; /* "x86_64-linux-gnu", or "" */

#endif
