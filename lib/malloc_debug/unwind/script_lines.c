#include "lib/malloc_debug/unwind/script_lines.h"

#include "lib/malloc_debug/unwind/stack_depot.h"
#include "lib/malloc_debug/unwind/stack_depot_memory.h"

uint32_t
script_text_put(const union script_text *text, size_t length)
{
	return stack_depot_put(
	    text->words, length / sizeof(uintptr_t) + 1, MU_STACK_SCRIPT);
}

uint64_t
script_line_put(uint32_t file, uint32_t function, unsigned line)
{
	uintptr_t words[2] = { file | (uintptr_t)function << 32, line };
	uint32_t unit;

	if (file == 0 || function == 0)
		return 0;
	unit = stack_depot_put(words, 2, MU_STACK_SCRIPT);
	return unit == 0 ? 0 : MU_FRAME_SCRIPT | unit;
}

bool
script_line_get(uint64_t frame, struct script_line *line)
{
	const uint64_t *words;

	if (!mu_frame_is_script(frame))
		return false;
	words = depot_memory_at((uint32_t)frame)->frames;
	line->file = (const char *)depot_memory_at((uint32_t)words[0])->frames;
	line->function =
	    (const char *)depot_memory_at((uint32_t)(words[0] >> 32))->frames;
	line->line = (unsigned)words[1];
	return true;
}

size_t
script_calls(const struct mu_stack *stack)
{
	size_t count = 0;

	while (count < stack->num_frames &&
	    !mu_frame_is_script(stack->frames[count]))
		count++;
	return count;
}
