/* Text for HTML and XML. Runs in: the command. */
#ifndef LIB_TERM_ENTITIES_H
#define LIB_TERM_ENTITIES_H

#include "lib/term/out.h"

struct mu_entities {
	const struct mu_out *out;
	const char *escaped; /* which of & < > " ' become entities */
};

/* put of a struct mu_out whose ctx is a struct mu_entities. */
void mu_entities_put(void *ctx, const char *bytes, size_t length);

#endif
