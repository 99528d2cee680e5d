/*
 * Messages for the journal of systemd, with the fields of a JSON object; or for
 * syslog, with them as structured data (RFC 5424).
 *
 * Runs in: the command.
 */
#ifndef LIB_WATCH_JOURNAL_H
#define LIB_WATCH_JOURNAL_H

#include <jansson.h>
#include <syslog.h>

#include "mu/status.h"

/* MU_ERR_RESOURCES with WHY: there is neither. */
enum mu_status mu_journal_find(struct mu_why *why);

/*
 * Send MESSAGE with PRIORITY (LOG_INFO and so on) and the members of FIELDS,
 * which may be NULL. What cannot be sent at once is dropped.
 */
void mu_journal_send(int priority, const char *message, const json_t *fields);

#endif
