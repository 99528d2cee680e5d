/*
 * A thread's notes follow its NT_PRSTATUS, up to the next NT_PRSTATUS. They
 * have the contents of PTRACE_GETREGSET, so the words are the same as in
 * ptrace/live/registers.c.
 */
#include "ptrace/core/threads.h"

#include <elf.h>
#include <string.h>
#include <sys/procfs.h>

#include "mu/arch/register_names.h"
#include "mu/arch/registers.h"
#include "mu/arch/vector.h"
#include "ptrace/live/registers.h"

/* Far more than any CPU has; bytes after that are ignored. */
#define VECTOR_BYTES ((size_t)64 << 10)

#define CODE_FROM_PROGRAM (-1) /* SI_QUEUE, SI_TIMER, SI_MESGQ ... */

static size_t
count_threads(const struct mu_core_file *core)
{
	size_t i, count = 0;

	for (i = 0; i < core->num_notes; i++)
		count += core->notes[i].type == NT_PRSTATUS;
	return count;
}

/* Add those words of the SIZE bytes at DATA that may be pointers. */
static bool
add_set(struct mu_words *words, const char *data, size_t size, unsigned place)
{
	size_t count = size / sizeof(uintptr_t);
	uintptr_t *room;

	if (!mu_words_reserve(words, count))
		return false;
	room = words->words + words->count;
	memcpy(room, data, count * sizeof(*room));
	words->count +=
	    mu_words_filter(room, count, words->places + words->count, place);
	return true;
}

/* Ignores a note that is too short. Returns false if memory is exhausted. */
static bool
begin_thread(struct mu_thread *thread, const struct mu_core_note *note,
    struct mu_words *words)
{
	uintptr_t general[MU_PRSTATUS_WORDS];
	struct elf_prstatus status;

	_Static_assert(sizeof(general) <= sizeof(status.pr_reg), "registers");
	*thread = (struct mu_thread) { .first_value = words->count };
	if (note->size < sizeof(status))
		return true;
	memcpy(&status, note->data, sizeof(status));
	memcpy(general, &status.pr_reg, sizeof(general));
	thread->tid = status.pr_pid;
	thread->sp = general[MU_PRSTATUS_SP];
	thread->pc = general[MU_PRSTATUS_PC];
	thread->call = mu_arch_call(general);
	thread->argument = general[MU_PRSTATUS_ARGUMENT];
	if (MU_PRSTATUS_TP >= 0)
		thread->tp = general[MU_PRSTATUS_TP < 0 ? 0 : MU_PRSTATUS_TP];
	return add_set(
	    words, (const char *)general, sizeof(general), MU_PLACE_GENERAL);
}

/*
 * On x86-64 NT_FPREGSET is the first part of NT_X86_XSTATE, so one of them is
 * enough.
 */
static const struct mu_core_note *
vector_of(const struct mu_core_note *note, const struct mu_core_note *end)
{
	const struct mu_core_note *found = NULL;

	for (; note < end && note->type != NT_PRSTATUS; note++) {
		if (note->type == MU_NT_VECTOR)
			return note;
		if (note->type == NT_FPREGSET)
			found = note;
	}
	return found;
}

/*
 * The value of a signal that was being delivered (sigqueue(), a timer) may be
 * the only copy of a pointer. The address of a fault is not such a value.
 */
static bool
add_signal(struct mu_words *words, const struct mu_core_note *note)
{
	siginfo_t info;

	if (note->size < sizeof(info))
		return true;
	memcpy(&info, note->data, sizeof(info));
	return info.si_code > CODE_FROM_PROGRAM ||
	    !mu_word_plausible((uintptr_t)info.si_value.sival_ptr) ||
	    mu_words_add(words, (uintptr_t)info.si_value.sival_ptr);
}

static bool
add_thread(struct mu_thread *thread, const struct mu_core_note *note,
    const struct mu_core_note *end, struct mu_words *words)
{
	const struct mu_core_note *vector = vector_of(note + 1, end);
	bool good = begin_thread(thread, note, words);

	if (good && vector != NULL)
		good = add_set(words, vector->data,
		    vector->size < VECTOR_BYTES ? vector->size : VECTOR_BYTES,
		    MU_PLACE_VECTOR);
	for (note++; good && note < end && note->type != NT_PRSTATUS; note++) {
		if (note->type == NT_SIGINFO)
			good = add_signal(words, note);
		if (MU_PRSTATUS_TP < 0 && note->type == NT_ARM_TLS &&
		    note->size >= sizeof(thread->tp))
			memcpy(&thread->tp, note->data, sizeof(thread->tp));
	}
	thread->num_values = words->count - thread->first_value;
	return good;
}

enum mu_status
mu_core_threads_read(struct mu_snapshot *snap, const struct mu_core_file *core,
    struct mu_arena *arena, struct mu_why *why)
{
	const struct mu_core_note *note = core->notes;
	const struct mu_core_note *end = note + core->num_notes;
	struct mu_words words = { .arena = arena, .placed = true };
	size_t count = count_threads(core);
	bool good;

	if (count == 0)
		return mu_why(why, MU_ERR_ARGUMENT,
		    "the core tells of no thread: it is cut short or damaged");
	snap->threads = mu_arena_alloc(arena, count, sizeof(*snap->threads));
	good = snap->threads != NULL;
	for (snap->num_threads = 0; good && note < end; note++)
		if (note->type == NT_PRSTATUS)
			good = add_thread(&snap->threads[snap->num_threads++],
			    note, end, &words);
	if (!good)
		return mu_why(why, MU_ERR_NO_MEMORY,
		    "no memory for the registers of %zu threads", count);
	snap->values = words.words;
	snap->places = words.places;
	snap->num_values = words.count;
	return MU_OK;
}
