#include "lib/view/view.h"

#include <string.h>

#include "lib/term/output.h"
#include "lib/view/view_parts.h"

enum mu_status
mu_view_page(const char *path, FILE *out,
    enum mu_status (*write)(FILE *out, const void *view, struct mu_why *why),
    const void *view, struct mu_why *why)
{
	bool is_file = strcmp(path, "-") != 0;
	struct mu_output output;
	enum mu_status status =
	    is_file ? mu_output_open(&output, path, why) : MU_OK;

	if (status != MU_OK)
		return status;
	status = write(is_file ? output.text : out, view, why);
	if (status == MU_OK && is_file)
		status = mu_output_commit(&output, why);
	if (is_file)
		mu_output_close(&output);
	return status;
}

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
