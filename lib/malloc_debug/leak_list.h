/*
 * leak_track: every block that is live at exit.
 *
 * Runs in: the original, the thread that exits.
 */
#ifndef LEAK_LIST_H
#define LEAK_LIST_H

/* If the options want it. */
void leak_list_at_exit(void);

#endif
