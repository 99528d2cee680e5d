#include "lib/view/location_text.h"

#include <bsd/string.h>
#include <stdio.h>
#include <string.h>

#include "lib/term/safe_text.h"

#define NAME_SIZE 384 /* three of them, and some numbers, fit into the text */

/* NAME made safe for a terminal. */
static const char *
safe(const char *name, char *buffer)
{
	return mu_safe_for_terminal(name, buffer, NAME_SIZE);
}

/* "libfoo.so", "libfoo.so+0x1234" where nothing else identifies it. */
static void
put_module(const struct mu_location *location, char *text, size_t size)
{
	char buffer[NAME_SIZE];
	const char *slash;

	if (location->module == NULL) {
		snprintf(text, size, "0x%lx", (unsigned long)location->offset);
		return;
	}
	slash = strrchr(location->module, '/');
	safe(slash != NULL ? slash + 1 : location->module, buffer);
	if (location->file != NULL)
		strlcpy(text, buffer, size);
	else
		snprintf(text, size, "%s+0x%lx", buffer,
		    (unsigned long)location->offset);
}

struct mu_location_text
mu_location_text(const struct mu_location *location)
{
	char module[NAME_SIZE + 32], function[NAME_SIZE], file[NAME_SIZE];
	struct mu_location_text text;

	put_module(location, module, sizeof(module));
	safe(location->function != NULL ? location->function : "??", function);
	if (location->file != NULL)
		snprintf(text.text, sizeof(text.text), "%s at %s:%u (%s)",
		    function, safe(location->file, file), location->line,
		    module);
	else if (location->function != NULL)
		snprintf(
		    text.text, sizeof(text.text), "%s (%s)", function, module);
	else
		strlcpy(text.text, module, sizeof(text.text));
	return text;
}

struct mu_location_text
mu_location_text_line(const struct mu_location *location)
{
	char module[NAME_SIZE + 32], function[NAME_SIZE], file[NAME_SIZE];
	const char *name = location->function != NULL ? location->function : "";
	struct mu_location_text text;

	put_module(location, module, sizeof(module));
	snprintf(text.text, sizeof(text.text), "%s:%u %s%s(%s)",
	    safe(location->file != NULL ? location->file : "??", file),
	    location->line, safe(name, function), name[0] != '\0' ? " " : "",
	    module);
	return text;
}
