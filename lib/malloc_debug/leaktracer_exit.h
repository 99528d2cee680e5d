/*
 * What LeakTracer does when the program ends.
 *
 * Runs in: the original.
 */
#ifndef DEBUG_LEAKTRACER_EXIT_H
#define DEBUG_LEAKTRACER_EXIT_H

/* Have leaktracer_at_exit() called, and the exit status changed. */
void leaktracer_exit_register(void);

#endif
