/*
 * Pointers live in vector registers too: gcc copies structures through them
 * and spills general registers into them, so all of XSAVE's area is read.
 */
#include "ptrace/live/registers.h"

#include <string.h>
#include <sys/ptrace.h>
#include <sys/uio.h>

#include "mu/arch/cpu.h"
#include "mu/arch/register_names.h"
#include "mu/arch/registers.h"
#include "mu/arch/vector.h"
#include "mu/sys.h"

#define NOTE_PRSTATUS 1
#define NOTE_PRFPREG 2     /* without XSAVE; aarch64: v0..v31 */
#define NOTE_ARM_TLS 0x401 /* the thread pointer on aarch64 */

/* The largest XSAVE area so far, AMX's, has about 11 KiB. */
#define VECTOR_WORDS ((size_t)16 * 1024 / sizeof(uintptr_t))

/*
 * The first read leaves out AMX's part. Reading and filtering the whole area
 * takes 4.8 us a thread, without that part 2.0 (2 cores Xeon, kernel 6.18).
 */
#define FIRST_WORDS ((size_t)MU_VECTOR_FIRST / sizeof(uintptr_t))

#define FIRST_PLAUSIBLE ((uintptr_t)64 << 10)

bool
mu_words_reserve(struct mu_words *words, size_t more)
{
	size_t need, max;

	if (__builtin_add_overflow(words->count, more, &need))
		return false;
	if (need <= words->max)
		return true;
	max = words->max * 2 > need ? words->max * 2 : need;
	if ((words->with_regnos &&
		!mu_arena_extend(
		    words->arena, words->regnos, words->count, max)) ||
	    !mu_arena_extend(words->arena, words->words, words->count, max))
		return false;
	words->max = max;
	return true;
}

bool
mu_words_add(struct mu_words *words, uintptr_t word)
{
	if (!mu_words_reserve(words, 1))
		return false;
	if (words->with_regnos)
		words->regnos[words->count] = MU_REGNO_END;
	words->words[words->count++] = word;
	return true;
}

bool
mu_word_plausible(uintptr_t word)
{
	return word >= FIRST_PLAUSIBLE && (word & MU_NOT_USER) == 0;
}

size_t
mu_words_keep_plausible(
    uintptr_t *words, size_t count, uint16_t *regnos, unsigned regno)
{
	size_t i, kept = 0;

	for (i = 0; i < count; i++) {
		if (!mu_word_plausible(words[i]))
			continue;
		if (regnos != NULL)
			regnos[kept] = (uint16_t)(regno + i);
		words[kept++] = words[i];
	}
	return kept;
}

/* The regnos of the next words are stored here; NULL if regnos are not kept. */
static uint16_t *
new_places(const struct mu_words *words)
{
	return words->with_regnos ? words->regnos + words->count : NULL;
}

/*
 * Read register set NOTE of TID, at most MAX words. Returns the number of
 * words, or -errno.
 */
static long
read_set(pid_t tid, long note, uintptr_t *words, size_t max)
{
	struct iovec set = { words, max * sizeof(*words) };
	long error = mu_sys_ptrace(
	    PTRACE_GETREGSET, tid, (uintptr_t)note, (uintptr_t)&set);

	return error < 0 ? error : (long)(set.iov_len / sizeof(*words));
}

static enum mu_status
failed(pid_t tid, long error, struct mu_why *why)
{
	if (error == -ESRCH)
		return mu_why(why, MU_ERR_TARGET_GONE,
		    "thread %d ended while it was stopped", tid);
	return mu_why(why, mu_status_from_errno((int)-error),
	    "cannot read the registers of thread %d (error %ld)", tid, -error);
}

static uintptr_t
thread_pointer(pid_t tid, const uintptr_t *general)
{
	uintptr_t tp = 0;

	if (MU_PRSTATUS_TP >= 0)
		return general[MU_PRSTATUS_TP < 0 ? 0 : MU_PRSTATUS_TP];
	return read_set(tid, NOTE_ARM_TLS, &tp, 1) == 1 ? tp : 0;
}

/*
 * Reads directly into the array and filters there: 16 KiB are too much for the
 * stack.
 */
