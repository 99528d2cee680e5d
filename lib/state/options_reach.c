/*
 * The options that define references, for the search and as text.
 *
 * Runs in: original. Pure.
 */
#include "lib/state/options.h"

struct mu_reach
mu_options_reach(const struct mu_options *options)
{
	return (struct mu_reach) {
		.no_globals = !options->use_globals,
		.no_stacks = !options->use_stacks,
		.no_registers = !options->use_registers,
		.no_tls = !options->use_tls,
		.no_regions = !options->use_root_regions,
		.words = { .unaligned = options->use_unaligned,
		    .tags = ~(uintptr_t)options->pointer_mask },
	};
}

void
mu_options_reach_words(const struct mu_options *options, struct mu_text *out)
{
	static const struct mu_options fallback = MU_OPTIONS_DEFAULT;

#define SAY(field)                                                      \
	if (options->field != fallback.field)                           \
		mu_text_add(out, "%s%s=%d", out->length > 0 ? " " : "", \
		    #field, (int)options->field);
	SAY(use_globals)
	SAY(use_stacks)
	SAY(use_registers)
	SAY(use_tls)
	SAY(use_root_regions)
	SAY(use_unaligned)
#undef SAY
	if (options->pointer_mask != fallback.pointer_mask)
		mu_text_add(out, "%spointer_mask=0x%lx",
		    out->length > 0 ? " " : "",
		    (unsigned long)options->pointer_mask);
}
