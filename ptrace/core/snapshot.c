/*
 *	core_file	segments and notes
 *	core_process	notes -> the process
 *	core_threads	notes -> threads and words
 *	core_mappings	segments and file names -> mappings
 *	core_modules	mappings -> programs and libraries, and their files
 *	core_memory	all of it -> views
 */
#include "ptrace/core/snapshot.h"

#include <elf.h>
#include <string.h>
#include <sys/procfs.h>

#include "heapwalk/subject/snapshot.h"
#include "mu/arch/register_names.h"
#include "mu/arch/registers.h"
#include "mu/arch/vector.h"
#include "mu/text.h"
#include "ptrace/core/file.h"
#include "ptrace/live/registers.h"

#define NAMES_MOST 3 /* files named in a message */

/* Far more than any CPU has; bytes after that are ignored. */
#define VECTOR_BYTES ((size_t)64 << 10)

#define CODE_FROM_PROGRAM (-1) /* SI_QUEUE, SI_TIMER, SI_MESGQ ... */

/*
 * Read threads and their registers from a core's notes.
 *
 * A thread's notes follow its NT_PRSTATUS, up to the next NT_PRSTATUS. They
 * have the contents of PTRACE_GETREGSET, so the words are the same as in
 * ptrace/live/registers.c.
 */

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
add_set(struct mu_words *words, const char *data, size_t size, unsigned regno)
{
	size_t count = size / sizeof(uintptr_t);
	uintptr_t *room;

	if (!mu_words_reserve(words, count))
		return false;
	room = words->words + words->count;
	memcpy(room, data, count * sizeof(*room));
	words->count += mu_words_keep_plausible(
	    room, count, words->regnos + words->count, regno);
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
	    words, (const char *)general, sizeof(general), MU_REGNO_GENERAL);
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
		    MU_REGNO_VECTOR);
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

/*
 * Fill threads, values and places of SNAP, from ARENA. MU_ERR_ARGUMENT with WHY
 * if the core has no thread: then there are no stacks and registers to search.
 */
static enum mu_status
core_threads_read(struct mu_snapshot *snap, const struct mu_core_file *core,
    struct mu_arena *arena, struct mu_why *why)
{
	const struct mu_core_note *note = core->notes, *end;
	struct mu_words words = { .arena = arena, .with_regnos = true };
	size_t count = count_threads(core);
	bool good;

	if (count == 0)
		return mu_why(why, MU_ERR_ARGUMENT,
		    "the core has no thread: it is cut short or damaged");
	snap->threads = mu_arena_alloc(arena, count, sizeof(*snap->threads));
	good = snap->threads != NULL;
	end = note + core->num_notes;
	for (snap->num_threads = 0; good && note < end; note++)
		if (note->type == NT_PRSTATUS)
			good = add_thread(&snap->threads[snap->num_threads++],
			    note, end, &words);
	if (!good)
		return mu_why(why, MU_ERR_NO_MEMORY,
		    "no memory for the registers of %zu threads", count);
	snap->values = words.words;
	snap->regnos = words.regnos;
	snap->num_values = words.count;
	return MU_OK;
}

static enum mu_status
read_kernel_values(struct mu_snapshot *snap, const struct mu_core_file *core,
    struct mu_arena *arena, struct mu_why *why)
{
	const struct mu_core_note *note = core->notes;
	const struct mu_core_note *end = note + core->num_notes;
	uint64_t first = 0;
	size_t count;

	while (note < end &&
	    (note->type != MU_NT_KERNEL_VALUES || note->size < sizeof(first)))
		note++;
	if (note == end)
		return MU_OK;
	count = note->size / sizeof(first) - 1;
	snap->kernel_values =
	    mu_arena_alloc(arena, count + 1, sizeof(*snap->kernel_values));
	if (snap->kernel_values == NULL)
		return mu_why(why, MU_ERR_NO_MEMORY,
		    "no memory for %zu words that the kernel held", count);
	memcpy(&first, note->data, sizeof(first));
	memcpy(snap->kernel_values, note->data + sizeof(first),
	    count * sizeof(*snap->kernel_values));
	snap->num_kernel_values = count;
	snap->knows_stacks = first == 1;
	return MU_OK;
}

/*
 * True for a mapping of unknown contents. A mapping next to a module's
 * variables is its .bss.
 */
static bool
is_undumped(const struct mu_snapshot *snap, const struct mu_snapshot_core *core,
    size_t i)
{
	const struct mu_mapping *mapping = &snap->mappings[i];

	return core->parts[i].source == MU_CORE_ZEROS &&
	    (i == 0 || mapping[-1].inode == 0 || mapping[-1].shared ||
		!mapping[-1].writable ||
		mapping[-1].range.end != mapping->range.begin);
}

