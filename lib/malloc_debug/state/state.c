#include "lib/malloc_debug/state/state.h"

#include <errno.h>
#include <stdarg.h>

#include "lib/malloc_debug/state/kept_stderr.h"
#include "mu/text.h"

#define LINE_BYTES 1024

struct debug_options recorder_options;
bool recorder_capturing;
bool recorder_child;

__attribute__((visibility("default")))
MU_RECORDED_ALIGNED struct mu_recorded memunreachable_recorded = {
	.magic = MU_RECORDED_MAGIC,
	.version = MU_RECORDED_VERSION,
	.size = sizeof(struct mu_recorded),
};

const char *
recorder_program(void)
{
	const char *name = program_invocation_short_name;

	return name == NULL ? "?" : name;
}

void
recorder_say(const char *format, ...)
{
	static const char prefix[] = "malloc_debug: ";
	char line[LINE_BYTES];
	struct mu_text text = { line, sizeof(line) - 1, 0 };
	size_t length;
	va_list args;

	mu_text_add(&text, "%s", prefix);
	va_start(args, format);
	length = text.length +
	    mu_text_vformat(line + text.length, sizeof(line) - 1 - text.length,
		format, args);
	va_end(args);
	if (length > sizeof(line) - 2)
		length = sizeof(line) - 2; /* the formatter's terminator */
	line[length] = '\n';
	kept_stderr_write(line, length + 1);
}
