#include "lib/writers/document.h"

#include <string.h>

static void
put_text(const struct mu_out *out, const char *text)
{
	if (text != NULL)
		out->put(out->ctx, text, strlen(text));
}

bool
mu_document_put(struct mu_document *document, const struct mu_out *out,
    const struct mu_report *report, const struct mu_shown *shown)
{
	struct mu_shown part = *shown;

	part.written = &document->written;
	if (document->reports++ == 0)
		put_text(out, document->writer->head);
	return document->writer->write(out, report, &part);
}

void
mu_document_end(struct mu_document *document, const struct mu_out *out)
{
	if (document->reports == 0)
		put_text(out, document->writer->head);
	put_text(out, document->writer->tail);
}
