#include "lib/term/style.h"

#include <string.h>

struct mu_style
mu_style_choose(enum mu_style_when when, bool is_terminal, const char *no_color,
    const char *term)
{
	static const struct mu_style plain = { "", "", "" };
	/* ECMA-48, select graphic rendition: 1 bold, 2 faint, 0 neither. */
	static const struct mu_style coloured = { "\033[1m", "\033[2m",
		"\033[0m" };

	if (when == MU_STYLE_ALWAYS)
		return coloured;
	if (when == MU_STYLE_NEVER || !is_terminal)
		return plain;
	if (no_color != NULL && no_color[0] != '\0')
		return plain;
	if (term == NULL || strcmp(term, "dumb") == 0)
		return plain;
	return coloured;
}
