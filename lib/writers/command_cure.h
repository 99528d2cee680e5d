/*
 * Remedies in terms of the command's options.
 *
 * Pure.
 */
#ifndef LIB_WRITERS_COMMAND_CURE_H
#define LIB_WRITERS_COMMAND_CURE_H

/* That of STATUS; "" if the reason is enough. */
const char *mu_command_cure(int status);

#endif