static enum mu_status
add_vector(pid_t tid, struct mu_words *words, struct mu_why *why)
{
	uintptr_t *room = words->words + words->count;
	long count = read_set(tid, MU_NT_VECTOR, room, FIRST_WORDS);

	if (count == (long)FIRST_WORDS && mu_arch_vector_has_more(room))
		count = read_set(tid, MU_NT_VECTOR, room, VECTOR_WORDS);
	/* ENODEV: the CPU or kernel has no such set; EINVAL before that. */
	if (count == -ENODEV || count == -EINVAL)
		count = read_set(tid, NOTE_PRFPREG, room, VECTOR_WORDS);
	if (count == -ESRCH)
		return failed(tid, count, why);
	if (count > 0)
		words->count += mu_words_keep_plausible(
		    room, (size_t)count, new_places(words), MU_REGNO_VECTOR);
	return MU_OK;
}

static void
add_general(uintptr_t general[MU_PRSTATUS_WORDS], struct mu_words *words)
{
	size_t count = mu_words_keep_plausible(
	    general, MU_PRSTATUS_WORDS, new_places(words), MU_REGNO_GENERAL);

	memcpy(words->words + words->count, general, count * sizeof(*general));
	words->count += count;
}

static enum mu_status
reserve_thread(pid_t tid, struct mu_words *words, struct mu_why *why)
{
	if (mu_words_reserve(words, MU_PRSTATUS_WORDS + VECTOR_WORDS))
		return MU_OK;
	return mu_why(why, MU_ERR_NO_MEMORY,
	    "no memory for the registers of thread %d", tid);
}

enum mu_status
mu_registers_read(struct mu_thread *thread, pid_t tid, bool *busy,
    struct mu_words *words, struct mu_why *why)
{
	uintptr_t general[2 * MU_PRSTATUS_WORDS];
	enum mu_status status = reserve_thread(tid, words, why);
	long count;

	if (status != MU_OK)
		return status;
	count = read_set(tid, NOTE_PRSTATUS, general, 2 * MU_PRSTATUS_WORDS);
	if (count < 0)
		return failed(tid, count, why);
	if (count != MU_PRSTATUS_WORDS)
		return mu_why(why, MU_ERR_ARGUMENT,
		    "thread %d does not run " MU_ABI
		    " code: a program of 32 bits or of another processor can"
		    " not be read" MU_CURE "build it for this one",
		    tid);
	*busy = mu_arch_in_user_code(general);
	*thread = (struct mu_thread) {
		.tid = tid,
		.sp = general[MU_PRSTATUS_SP],
		.pc = general[MU_PRSTATUS_PC],
		.tp = thread_pointer(tid, general),
		.first_value = words->count,
		.call = mu_arch_call(general),
		.argument = general[MU_PRSTATUS_ARGUMENT],
	};
	add_general(general, words);
	status = add_vector(tid, words, why);
	thread->num_values = words->count - thread->first_value;
	return status;
}

enum mu_status
mu_registers_of_frame(struct mu_thread *thread,
    const struct mu_signal_thread *stopped,
    const struct mu_frame_layout *layout, struct mu_words *words,
    struct mu_why *why)
{
	uintptr_t general[MU_PRSTATUS_WORDS], *room;
	enum mu_status status = reserve_thread(stopped->tid, words, why);
	size_t bytes;

	if (status != MU_OK)
		return status;
	mu_frame_general(stopped->frame, stopped->bases, general);
	*thread = (struct mu_thread) {
		.tid = stopped->tid,
		.sp = general[MU_PRSTATUS_SP],
		.pc = general[MU_PRSTATUS_PC],
		.tp = stopped->bases[0],
		.first_value = words->count,
		.call = -1,
		.argument = general[MU_PRSTATUS_ARGUMENT],
	};
	add_general(general, words);
	room = words->words + words->count;
	bytes = mu_frame_vector(
	    stopped->frame, layout, room, VECTOR_WORDS * sizeof(*room));
	words->count += mu_words_keep_plausible(
	    room, bytes / sizeof(*room), new_places(words), MU_REGNO_VECTOR);
	thread->num_values = words->count - thread->first_value;
	return MU_OK;
}
