/*
 * The forms of a report: one row each. .github/CONTRIBUTING.md says how to add
 * one.
 */
#ifndef LIB_WRITERS_WRITER_H
#define LIB_WRITERS_WRITER_H

#include <stdbool.h>

#include "lib/term/out.h"
#include "lib/term/style.h"
#include "lib/writers/report.h"

/* What of a report is shown, and how. */
struct mu_shown {
	bool contents; /* the first bytes of each block */
	struct mu_style style;
};

struct mu_writer {
	const char *name; /* of --format */

	/*
	 * Text: what was not checked is said on standard error instead, and
	 * the contents of a block tell its type.
	 */
	bool for_people;

	/* False: no memory; part of it may be in OUT. */
	bool (*write)(const struct mu_out *out, const struct mu_report *report,
	    const struct mu_shown *shown);
};

/* Those of --format. The first one is the default; ends with NULL. */
extern const struct mu_writer *const mu_writers[];

extern const struct mu_writer mu_writer_text; /* lib/writers/text_report.c */
extern const struct mu_writer mu_writer_json; /* lib/writers/json_report.c */

/*
 * The library's, in lib/writers/leaks_text.c: GetUnreachableMemoryString(), and
 * the entries in the log. They use no malloc, errno or lock of libc.
 */
extern const struct mu_writer mu_writer_string;
extern const struct mu_writer mu_writer_log;

#endif