static enum mu_status
list_lacks(const struct mu_snapshot *snap, struct mu_snapshot_core *core,
    struct mu_arena *arena, struct mu_why *why)
{
	const struct mu_core_part *part = core->parts;
	const struct mu_mapping *mapping = snap->mappings;
	size_t i, count = 0;

	for (i = 0; i < snap->num_mappings; i++)
		count += part[i].source == MU_CORE_MISSING;
	core->gaps = mu_arena_alloc(arena, count + 1, sizeof(*core->gaps));
	if (core->gaps == NULL)
		return mu_why(why, MU_ERR_NO_MEMORY,
		    "no memory for the list of missing memory");
	for (i = 0; i < snap->num_mappings; i++, part++, mapping++) {
		if (is_undumped(snap, core, i))
			core->undumped_bytes += mu_range_size(mapping->range);
		if (part->source != MU_CORE_MISSING)
			continue;
		core->gaps[core->num_gaps++] =
		    (struct mu_core_gap) { mapping->range, mapping->name,
			    part->missing };
		core->gap_bytes += mu_range_size(mapping->range);
	}
	return MU_OK;
}

/* True if this gap has no file name or the name was printed before. */
static bool
is_named(const struct mu_core_gap *gaps, size_t i)
{
	size_t before;

	for (before = 0; before < i; before++)
		if (strcmp(gaps[before].name, gaps[i].name) == 0)
			return true;
	return gaps[i].name[0] == '\0';
}

static const char *
short_name(const char *name)
{
	const char *slash = strrchr(name, '/');

	return slash != NULL ? slash + 1 : name;
}

/* " (libfoo.so, libc.so.6: its file is not here; prog: its file is ...)" */
static void
add_names(struct mu_text *text, const struct mu_snapshot_core *core)
{
	const struct mu_core_gap *gap = core->gaps, *last = NULL;
	size_t i, named = 0;

	for (i = 0; i < core->num_gaps && named < NAMES_MOST; i++, gap++) {
		if (is_named(core->gaps, i))
			continue;
		if (last == NULL)
			mu_text_add(text, " (");
		else if (strcmp(last->why, gap->why) == 0)
			mu_text_add(text, ", ");
		else
			mu_text_add(text, ": %s, ", last->why);
		mu_text_add(text, "%s", short_name(gap->name));
		last = gap;
		named++;
	}
	if (last != NULL)
		mu_text_add(text, "%s: %s)", i < core->num_gaps ? " ..." : "",
		    last->why);
}

/* True if a missing file may be available elsewhere. */
static bool
is_curable(const struct mu_snapshot_core *core)
{
	size_t i;

	for (i = 0; i < core->modules.count; i++)
		if (core->modules.items[i].missing != NULL)
			return true;
	return false;
}

/*
 * gdb's gcore writes zeros for a whole mapping if it cannot read a page of it:
 * a guard page, which is part of each thread's stack since glibc 2.42
 * (MADV_GUARD_INSTALL). In memory no thread pointer leads to zeros.
 */
static size_t
count_zeroed(
    const struct mu_snapshot *snap, const struct mu_snapshot_core *core)
{
	const struct mu_mapping *mapping;
	size_t i, count = 0;
	uintptr_t word;

	for (i = 0; i < snap->num_threads; i++) {
		mapping = mu_snapshot_mapping(snap, snap->threads[i].tp);
		count += mapping != NULL &&
		    core->parts[mapping - snap->mappings].source ==
			MU_CORE_DUMPED &&
		    mu_snapshot_word(snap, snap->threads[i].tp, &word) &&
		    word == 0;
	}
	return count;
}

static enum mu_status
conclude(const struct mu_snapshot *snap, const struct mu_snapshot_core *core,
    struct mu_why *why)
{
	char words[sizeof(why->text)] = "";
	struct mu_text text = { words, sizeof(words), 0 };
	size_t zeroed = count_zeroed(snap, core);

	if (core->file.cut > 0)
		return mu_why(why, MU_PARTIAL,
		    "the core is cut short by %llu bytes: leaks can be wrong "
		    "or missing",
		    (unsigned long long)core->file.cut);
	if (core->file.spoilt)
		return mu_why(why, MU_PARTIAL,
		    "the compressed core is damaged: leaks can be wrong or "
		    "missing");
	if (zeroed > 0)
		return mu_why(why, MU_PARTIAL,
		    "the core has zeros for the memory of %zu thread%s, as gdb"
		    " writes for what it cannot read: what only they refer to"
		    " looks lost" MU_CURE "write it with --core-out",
		    zeroed, zeroed == 1 ? "" : "s");
	if (core->num_gaps == 0)
		return MU_OK;
	add_names(&text, core);
	return mu_why(why, MU_PARTIAL,
	    "%zu bytes are not in the core%s" MU_CURE "%s", core->gap_bytes,
	    words, is_curable(core) ? "see --sysroot and --exe" : "");
}

