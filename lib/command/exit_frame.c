#include "lib/command/exit_frame.h"

#include <elf.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/uio.h>

#include "heapwalk/heaps/glibc/libc.h"
#include "lib/command/unnamed_exit.h"
#include "lib/explain/frame_places.h"
#include "lib/symbolize/helper.h"
#include "mu/arch/cpu.h"
#include "mu/arch/exit.h"
#include "mu/arch/register_names.h"
#include "mu/arch/registers.h"
#include "mu/arch/unwind.h"
#include "mu/sys.h"

#define NAMES_NS (2 * MU_NS_PER_SEC)
#define DEPTH 8            /* frames of libc */
#define SAVED_MOST 16      /* words of registers in one of them */
#define FUNCTION_MOST 4096 /* bytes of a function that is looked at */
#define THREADS_MOST 16    /* those of a crowd keep their stack pointers */
#define COUNT(array) (sizeof(array) / sizeof(*(array)))

struct ending {
	struct mu_snapshot *snap;
	struct mu_thread *thread;
	struct mu_symbol_helper *helper;
	struct mu_known_functions *known;
	uint64_t deadline_ns;
	uintptr_t begin; /* where the frame of the caller does; 0: not known */
	uintptr_t saved[DEPTH * SAVED_MOST]; /* registers of that caller */
	size_t num_saved;
	bool red_zone; /* may be in use */
	bool named;    /* the program has names of functions */
};

/* NAME without what libc's own names of a function have before and after. */
static bool
is_ending(const char *name)
{
	static const char *const names[] = { "exit", "_exit", "_Exit",
		"quick_exit", "run_exit_handlers", "abort", "raise", "gsignal",
		"kill", "tgkill", "pthread_kill", "pthread_kill_internal",
		"pthread_kill_implementation" };
	static const char *const before[] = { "__GI_", "__new_", "__" };
	size_t i, length;

	if (name == NULL)
		return false;
	for (i = 0; i < COUNT(before); i++)
		if (strncmp(name, before[i], strlen(before[i])) == 0) {
			name += strlen(before[i]);
			break;
		}
	length = strcspn(name, ".@");
	for (i = 0; i < COUNT(names); i++)
		if (strlen(names[i]) == length &&
		    strncmp(name, names[i], length) == 0)
			return true;
	return false;
}

/* Our libraries have an _exit() of their own in front of libc's. */
static bool
is_in_libc(const struct mu_snapshot *snap, uintptr_t address)
{
	const struct mu_mapping *mapping = mu_snapshot_mapping(snap, address);

	return mapping != NULL &&
	    (mu_libc_is_named(mapping) ||
		strstr(mapping->name, "/libmemunreachable") != NULL);
}

/* Returns false if nothing is known of ADDRESS. */
static bool
find_function(struct ending *ending, uintptr_t address,
    struct mu_known_function *function)
{
	struct mu_symbol_question question = { .address = address,
		.rules = true };
	struct mu_symbol_answer answer = { .given = false };
	struct mu_known_place place;

	if (mu_known_functions_find(
		ending->known, ending->snap, address, &place, function))
		return true;
	if (!mu_symbol_helper_ask(
		ending->helper, &question, &answer, 1, ending->deadline_ns))
		place.id.size = 0;
	*function = (struct mu_known_function) {
		.named = answer.symbol.function != NULL,
		.ending = is_ending(answer.symbol.function),
		.range = answer.symbol.range,
		.rules = answer.rules,
	};
	mu_known_functions_keep(
	    ending->known, &place, address, answer.symbol.build_id, function);
	return answer.given;
}

/* The function of RANGE, at ADDRESS, may keep data below sp. */
static bool
may_use_red_zone(
    const struct mu_snapshot *snap, struct mu_range range, uintptr_t address)
{
	const struct mu_mapping *mapping = mu_snapshot_mapping(snap, address);
	size_t size = mu_range_size(range);
	unsigned char code[FUNCTION_MOST];

	return mapping == NULL || !mapping->executable || size == 0 ||
	    size > sizeof(code) ||
	    mu_sys_read_memory(snap->threads[0].tid, range.begin, code, size) !=
	    size ||
	    !mu_arch_red_zone_unused(code, size, range.begin, mapping->range);
}

/*
 * The registers that a frame which ends at CFA has saved, above SP. Returns
 * false if there may be more.
 */
static bool
keep_saved(struct ending *ending, const struct mu_frame_rules *rules,
    uintptr_t sp, uintptr_t cfa)
{
	size_t i, count = (size_t)rules->saved_words;

	if (count > SAVED_MOST || count > (cfa - sp) / sizeof(uintptr_t))
		return false;
	for (i = 1; i <= count; i++)
		if (!mu_snapshot_word(ending->snap, cfa - i * sizeof(uintptr_t),
			&ending->saved[ending->num_saved++]))
			return false;
	return true;
}

/*
 * Follow the stack as long as it is in functions of libc that take no pointer
 * and are not returned from at the end, or in those that they call. In libc
 * itself not all have names.
 */
