/*
 * leak_track: list every block that is live at exit.
 *
 * Runs in: the original, the thread that exits.
 */
#ifndef LIB_MALLOC_DEBUG_DUMPS_LEAK_LIST_H
#define LIB_MALLOC_DEBUG_DUMPS_LEAK_LIST_H

/* Does nothing unless an option requests it. */
void leak_list_at_exit(void);

#endif
