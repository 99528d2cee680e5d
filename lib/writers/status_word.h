/*
 * One stable word for each status, for programs that read a report: the name
 * of its MEMUNREACHABLE_ constant in small letters.
 *
 * Pure.
 */
#ifndef LIB_WRITERS_STATUS_WORD_H
#define LIB_WRITERS_STATUS_WORD_H

/* Never NULL; "unknown" for a value that is no status. */
const char *mu_status_word(int status);

/* What helps, as options of the command; "" = the reason says it all. */
const char *mu_status_word_cure(int status);

#endif
