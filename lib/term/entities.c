#include "lib/term/entities.h"

#include <string.h>

static const char *
entity_of(char byte)
{
	switch (byte) {
	case '&':
		return "&amp;";
	case '<':
		return "&lt;";
	case '>':
		return "&gt;";
	case '"':
		return "&quot;";
	case '\'':
		return "&#39;";
	default:
		return NULL;
	}
}

void
mu_entities_put(void *ctx, const char *bytes, size_t length)
{
	const struct mu_entities *entities = ctx;
	const struct mu_out *out = entities->out;
	const char *entity;
	size_t i, first = 0;

	for (i = 0; i < length; i++) {
		entity = entity_of(bytes[i]);
		if (entity == NULL ||
		    strchr(entities->escaped, bytes[i]) == NULL)
			continue;
		out->put(out->ctx, bytes + first, i - first);
		out->put(out->ctx, entity, strlen(entity));
		first = i + 1;
	}
	out->put(out->ctx, bytes + first, length - first);
}
