/*
 * The registers of a stopped thread: all words that may be pointers.
 *
 * Runs in: collector.
 */
#ifndef PTRACE_LIVE_REGISTERS_H
#define PTRACE_LIVE_REGISTERS_H

#include "heapwalk/subject/snapshot.h"
#include "mu/arena.h"
#include "mu/status.h"
#include "ptrace/live/signal_threads.h"

/* A growing array of words; lives in the arena. */
struct mu_words {
	uintptr_t *words;
	size_t count, max;
	struct mu_arena *arena;
	bool placed;      /* set by the owner: of each word its place, too */
	uint16_t *places; /* mu/arch/register_names.h */
};

bool mu_words_add(struct mu_words *words, uintptr_t word);

/* Room for MORE words at words->words + words->count. */
bool mu_words_reserve(struct mu_words *words, size_t more);

/*
 * Can WORD be a user address? Not below 64 KiB (vm.mmap_min_addr's usual
 * value, and a page of 64 KiB) and canonical: x86-64 user addresses have at
 * most 56 bits (five-level tables), aarch64 ignores the top byte (TBI).
 */
bool mu_word_plausible(uintptr_t word);

/*
 * Keep the plausible ones of COUNT words, in order; how many they are. PLACES,
 * unless NULL, gets the place of each that is kept; the first word's is PLACE.
 */
size_t mu_words_filter(
    uintptr_t *words, size_t count, uint16_t *places, unsigned place);

/*
 * Read the general and vector registers of TID (stopped by us) into WORDS and
 * fill THREAD; *BUSY: as struct mu_tracee has it. Words that are not plausible
 * are left out; 32-bit halves are not joined. MU_ERR_TARGET_GONE if the thread
 * is no more (or, the same to the kernel, not stopped); MU_ERR_ARGUMENT if it
 * is of another ABI.
 */
enum mu_status mu_registers_read(struct mu_thread *thread, pid_t tid,
    bool *busy, struct mu_words *words, struct mu_why *why);

/*
 * The same of a thread of our own that waits in the handler of a stop by
 * signal. LAYOUT: of this machine's frames. Runs in: original.
 */
enum mu_status mu_registers_of_frame(struct mu_thread *thread,
    const struct mu_signal_thread *stopped,
    const struct mu_frame_layout *layout, struct mu_words *words,
    struct mu_why *why);

#endif
