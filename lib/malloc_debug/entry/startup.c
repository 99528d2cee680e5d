/*
 * From the first allocation to main(), and the last handler at exit.
 *
 * The first allocation may come from the loader, before any constructor.
 * dlsym() works by then, as all objects have been relocated; threads and
 * signals are set up by the constructor.
 */
#include "lib/malloc_debug/entry/startup.h"

#include <link.h>
#include <pthread.h>
#include <stddef.h>
#include <string.h>
#include <sys/auxv.h>
#include <unistd.h>

#include "lib/malloc_debug/checks/guards_live.h"
#include "lib/malloc_debug/checks/quarantine.h"
#include "lib/malloc_debug/checks/symbolize.h"
#include "lib/malloc_debug/dumps/allocator_stats.h"
#include "lib/malloc_debug/dumps/heap_dump.h"
#include "lib/malloc_debug/dumps/journal.h"
#include "lib/malloc_debug/dumps/leak_list.h"
#include "lib/malloc_debug/dumps/watch.h"
#include "lib/malloc_debug/entry/exit_wait.h"
#include "lib/malloc_debug/entry/hooks.h"
#include "lib/malloc_debug/entry/new_failed.h"
#include "lib/malloc_debug/leaktracer/leaktracer.h"
#include "lib/malloc_debug/shadow/gate.h"
#include "lib/malloc_debug/shadow/live.h"
#include "lib/malloc_debug/shadow/recording.h"
#include "lib/malloc_debug/shadow/sampling.h"
#include "lib/malloc_debug/shadow/stack_id.h"
#include "lib/malloc_debug/state/kept_stderr.h"
#include "lib/malloc_debug/state/real.h"
#include "lib/malloc_debug/state/state.h"
#include "lib/malloc_debug/unwind/own_memory.h"
#include "lib/malloc_debug/unwind/python_frames.h"
#include "lib/state/variables.h"

#define EARLY_BLOCKS 256

enum stage { NOT_STARTED, FINDING, FOUND, READING, ACTIVE, INACTIVE };

static int stage;
static bool with_options;
static const void *early[EARLY_BLOCKS];
static size_t early_sizes[EARLY_BLOCKS], early_count;

/*
 * Itanium C++ ABI, "DSO Object Destruction API": FUNCTION runs when DSO is
 * unloaded, or at exit(); with NULL only at exit().
 */
int __cxa_atexit(void (*function)(void *), void *argument, void *dso);

/* Weak: bound when the program is loaded, if any object has them. */
void __asan_init(void) __attribute__((weak));
void __hwasan_init(void) __attribute__((weak));
void __msan_init(void) __attribute__((weak));
void __tsan_init(void) __attribute__((weak));
void __lsan_init(void) __attribute__((weak));

/*
 * The first steps in a child of fork(). No lock has to be taken before the
 * fork: words, stacks and records are consistent at any time.
 *
 * The child has one thread; glibc has reset its own malloc by then.
 */

static void
child(void)
{
	recorder_enter();
	if (recording_on)
		stack_id_fork_child();
	sampling_fork_child();
	gate_fork_child();
	journal_fork_child();
	watch_fork_child();
	exit_wait_fork_child();
	kept_stderr_drop();
	own_memory_fork_child();
	recorder_leave();
}

/* Call once, in the constructor. */
static void
fork_watch(void)
{
	pthread_atfork(own_memory_fork, own_memory_fork_parent, child);
}

/*
 * Detect tools that intercept malloc themselves, so that the recorder stays
 * inactive.
 *
 * Sanitizers define a symbol that their instrumented code calls at its start;
 * Valgrind preloads its own libraries.
 */

static int
is_valgrind(struct dl_phdr_info *object, size_t size, void *unused)
{
	(void)size;
	(void)unused;
	return object->dlpi_name != NULL &&
	    strstr(object->dlpi_name, "/vgpreload_") != NULL;
}

/* "AddressSanitizer", "Valgrind", ...; NULL: none. */
static const char *
other_tool(void)
{
	if (__asan_init != NULL)
		return "AddressSanitizer";
	if (__hwasan_init != NULL)
		return "HWAddressSanitizer";
	if (__msan_init != NULL)
		return "MemorySanitizer";
	if (__tsan_init != NULL)
		return "ThreadSanitizer";
	if (__lsan_init != NULL)
		return "LeakSanitizer";
	return dl_iterate_phdr(is_valgrind, NULL) != 0 ? "Valgrind" : NULL;
}

static bool
step(int from, int to)
{
	return __atomic_compare_exchange_n(
	    &stage, &from, to, false, __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE);
}

void
startup_note(const void *block, size_t size)
{
	size_t i = __atomic_fetch_add(&early_count, 1, __ATOMIC_RELAXED);

	if (i >= EARLY_BLOCKS)
		return;
	early_sizes[i] = size + (size == 0);
	early[i] = block;
}

void
startup_forget(const void *block)
{
	size_t i;

	for (i = 0; i < EARLY_BLOCKS; i++) {
		if (early[i] == block)
			early[i] = NULL;
	}
}

bool
startup_missed(void)
{
	return __atomic_load_n(&early_count, __ATOMIC_RELAXED) > EARLY_BLOCKS;
}