static void
follow(struct ending *ending)
{
	struct mu_frame frame = mu_frame_of(ending->snap, ending->thread);
	bool is_static = !mu_libc_is_mapped(ending->snap);
	struct mu_known_function function;
	size_t depth, num_saved = 0;
	uintptr_t address, sp, cfa;

	for (depth = 0; depth < DEPTH; depth++) {
		address = frame.pc - (frame.caller ? MU_UNWIND_CALL : 0);
		if (!find_function(ending, address, &function))
			break;
		if (depth == 0) {
			ending->named = function.named;
			ending->red_zone = may_use_red_zone(
			    ending->snap, function.range, address);
		}
		sp = frame.sp;
		if (!(is_static ? function.ending
				: is_in_libc(ending->snap, address)) ||
		    !mu_frame_step_out(
			ending->snap, &function.rules, &frame, &cfa) ||
		    !keep_saved(ending, &function.rules, sp, cfa))
			break;
		if (function.ending) {
			ending->begin = cfa;
			num_saved = ending->num_saved;
		}
	}
	ending->num_saved = num_saved;
}

static void
add_word(struct mu_snapshot *snap, struct mu_thread *thread, uintptr_t word,
    unsigned regno)
{
	snap->values[snap->num_values] = word;
	if (snap->regnos != NULL)
		snap->regnos[snap->num_values] = (uint16_t)regno;
	snap->num_values++;
	thread->num_values++;
}

/* Make room for MORE registers behind all others. */
static bool
extend(struct mu_snapshot *snap, size_t more, struct mu_arena *arena)
{
	size_t all = snap->num_values + more;
	uintptr_t *values = mu_arena_alloc(arena, all, sizeof(*values));
	uint16_t *regnos = mu_arena_alloc(arena, all, sizeof(*regnos));

	if (values == NULL || regnos == NULL)
		return false;
	memcpy(values, snap->values, snap->num_values * sizeof(*values));
	snap->values = values;
	if (snap->regnos != NULL) {
		memcpy(
		    regnos, snap->regnos, snap->num_values * sizeof(*regnos));
		snap->regnos = regnos;
	}
	return true;
}

/* The thread gets the registers of the caller: those that calls keep. */
static bool
set_registers(struct ending *ending, struct mu_arena *arena)
{
	uintptr_t general[MU_PRSTATUS_WORDS] = { 0 };
	struct iovec set = { general, sizeof(general) };
	struct mu_thread *thread = ending->thread;
	struct mu_snapshot *snap = ending->snap;
	size_t i, first = thread->first_value, count = thread->num_values;

	if (mu_sys_ptrace(PTRACE_GETREGSET, thread->tid, NT_PRSTATUS,
		(uintptr_t)&set) != 0 ||
	    !extend(snap, count + MU_PRSTATUS_WORDS + ending->num_saved, arena))
		return false;
	thread->first_value = snap->num_values;
	thread->num_values = 0;
	for (i = 0; i < MU_PRSTATUS_WORDS; i++)
		if (mu_arch_kept_by_calls((unsigned)i))
			add_word(snap, thread, general[i],
			    MU_REGNO_GENERAL + (unsigned)i);
	for (i = 0; i < ending->num_saved; i++)
		add_word(snap, thread, ending->saved[i], MU_REGNO_END);
	for (i = first; MU_KEPT_ARE_GENERAL && i < first + count; i++)
		snap->values[i] = 0;
	return true;
}

static void
find_begin(struct ending *ending, struct mu_arena *arena)
{
	struct mu_thread *thread = ending->thread;

	if (thread->sp == 0 || thread->pc == 0)
		return;
	follow(ending);
	if (ending->begin != 0 && set_registers(ending, arena))
		thread->sp = ending->begin + MU_RED_ZONE;
	else if (!ending->named && thread->call == SYS_exit_group)
		mu_unnamed_exit_find(ending->snap, thread, arena);
	else if (!ending->red_zone)
		thread->sp += MU_RED_ZONE;
}

void
mu_exit_frame_find(struct mu_snapshot *snap, struct mu_known_functions *known,
    struct mu_arena *arena)
{
	struct mu_symbols_source source = {
		.pid = snap->threads[0].tid,
		.mappings = snap->mappings,
		.num_mappings = snap->num_mappings,
		.local = true,
		.bare = true,
	};
	struct mu_symbol_helper helper = {
		.source = &source,
		.rights = mu_rights_of_process(source.pid),
	};
	uint64_t deadline_ns = mu_sys_now_ns() + NAMES_NS;
	struct ending *ending = mu_arena_alloc(arena, 1, sizeof(*ending));
	size_t i;

	for (i = 0; ending != NULL && i < snap->num_threads && i < THREADS_MOST;
	     i++) {
		*ending = (struct ending) {
			.snap = snap,
			.thread = &snap->threads[i],
			.helper = &helper,
			.known = known,
			.deadline_ns = deadline_ns,
			.red_zone = true,
		};
		find_begin(ending, arena);
	}
	mu_symbol_helper_close(&helper);
}
