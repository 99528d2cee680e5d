#include "lib/since/json_file.h"

#include "lib/term/safe_text.h"

json_t *
mu_json_file_read(const char *file, struct mu_why *why)
{
	json_error_t error;
	json_t *value = json_load_file(file, JSON_REJECT_DUPLICATES, &error);

	if (json_is_object(value))
		return value;
	json_decref(value);
	mu_why(why, MU_ERR_ARGUMENT, "%s: %s", mu_safe_argument(file).text,
	    value != NULL ? "it is no object in JSON"
			  : mu_safe_argument(error.text).text);
	return NULL;
}
