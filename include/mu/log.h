/*
 * The log of a pass: whole lines, one write(2) each, no allocation.
 *
 * The sink is opened in the original (lib/state/log_sink.c) and its descriptors
 * are inherited by collector and sweeper.
 *
 * Runs in: any.
 */
#ifndef MU_LOG_H
#define MU_LOG_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "mu/log_record.h"

/* Beginning of every line. */
#define MU_LOG_PREFIX "libmemunreachable: "

enum mu_log_level {
	MU_LOG_ERROR,   /* leaks, failures */
	MU_LOG_WARNING, /* options, skipped pages */
	MU_LOG_INFO,    /* totals, hints */
	MU_LOG_STEP,    /* verbosity=1: the steps of a pass */
	MU_LOG_DEBUG,   /* verbosity=2: mappings, arenas, timings */
};

struct mu_log {
	int fd;        /* -1: none */
	int syslog_fd; /* a datagram socket connected to /dev/log, or -1 */
	enum mu_log_level level; /* write this level and more severe ones */
	uint64_t deadline_ns;    /* write to a full pipe waits until then; after
				    it, lines that would block are dropped */
	bool records;            /* write records (mu/log_record.h), not text */
	bool silent;
	int *error;      /* receives the first errno of a line that was lost;
			    may be NULL */
	int first_error; /* where ERROR may lead */
};

/* Write one line: "libmemunreachable: ", the text, and a newline. */
void mu_log(const struct mu_log *log, enum mu_log_level level,
    const char *format, ...) __attribute__((format(printf, 3, 4)));

/*
 * Write RECORD, with its bytes right after it, to a log that takes records; its
 * kind and size are set. A log that also goes elsewhere gets TEXT there.
 */
void mu_log_record(const struct mu_log *log, enum mu_log_level level,
    struct mu_log_record *record, const char *text, size_t length);

/* Write LENGTH bytes of text, which may have several lines, unchanged. */
void mu_log_text(const struct mu_log *log, enum mu_log_level level,
    const char *text, size_t length);

#endif
