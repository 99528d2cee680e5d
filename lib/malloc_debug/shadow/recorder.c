#include "lib/malloc_debug/shadow/recorder.h"

#include <errno.h>
#include <stdarg.h>

#include "lib/malloc_debug/entry/kept_stderr.h"
#include "lib/malloc_debug/entry/startup.h"
#include "lib/malloc_debug/shadow/live.h"
#include "lib/malloc_debug/shadow/recording.h"
#include "lib/malloc_debug/shadow/stack_depot.h"
#include "lib/malloc_debug/shadow/stack_id.h"
#include "mu/text.h"

#define LINE_BYTES 1024

struct debug_options recorder_options;
bool recorder_capturing;
bool recorder_child;

__attribute__((
    visibility("default"))) struct mu_recorded memunreachable_recorded = {
	.magic = MU_RECORDED_MAGIC,
	.version = MU_RECORDED_VERSION,
	.size = sizeof(struct mu_recorded),
};

bool
recorder_wake(void)
{
	if (!startup_awake())
		return false;
	if (!recording_start()) {
		recording_stop();
		return false;
	}
	recorder_refresh();
	return true;
}

static struct recorded_block
block_of(uintptr_t begin, uint32_t word, size_t size)
{
	return (struct recorded_block) {
		.begin = begin,
		.size = size,
		.stack = mu_shadow_stack(word),
		.kind = mu_shadow_kind(word),
		.freed = (word & MU_SHADOW_FREED) != 0,
	};
}

struct visitor {
	bool (*visit)(void *ctx, const struct recorded_block *block);
	void *ctx;
};

static bool
visit_block(void *ctx, uintptr_t begin, uint32_t word, size_t size)
{
	const struct visitor *visitor = ctx;
	struct recorded_block block = block_of(begin, word, size);

	return block.stack == RECORDER_BARE ||
	    visitor->visit(visitor->ctx, &block);
}

void
recorder_each(
    bool (*visit)(void *ctx, const struct recorded_block *block), void *ctx)
{
	struct visitor visitor = { visit, ctx };

	live_each(visit_block, &visitor);
}

bool
recorder_find(const void *pointer, struct recorded_block *block)
{
	uint32_t word = live_directory == NULL ? 0 : live_word(pointer);

	if (word == 0 || mu_shadow_stack(word) == RECORDER_BARE)
		return false;
	*block = block_of((uintptr_t)pointer, word, live_size(pointer));
	return true;
}

bool
recorder_stack_child(uint32_t stack)
{
	const struct mu_stack *found;

	if (stack < MU_STACK_FIRST)
		return stack == MU_STACK_OFF_CHILD ||
		    stack == MU_STACK_EMPTY_CHILD;
	found = stack_depot_get(stack);
	return found != NULL && (found->flags & MU_STACK_CHILD) != 0;
}

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
