/*
 * A file for what is too much for memory.
 *
 * Runs in: the command.
 */
#ifndef LIB_TERM_NAMELESS_H
#define LIB_TERM_NAMELESS_H

/* An empty file without a name, as a descriptor; -1 if there is no place. */
int mu_nameless_open(void);

#endif
