/*
 * Colours, if wanted: totals bold, details dim.
 *
 * Pure.
 */
#ifndef LIB_TERM_STYLE_H
#define LIB_TERM_STYLE_H

#include <stdbool.h>

enum mu_style_when { MU_STYLE_AUTO, MU_STYLE_ALWAYS, MU_STYLE_NEVER };

/* Escape sequences, or all "". */
struct mu_style {
	const char *bold, *dim, *off;
};

#define MU_STYLE_PLAIN ((struct mu_style) { "", "", "" })

/*
 * AUTO means yes on a terminal, if TERM is neither unset nor "dumb" and
 * NO_COLOR is unset or empty (no-color.org). Both may be NULL.
 */
struct mu_style mu_style_choose(enum mu_style_when when, bool is_terminal,
    const char *no_color, const char *term);

#endif
