/* The formats of a report. .github/CONTRIBUTING.md says how to add one. */
#ifndef LIB_WRITERS_WRITER_H
#define LIB_WRITERS_WRITER_H

#include <stdbool.h>

#include "lib/term/out.h"
#include "lib/term/style.h"
#include "lib/writers/report.h"

/* What is shown of a report, and how. */
struct mu_shown {
	bool contents; /* the first bytes of each block */
	bool fold;     /* entries that are alike, in Android's text */
	struct mu_style style;

	const char *source_root; /* of paths in formats of other tools; or NULL
				  */
	const char *version;     /* of this program, for those; or NULL */
	size_t *written; /* elements of such a document so far; or NULL */
};

struct mu_writer {
	const char *name; /* of --format */

	/*
	 * A text for people: failures are reported on standard error, and the
	 * contents of a block are used to name its type.
	 */
	bool for_people;

	/*
	 * What a document begins and ends with that has any number of reports;
	 * NULL: nothing. SINGLE: it has one.
	 */
	const char *head, *tail;
	bool single;

	/* Returns false without memory; OUT may have a part of the report. */
	bool (*write)(const struct mu_out *out, const struct mu_report *report,
	    const struct mu_shown *shown);
};

/* The formats of --format, ended by NULL. The first one is the default. */
extern const struct mu_writer *const mu_writers[];

extern const struct mu_writer mu_writer_text; /* lib/writers/text_report.c */
extern const struct mu_writer mu_writer_json; /* lib/writers/json_report.c */
extern const struct mu_writer mu_writer_html; /* lib/writers/html_report.c */

/* Of other tools, each in a file with its name. */
extern const struct mu_writer mu_writer_sarif;
extern const struct mu_writer mu_writer_junit;
extern const struct mu_writer mu_writer_github;
extern const struct mu_writer mu_writer_gitlab;
extern const struct mu_writer mu_writer_folded;
extern const struct mu_writer mu_writer_pprof;
extern const struct mu_writer mu_writer_lsan;
extern const struct mu_writer mu_writer_markdown;

/*
 * The library's format, in lib/writers/leaks_text.c:
 * GetUnreachableMemoryString(), and the entries in the log. Uses no malloc,
 * errno or libc lock.
 */
extern const struct mu_writer mu_writer_string;
extern const struct mu_writer mu_writer_log;

#endif