/* verify_pointers needs these blocks, too. */
static void
record_early(void)
{
	size_t i;

	for (i = 0; i < EARLY_BLOCKS; i++) {
		if (early[i] != NULL)
			live_put(early[i], early_sizes[i],
			    mu_shadow_word(RECORDER_BARE, MU_BLOCK_MALLOC));
	}
}

/* The first caller prepares; others continue without waiting for it. */
static void
prepare_stacks(void)
{
	static bool begun;

	if (__atomic_exchange_n(&begun, true, __ATOMIC_ACQ_REL))
		return;
	recorder_enter();
	stack_capture_init();
	if (recorder_options.backtrace_full)
		stack_capture_init_full();
	if (recorder_options.backtrace_python)
		python_frames_init();
	recorder_leave();
}

static void
publish_options(void)
{
	const struct debug_options *options = &recorder_options;
	struct mu_recorded *recorded = &memunreachable_recorded;

	recorded->max_frames = (uint32_t)options->frames;
	recorded->sample_bytes = options->sample_bytes;
	recorded->min_size = options->min_size;
	recorded->max_size = options->max_size;
	if (options->backtrace)
		recorded->flags |= MU_RECORDED_STACKS;
	if (options->front_guard != 0)
		recorded->flags |= MU_RECORDED_GUARDED;
}

static void
prepare_options(void)
{
	const struct debug_options *options = &recorder_options;

	recorder_capturing = options->backtrace_enabled;
	stack_id_choose();
	if (options->sample_bytes != 0)
		sampling_init(options->sample_bytes);
	if (options->record_allocs != 0)
		journal_start(options->record_allocs);
	if (options->hooks)
		hooks_enable();
	if (options->free_track != 0 && !quarantine_init(options->free_track))
		recording_stop();
}

static void
say_unknown_variables(void)
{
	char words[MU_VARIABLES_WORDS];
	size_t i;

	for (i = 0;
	     mu_variables_unknown(environ, MU_VARIABLES_RECORDER, i, words);
	     i++)
		recorder_say("%s", words);
}

/* Returns false if the recorder stays inactive. */
static bool
read_environment(void)
{
	const char *tool = other_tool();

	if (getauxval(AT_SECURE) == 0)
		say_unknown_variables();

	with_options = debug_options_environment(&recorder_options);
	leaktracer_startup();
	if (tool != NULL && (with_options || leaktracer_active))
		recorder_say("inactive: %s replaces malloc", tool);
	if (tool != NULL)
		with_options = leaktracer_active = false;
	if (!with_options)
		recorder_options =
		    (struct debug_options) { .max_size = SIZE_MAX };
	return tool == NULL;
}

static void
come_up(void)
{
	bool active = read_environment();

	publish_options();
	if (leaktracer_active)
		leaktracer_publish();
	if (recording_wanted() || leaktracer_active) {
		prepare_stacks();
		if (!recording_start())
			recording_stop();
		else if (recorder_options.verify_pointers)
			record_early();
	}
	if (with_options)
		prepare_options();
	__atomic_store_n(&stage, active ? ACTIVE : INACTIVE, __ATOMIC_RELEASE);
	recording_choose();
}

void
startup_now(void)
{
	if (step(NOT_STARTED, FINDING)) {
		recorder_enter();
		real_find();
		new_replaced_find();
		recorder_leave();
		step(FINDING, FOUND);
	}
	/* libc sets environ first of all; some objects allocate even before. */
	if (environ != NULL && step(FOUND, READING)) {
		recorder_enter();
		come_up();
		recorder_leave();
	}
}

bool
startup_ready(void)
{
	startup_now();
	if (__atomic_load_n(&stage, __ATOMIC_ACQUIRE) == INACTIVE) {
		recorder_say("inactive: another tool replaces malloc");
		return false;
	}
	prepare_stacks();
	return true;
}

/*
 * Checks come before the lists and files. What these functions allocate is not
 * listed.
 */
static void
at_exit(void *unused)
{
	(void)unused;
	recorder_enter();
	watch_end();
	quarantine_check();
	guards_check_live();
	leak_list_at_exit();
	journal_at_exit();
	heap_dump_at_exit();
	stats_at_exit();
	leaktracer_at_exit();
	recorder_leave();
}

/* If another allocator is preloaded before this library, it gets all calls. */
static void
say_enabled(void)
{
	const char *first = real_first();

	if (first != NULL)
		recorder_say("%s: calls of malloc go to %s, which comes before"
			     " this library: only what that passes on is"
			     " recorded; preload this library first",
		    recorder_program(), first);
	else if (with_options && recorder_options.verbose)
		recorder_say("%s: malloc debug enabled", recorder_program());
}

/*
 * exit() runs handlers in reverse order. This one is registered before libc
 * registers the loader's destructors, so it runs after all of them have freed
 * their blocks; DSO NULL keeps dlclose() from running it.
 */
__attribute__((constructor(101))) static void
startup_constructor(void)
{
	startup_now();
	if (__atomic_load_n(&stage, __ATOMIC_ACQUIRE) != ACTIVE)
		return;
	recorder_enter();
	fork_watch();
	if (with_options)
		symbolize_start();
	__cxa_atexit(at_exit, NULL, NULL);
	leaktracer_constructor();
	if (with_options || leaktracer_active)
		say_enabled();
	if (with_options || leaktracer_active) {
		watch_start();
		exit_wait_start();
	}
	recorder_leave();
}
