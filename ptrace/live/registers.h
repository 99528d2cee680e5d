/*
 * Read the registers of a stopped thread: all words that may be pointers.
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
	bool with_regnos; /* set by the owner: keep the regno of each word, too
			   */
	uint16_t *regnos; /* see mu/arch/register_names.h */
};

/* Add WORD. Returns false if memory is exhausted. */
bool mu_words_add(struct mu_words *words, uintptr_t word);

/* Make room for MORE words at words->words + words->count. */
bool mu_words_reserve(struct mu_words *words, size_t more);

/*
 * True if WORD can be a user address: not below 64 KiB (vm.mmap_min_addr's
 * usual value, and a page of 64 KiB) and canonical. x86-64 user addresses have
 * at most 56 bits (five-level tables); aarch64 ignores the top byte (TBI).
 */
bool mu_word_plausible(uintptr_t word);

/*
 * Keep the plausible ones of COUNT words, in order, and return their number.
 * REGNOS, unless NULL, receives the regno of each word that is kept; REGNO is
 * that of the first word.
 */
size_t mu_words_keep_plausible(
    uintptr_t *words, size_t count, uint16_t *regnos, unsigned regno);

/*
 * Read the general and vector registers of TID (stopped by us) into WORDS and
 * fill THREAD; *BUSY is as in struct mu_tracee. Implausible words are left out;
 * 32-bit halves are not joined. MU_ERR_TARGET_GONE: the thread has ended or is
 * not stopped (the kernel does not distinguish these). MU_ERR_ARGUMENT: it
 * belongs to another ABI.
 */
enum mu_status mu_registers_read(struct mu_thread *thread, pid_t tid,
    bool *busy, struct mu_words *words, struct mu_why *why);

/*
 * The same for a thread of our own process that waits in the handler of a stop
 * by signal. LAYOUT describes this machine's frames. Runs in: original.
 */
enum mu_status mu_registers_of_frame(struct mu_thread *thread,
    const struct mu_signal_thread *stopped,
    const struct mu_frame_layout *layout, struct mu_words *words,
    struct mu_why *why);

#endif
