/*
 * The destination of the log: stderr, stdout, FILE.<pid>, syslog.
 *
 * Runs in: original.
 */
#ifndef LIB_STATE_LOG_SINK_H
#define LIB_STATE_LOG_SINK_H

#include "lib/state/options.h"
#include "mu/log.h"

/*
 * Open the log for one pass. If a path cannot be written, stderr is used, and a
 * line says so. SILENT: open nothing. LOG must not move until it is closed.
 */
void mu_log_sink_open(
    struct mu_log *log, const struct mu_options *options, bool silent);

/* A line of the log without a pass: open, log (255 bytes at most), close. */
__attribute__((format(printf, 2, 3))) void mu_log_sink_line(
    enum mu_log_level level, const char *format, ...);

/*
 * If lines could not be written, the error is logged on stderr and kept in the
 * library's state.
 */
void mu_log_sink_close(struct mu_log *log);

#endif
