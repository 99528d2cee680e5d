#include "lib/view/view.h"

#include "lib/view/view_parts.h"

enum mu_exit
mu_view(const struct mu_cli_options *options, const struct mu_style *style,
    FILE *out, struct mu_why *why)
{
	switch (options->subject) {
	case MU_CLI_HEAP_DUMP:
		return mu_view_heap_dump(options, style, out, why);
	case MU_CLI_DIFF:
		return mu_view_diff(options, style, out, why);
	default:
		return mu_view_leaktracer(options, out, why);
	}
}