/*
 * Every thread has written to its stack. If the core has no stack at all,
 * private memory was excluded from the dump.
 */
static enum mu_status
check_stacks(const struct mu_snapshot *snap,
    const struct mu_snapshot_core *core, struct mu_why *why)
{
	const struct mu_mapping *mapping;
	size_t i;

	for (i = 0; i < snap->num_threads; i++) {
		mapping = mu_snapshot_mapping(snap, snap->threads[i].sp);
		if (mapping != NULL &&
		    core->parts[mapping - snap->mappings].base != NULL &&
		    core->parts[mapping - snap->mappings].source ==
			MU_CORE_DUMPED)
			return MU_OK;
	}
	return mu_why(why, MU_ERR_ARGUMENT,
	    core->file.cut > 0
		? "the core is cut short: no thread's stack is in it"
		: "the core has no private memory: no thread's stack is in it" MU_CURE
		  "echo 0x33 > /proc/PID/coredump_filter before it is written");
}

enum mu_status
mu_snapshot_core_fill(struct mu_snapshot *snap, struct mu_snapshot_core *core,
    const struct mu_core_paths *paths, struct mu_arena *arena,
    struct mu_why *why)
{
	enum mu_status status;

	status = mu_core_process_read(&core->process, &core->file, arena, why);
	if (status == MU_OK)
		status = core_threads_read(snap, &core->file, arena, why);
	if (status == MU_OK)
		status = read_kernel_values(snap, &core->file, arena, why);
	if (status == MU_OK)
		status = mu_core_mappings_make(snap, &core->parts, &core->file,
		    &core->process, arena, why);
	if (status != MU_OK)
		return status;
	snap->pid = core->process.pid;
	if (!mu_core_mappings_name(snap, &core->parts, &core->process, arena))
		return mu_why(why, MU_ERR_NO_MEMORY,
		    "no memory for %zu mappings", snap->num_mappings);
	status = mu_core_modules_open(&core->modules, snap, core->parts,
	    &core->file, &core->process, paths, arena, why);
	if (status == MU_OK)
		status = mu_core_memory_open(&core->memory, snap, core->parts,
		    &core->file, &core->modules, core->process.page_size, arena,
		    why);
	mu_core_modules_close(&core->modules);
	if (status == MU_OK)
		status = check_stacks(snap, core, why);
	if (status == MU_OK)
		status = list_lacks(snap, core, arena, why);
	if (status != MU_OK)
		return status;
	return conclude(snap, core, why);
}

enum mu_status
mu_snapshot_core_open(struct mu_snapshot *snap, struct mu_snapshot_core *core,
    const char *path, const struct mu_core_paths *paths, struct mu_arena *arena,
    struct mu_why *why)
{
	enum mu_status status;

	*snap = (struct mu_snapshot) { .pid = 0 };
	*core = (struct mu_snapshot_core) { .file.fd = -1, .memory.fd = -1 };
	status = mu_core_file_open(&core->file, path, arena, why);
	return status == MU_OK
	    ? mu_snapshot_core_fill(snap, core, paths, arena, why)
	    : status;
}

enum mu_status
mu_snapshot_core_doubt(const struct mu_snapshot_core *core, struct mu_why *why)
{
	if (core->undumped_bytes == 0)
		return MU_OK;
	return mu_why(why, MU_PARTIAL,
	    "%zu bytes were not dumped, being untouched or MADV_DONTDUMP: what "
	    "only they refer to looks lost",
	    core->undumped_bytes);
}

void
mu_snapshot_core_unlock(struct mu_snapshot_core *core, struct mu_snapshot *snap)
{
	size_t i;

	/* Mappings that the heap spans (mu_snapshot_unlock()). */
	for (i = 0; i < snap->num_mappings; i++)
		if (core->parts[i].source == MU_CORE_HOLE &&
		    snap->mappings[i].readable)
			core->undumped_bytes +=
			    mu_range_size(snap->mappings[i].range);
	mu_core_memory_unlock(&core->memory, snap);
}

void
mu_snapshot_core_close(struct mu_snapshot_core *core)
{
	mu_core_memory_close(&core->memory);
	mu_core_modules_close(&core->modules);
	mu_core_file_close(&core->file);
}
