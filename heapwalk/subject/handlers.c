#include "heapwalk/subject/handlers.h"

#include <string.h>

#include "mu/arch/cpu.h"
#include "mu/arch/unwind.h"

/* How many bytes above the stack pointer are searched. */
#define HANDLERS ((size_t)64 << 10)

static const unsigned char sigreturn_code[] = MU_SIGRETURN_BYTES;

static bool
is_sigreturn(const struct mu_snapshot *snap, uintptr_t word)
{
	const struct mu_mapping *mapping = mu_snapshot_mapping(snap, word);
	const char *view;

	if (mapping == NULL || !mapping->executable)
		return false;
	view = mu_snapshot_view(snap, word, sizeof(sigreturn_code));
	return view != NULL &&
	    memcmp(view, sigreturn_code, sizeof(sigreturn_code)) == 0;
}

/*
 * A handler that has returned runs this code, which makes one call. Its frame
 * is still whole: the word that the return popped lies in the red zone.
 */
static bool
has_returned(const struct mu_snapshot *snap, uintptr_t pc)
{
	return MU_SIGNAL_FRAME == 0 &&
	    (is_sigreturn(snap, pc) ||
		is_sigreturn(
		    snap, pc - (sizeof(sigreturn_code) - MU_CALL_CODE_SIZE)));
}

void
mu_handler_open(struct mu_handler *handler, const struct mu_snapshot *snap,
    uintptr_t pc, uintptr_t sp)
{
	*handler = (struct mu_handler) { .at = sp };
	if (sp >= sizeof(uintptr_t) && has_returned(snap, pc))
		handler->at -= sizeof(uintptr_t);
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
