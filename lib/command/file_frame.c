#include "lib/command/file_frame.h"

#include "mu/sys.h"

/* Time to wait for a name; see lib/report/symbolizer.c. */
#define PATIENCE_NS (8 * MU_NS_PER_SEC)

bool
mu_file_frame(FILE *out, struct mu_symbol_helper *helper,
    struct mu_frame_prefix prefix, size_t number, const char *path,
    uintptr_t offset)
{
	struct mu_out text = mu_out_file(out);
	struct mu_symbol_question question = {
		.path = path, .address = offset, .call = true
	};
	struct mu_symbol_answer answer = { .given = false };

	mu_symbol_helper_ask(
	    helper, &question, &answer, 1, mu_sys_now_ns() + PATIENCE_NS);
	if (answer.symbol.module == NULL || answer.symbol.function == NULL)
		return false;
	mu_frame_line_prefixed(&text, prefix, number, &answer.symbol);
	return true;
}
