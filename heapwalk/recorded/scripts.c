#include "heapwalk/recorded/scripts.h"

#define WORD sizeof(uint64_t)

/* The words of UNIT, an entry of this kind; NULL if it is none. */
static const char *
words_of(mu_depot_entry *entry, const void *ctx, uint32_t unit, size_t *count)
{
	struct mu_stack head;
	const char *view;
	size_t room;

	view = entry(ctx, unit, &room);
	if (view == NULL || room < sizeof(head))
		return NULL;
	memcpy(&head, view, sizeof(head));
	*count = head.num_frames;
	if (head.flags != MU_STACK_SCRIPT ||
	    *count > (room - sizeof(head)) / WORD)
		return NULL;
	return view + sizeof(head);
}

static const char *
text_of(mu_depot_entry *entry, const void *ctx, uint32_t unit)
{
	const char *text;
	size_t count;

	text = words_of(entry, ctx, unit, &count);
	if (text == NULL || count > MU_SCRIPT_TEXT_WORDS ||
	    memchr(text, '\0', count * WORD) == NULL)
		return NULL;
	return text;
}

bool
mu_script_find(mu_depot_entry *entry, const void *ctx, uint64_t frame,
    struct mu_script *script)
{
	const char *view;
	uint64_t words[2];
	size_t count;

	if (!mu_frame_is_script(frame))
		return false;
	view = words_of(entry, ctx, (uint32_t)frame, &count);
	if (view == NULL || count != 2)
		return false;
	memcpy(words, view, sizeof(words));
	script->file = text_of(entry, ctx, (uint32_t)words[0]);
	script->function = text_of(entry, ctx, (uint32_t)(words[0] >> 32));
	script->line = (unsigned)words[1];
	return script->file != NULL && script->function != NULL;
}
