/*
 * One stable word for each status, for programs that read a report: the name
 * of its MEMUNREACHABLE_ constant in small letters.
 *
 * Pure.
 */
#ifndef LIB_WRITERS_STATUS_WORD_H
#define LIB_WRITERS_STATUS_WORD_H

/* Never NULL; "unknown" for an invalid value. */
const char *mu_status_word(int status);

/* A remedy in terms of the command's options; "" if the reason is enough. */
const char *mu_status_word_cure(int status);

#endif
