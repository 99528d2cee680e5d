#include "lib/writers/json_values.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/term/safe_text.h"

bool
mu_json_set(json_t *object, const char *key, json_t *value)
{
	return json_object_set_new(object, key, value) == 0;
}

json_t *
mu_json_done(json_t *value, bool ok)
{
	if (ok)
		return value;
	json_decref(value);
	return NULL;
}

json_t *
mu_json_count(uint64_t count)
{
	return json_integer(count > INT64_MAX ? INT64_MAX : (json_int_t)count);
}

json_t *
mu_json_address(uintptr_t address)
{
	char text[32];

	snprintf(text, sizeof(text), "0x%lx", (unsigned long)address);
	return json_string(text);
}

json_t *
mu_json_text(const char *text)
{
	size_t size = MU_SAFE_SIZE(strlen(text));
	char *safe = malloc(size);
	json_t *value = NULL;

	if (safe != NULL)
		value = json_string(mu_safe_for_json(text, safe, size));
	free(safe);
	return value;
}

json_t *
mu_json_name(const char *name)
{
	return name == NULL || name[0] == '\0' ? json_null()
					       : mu_json_text(name);
}

static int
put_piece(const char *bytes, size_t length, void *ctx)
{
	const struct mu_out *out = ctx;

	out->put(out->ctx, bytes, length);
	return 0;
}

bool
mu_json_put(const struct mu_out *out, json_t *value, size_t flags)
{
	bool ok = value != NULL &&
	    json_dump_callback(
		value, put_piece, (void *)out, JSON_ENSURE_ASCII | flags) == 0;

	json_decref(value);
	return ok;
}
