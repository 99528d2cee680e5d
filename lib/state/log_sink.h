/*
 * Where the log goes: stderr, stdout, FILE.<pid>, syslog.
 *
 * Runs in: original. Uses no malloc, no errno.
 */
#ifndef LIB_STATE_LOG_SINK_H
#define LIB_STATE_LOG_SINK_H

#include "lib/state/options.h"
#include "mu/log.h"

/*
 * Open the sink for one pass. A path that cannot be written falls back to
 * stderr, with a line that says so. SILENT: nothing is opened. LOG must not
 * move until it is closed.
 */
void mu_log_sink_open(
    struct mu_log *log, const struct mu_options *options, bool silent);

/* An error of its lines is logged on stderr, and kept in the library's state. */
void mu_log_sink_close(struct mu_log *log);

#endif
