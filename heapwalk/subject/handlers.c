#include "heapwalk/subject/handlers.h"

#include <string.h>

#include "mu/arch/cpu.h"
#include "mu/arch/unwind.h"

/* How many bytes above the stack pointer are searched. */
#define HANDLERS ((size_t)64 << 10)

static bool
is_sigreturn(const struct mu_snapshot *snap, uintptr_t word)
{
	static const unsigned char code[] = MU_SIGRETURN_BYTES;
	const struct mu_mapping *mapping = mu_snapshot_mapping(snap, word);
	const char *view;

	if (mapping == NULL || !mapping->executable)
		return false;
	view = mu_snapshot_view(snap, word, sizeof(code));
	return view != NULL && memcmp(view, code, sizeof(code)) == 0;
}

static void
open_search(struct mu_handler *handler, const struct mu_snapshot *snap)
{
	const struct mu_mapping *stack = mu_snapshot_mapping(snap, handler->at);

	handler->at = (handler->at + 7) & ~(uintptr_t)7;
	handler->end = stack == NULL ? handler->at : stack->range.end;
	if (handler->end > handler->at && handler->end - handler->at > HANDLERS)
		handler->end = handler->at + HANDLERS;
}

bool
mu_handler_next(struct mu_handler *handler, const struct mu_snapshot *snap)
{
	uintptr_t word, context;

	if (handler->end == 0)
		open_search(handler, snap);
	while (handler->at + sizeof(word) <= handler->end) {
		handler->frame = handler->at;
		handler->at += sizeof(word);
		if (!mu_snapshot_word(snap, handler->frame, &word) ||
		    !is_sigreturn(snap, word))
			continue;
		context = handler->frame + sizeof(word) + MU_SIGNAL_FRAME;
		if (!mu_snapshot_word(
			snap, context + MU_SIGNAL_SP, &handler->sp) ||
		    !mu_snapshot_word(
			snap, context + MU_SIGNAL_PC, &handler->pc))
			handler->sp = handler->pc = 0;
		return true;
	}
	return false;
}
