/*
 * Take our libraries out of the environment of a program that has just been
 * executed, before its dynamic linker runs, or put them into it.
 *
 * musl's linker ends a program that it preloads a library of glibc into; a
 * sanitizer ends one in which it is not the first library.
 *
 * Runs in: the command.
 */
#ifndef LIB_COMMAND_UNPRELOAD_H
#define LIB_COMMAND_UNPRELOAD_H

#include <sys/types.h>

/*
 * Replace LIBRARY and RECORDER ("" if there is none) in each LD_PRELOAD of
 * PID's environment by colons. PID is stopped at its execve().
 */
void mu_command_unpreload(pid_t pid, const char *library, const char *recorder);

/*
 * The opposite, for NAMES, the last ones of LD_PRELOAD, in whose place the
 * library of the program before has left colons: see lib/pass/startup.c.
 */
void mu_command_preload_again(pid_t pid, const char *names);

#endif
