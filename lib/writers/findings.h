/*
 * What was lost, for formats of other tools: one finding for each group of a
 * report, or for each entry if there are no groups.
 *
 * Runs in: the command.
 */
#ifndef LIB_WRITERS_FINDINGS_H
#define LIB_WRITERS_FINDINGS_H

#include "lib/term/out.h"
#include "lib/writers/group_key.h"
#include "lib/writers/report.h"

/* A line of the source; FILE is "" if it is not known. */
struct mu_source_line {
	char file[4096]; /* relative to the source root, if it is below it */
	bool relative;   /* FILE is */
	bool below;      /* the source root; without one: relative */
	unsigned line;   /* 0: not known */
};

/* Strings come from the subject: terminated, but of any bytes. */
struct mu_finding {
	size_t bytes, blocks; /* with what hangs on them */
	size_t count;         /* entries that are alike */
	bool known;           /* does not fail */
	const struct Leak *example;
	char what[512];         /* "96 bytes in 4 blocks lost: struct node" */
	char key[MU_GROUP_KEY]; /* the same in every run */
	char print[17];         /* of KEY, in hex */
	const char *function;   /* that allocated; NULL: not known */
	const char *script;     /* the interpreted one that did, or NULL */
	struct mu_source_line source;
};

struct mu_findings {
	const struct mu_report *report;
	const char *root; /* --source-root; NULL: none */
	struct mu_groups_at groups;
	struct mu_entries_at entries;
	bool grouped;
	size_t index;
	struct mu_finding finding;
};

/* ROOT may be NULL. Nothing has to be closed. */
void mu_findings_open(struct mu_findings *findings,
    const struct mu_report *report, const char *root);

/* The next one, valid until the next call; NULL after the last. */
const struct mu_finding *mu_findings_next(struct mu_findings *findings);

/* Where FILE and LINE are, seen from ROOT. */
void mu_source_line_of(struct mu_source_line *source, const char *file,
    unsigned line, const char *root);

/* The name of the program without its folder; never "". */
const char *mu_report_name(const struct mu_report *report);

/* Write TEXT in XML: control characters and invalid UTF-8 as \x1b. */
void mu_put_xml(const struct mu_out *out, const char *text);

#endif
