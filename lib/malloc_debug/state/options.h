/*
 * The options of the recorder: LIBC_DEBUG_MALLOC_OPTIONS, with the names,
 * ranges and messages of Android's malloc debug.
 *
 * Runs in: the original, before main().
 */
#ifndef LIB_MALLOC_DEBUG_STATE_OPTIONS_H
#define LIB_MALLOC_DEBUG_STATE_OPTIONS_H

#include <stdbool.h>
#include <stddef.h>

struct debug_options {
	/* Bytes; 0 = none. */
	size_t front_guard, rear_guard, expand_alloc;
	/* Fill at most as many bytes; 0 = none. */
	size_t fill_on_alloc, fill_on_free;
	/* Number of blocks held back, and of frames kept of their release. */
	size_t free_track, free_track_frames;

	bool backtrace;           /* stacks are captured, or can be */
	bool backtrace_enabled;   /* capturing is on at the start */
	bool backtrace_on_signal; /* a signal switches capturing */
	bool backtrace_full, backtrace_python, dump_on_exit;
	size_t frames;             /* at most, 1 to 256 */
	size_t min_size, max_size; /* sizes of blocks whose stacks are
				      captured */
	size_t sample_bytes;       /* 0 = every block */
	const char *dump_prefix;

	bool leak_track, verify_pointers, abort_on_error, verbose;
	size_t record_allocs; /* entries; 0 = no journal */
	bool record_allocs_on_exit;
	const char *record_allocs_file;
	bool check_unreachable_on_signal;
	bool stats_on_signal, stats_on_exit;

	bool tracking; /* live blocks are recorded; derived from the others */
	bool hooks;    /* LIBC_HOOKS_ENABLE */
};

/*
 * Parse TEXT; strings are copied to memory of the recorder. False if it is
 * invalid: the reason has been printed, and OPTIONS are not to be used.
 */
bool debug_options_parse(struct debug_options *options, const char *text);

/*
 * Read the environment; nothing if AT_SECURE is set or the filter names other
 * programs. False = the recorder stays inactive.
 */
bool debug_options_environment(struct debug_options *options);

#endif
