/*
 * LeakTracer's work at the end of the program.
 *
 * Runs in: the original.
 */
#ifndef LIB_MALLOC_DEBUG_LEAKTRACER_EXIT_H
#define LIB_MALLOC_DEBUG_LEAKTRACER_EXIT_H

/*
 * Arrange the call of leaktracer_at_exit() and the change of the exit status.
 */
void leaktracer_exit_register(void);

#endif
