/*
 * Reports in one document: what its format puts around and between them.
 *
 * Runs in: the command.
 */
#ifndef LIB_WRITERS_DOCUMENT_H
#define LIB_WRITERS_DOCUMENT_H

#include "lib/writers/writer.h"

struct mu_document {
	const struct mu_writer *writer;
	size_t reports;
	size_t written; /* elements, for the writer */
};

/* Write one more report to OUT. Returns false without memory. */
bool mu_document_put(struct mu_document *document, const struct mu_out *out,
    const struct mu_report *report, const struct mu_shown *shown);

/* Write what is behind the last report, also if there is none. */
void mu_document_end(struct mu_document *document, const struct mu_out *out);

#endif
