#include "lib/view/place_text.h"

#include <bsd/string.h>
#include <stdio.h>
#include <string.h>

#include "lib/term/safe_text.h"

#define NAME_SIZE 384 /* three of them, and some numbers, fit in the words */

/* NAME as a terminal can bear it. */
static const char *
safe(const char *name, char *buffer)
{
	return mu_safe_for_terminal(name, buffer, NAME_SIZE);
}

/* "libfoo.so", "libfoo.so+0x1234" where nothing else tells the place. */
static void
put_module(const struct mu_place *place, char *words, size_t size)
{
	char buffer[NAME_SIZE];
	const char *slash;

	if (place->module == NULL) {
		snprintf(words, size, "0x%lx", (unsigned long)place->offset);
		return;
	}
	slash = strrchr(place->module, '/');
	safe(slash != NULL ? slash + 1 : place->module, buffer);
	if (place->file != NULL)
		strlcpy(words, buffer, size);
	else
		snprintf(words, size, "%s+0x%lx", buffer,
		    (unsigned long)place->offset);
}

struct mu_place_text
mu_place_text(const struct mu_place *place)
{
	char module[NAME_SIZE + 32], function[NAME_SIZE], file[NAME_SIZE];
	struct mu_place_text text;

	put_module(place, module, sizeof(module));
	safe(place->function != NULL ? place->function : "??", function);
	if (place->file != NULL)
		snprintf(text.words, sizeof(text.words), "%s at %s:%u (%s)",
		    function, safe(place->file, file), place->line, module);
	else if (place->function != NULL)
		snprintf(text.words, sizeof(text.words), "%s (%s)", function,
		    module);
	else
		strlcpy(text.words, module, sizeof(text.words));
	return text;
}

struct mu_place_text
mu_place_text_line(const struct mu_place *place)
{
	char module[NAME_SIZE + 32], function[NAME_SIZE], file[NAME_SIZE];
	const char *name = place->function != NULL ? place->function : "";
	struct mu_place_text text;

	put_module(place, module, sizeof(module));
	snprintf(text.words, sizeof(text.words), "%s:%u %s%s(%s)",
	    safe(place->file != NULL ? place->file : "??", file), place->line,
	    safe(name, function), name[0] != '\0' ? " " : "", module);
	return text;
}
