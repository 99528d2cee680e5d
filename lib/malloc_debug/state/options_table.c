/*
 * The options by name: ranges and defaults are Android's. A limit of SIZE_MAX
 * is LONG_MAX in effect, since strtol() reads the numbers there.
 */
#include "lib/malloc_debug/state/options_table.h"

#include <stdint.h>
#include <string.h>

#define GUARD_ALIGN 16 /* MALLOC_ALIGNMENT, as for malloc */
#define GUARD_BYTES 32
#define EXTRA_MOST 16384
#define FRAMES 16
#define FRAMES_MOST 256
#define SAMPLE_BYTES ((size_t)512 << 10)
#define SAMPLE_MOST ((size_t)1 << 40)
#define JOURNAL_ENTRIES 8000000
#define JOURNAL_MOST 50000000

static size_t
round_guard(size_t value)
{
	return (value + GUARD_ALIGN - 1) / GUARD_ALIGN * GUARD_ALIGN;
}

static void
front_guard(struct options_draft *draft, size_t value)
{
	draft->options.front_guard = round_guard(value);
}

static void
rear_guard(struct options_draft *draft, size_t value)
{
	draft->options.rear_guard = value;
}

static void
guard(struct options_draft *draft, size_t value)
{
	front_guard(draft, value);
	rear_guard(draft, value);
}

static void
backtrace(struct options_draft *draft, size_t value)
{
	draft->options.backtrace = true;
	draft->options.backtrace_enabled = true;
	draft->options.frames = value;
}

static void
backtrace_on_signal(struct options_draft *draft, size_t value)
{
	draft->options.backtrace = true;
	draft->options.backtrace_on_signal = true;
	draft->options.frames = value;
}

static void
dump_on_exit(struct options_draft *draft, size_t value)
{
	(void)value;
	draft->options.dump_on_exit = true;
}

static void
dump_prefix(struct options_draft *draft, const char *value)
{
	draft->options.dump_prefix =
	    value != NULL ? value : draft->default_prefix;
}

static void
full(struct options_draft *draft, size_t value)
{
	(void)value;
	draft->options.backtrace_full = true;
}

static void
python(struct options_draft *draft, size_t value)
{
	(void)value;
	draft->options.backtrace_python = true;
}

static void
exact_size(struct options_draft *draft, size_t value)
{
	draft->exact_size = value;
}

static void
min_size(struct options_draft *draft, size_t value)
{
	draft->options.min_size = value;
}

static void
max_size(struct options_draft *draft, size_t value)
{
	draft->options.max_size = value;
}

static void
sample(struct options_draft *draft, size_t value)
{
	draft->options.sample_bytes = value;
}

static void
fill_on_alloc(struct options_draft *draft, size_t value)
{
	draft->options.fill_on_alloc = value;
}

static void
fill_on_free(struct options_draft *draft, size_t value)
{
	draft->options.fill_on_free = value;
}

static void
fill(struct options_draft *draft, size_t value)
{
	fill_on_alloc(draft, value);
	fill_on_free(draft, value);
}

static void
expand_alloc(struct options_draft *draft, size_t value)
{
	draft->options.expand_alloc = value;
}

static void
free_track(struct options_draft *draft, size_t value)
{
	draft->options.free_track = value;
}

static void
free_frames(struct options_draft *draft, size_t value)
{
	draft->options.free_track_frames = value;
	draft->has_free_frames = true;
}

static void
leak_track(struct options_draft *draft, size_t value)
{
	(void)value;
	draft->options.leak_track = true;
}

static void
record_allocs(struct options_draft *draft, size_t value)
{
	draft->options.record_allocs = value;
}

static void
record_file(struct options_draft *draft, const char *value)
{
	draft->options.record_allocs_file =
	    value != NULL ? value : draft->default_file;
}

static void
record_on_exit(struct options_draft *draft, size_t value)
{
	(void)value;
	draft->options.record_allocs_on_exit = true;
}

static void
verify_pointers(struct options_draft *draft, size_t value)
{
	(void)value;
	draft->options.verify_pointers = true;
}

static void
abort_on_error(struct options_draft *draft, size_t value)
{
	(void)value;
	draft->options.abort_on_error = true;
}

static void
verbose(struct options_draft *draft, size_t value)
{
	(void)value;
	draft->options.verbose = true;
}

static void
check_unreachable(struct options_draft *draft, size_t value)
{
	(void)value;
	draft->options.check_unreachable_on_signal = true;
}

static void
stats_on_signal(struct options_draft *draft, size_t value)
{
	(void)value;
	draft->options.stats_on_signal = true;
}

static void
stats_on_exit(struct options_draft *draft, size_t value)
{
	(void)value;
	draft->options.stats_on_exit = true;
}

/* clang-format off */
#define PLAIN(set)             OPTION_PLAIN, 0, 0, 0, set, NULL
#define TEXT(set)              OPTION_TEXT, 0, 0, 0, NULL, set
#define NUMBER(set, b, lo, hi) OPTION_NUMBER, b, lo, hi, set, NULL
#define REQUIRED(set)          OPTION_REQUIRED, 0, 1, SIZE_MAX, set, NULL

static const struct option_row rows[] = {
{ "front_guard", NULL, NUMBER(front_guard, GUARD_BYTES, 1, EXTRA_MOST) },
{ "rear_guard", NULL, NUMBER(rear_guard, GUARD_BYTES, 1, EXTRA_MOST) },
{ "guard", NULL, NUMBER(guard, GUARD_BYTES, 1, EXTRA_MOST) },
{ "backtrace", "bt", NUMBER(backtrace, FRAMES, 1, FRAMES_MOST) },
{ "backtrace_enable_on_signal", "bt_en_on_sig",
    NUMBER(backtrace_on_signal, FRAMES, 1, FRAMES_MOST) },
/* The spelling in Android's documentation. */
{ "backtrace_enabled_on_signal", NULL,
    NUMBER(backtrace_on_signal, FRAMES, 1, FRAMES_MOST) },
{ "backtrace_dump_on_exit", "bt_dmp_on_ex", PLAIN(dump_on_exit) },
{ "backtrace_dump_prefix", "bt_dmp_pre", TEXT(dump_prefix) },
{ "backtrace_full", "bt_full", PLAIN(full) },
{ "backtrace_python", NULL, PLAIN(python) },
{ "backtrace_size", "bt_sz", REQUIRED(exact_size) },
{ "backtrace_min_size", "bt_min_sz", REQUIRED(min_size) },
{ "backtrace_max_size", "bt_max_sz", REQUIRED(max_size) },
{ "backtrace_sample", NULL, NUMBER(sample, SAMPLE_BYTES, 1, SAMPLE_MOST) },
{ "fill_on_alloc", NULL, NUMBER(fill_on_alloc, SIZE_MAX, 1, SIZE_MAX) },
{ "fill_on_free", NULL, NUMBER(fill_on_free, SIZE_MAX, 1, SIZE_MAX) },
{ "fill", NULL, NUMBER(fill, SIZE_MAX, 1, SIZE_MAX) },
{ "expand_alloc", NULL, NUMBER(expand_alloc, 16, 1, EXTRA_MOST) },
{ "free_track", NULL, NUMBER(free_track, 100, 1, 16384) },
{ "free_track_backtrace_num_frames", NULL,
    NUMBER(free_frames, FRAMES, 0, FRAMES_MOST) },
{ "leak_track", NULL, PLAIN(leak_track) },
{ "record_allocs", NULL,
    NUMBER(record_allocs, JOURNAL_ENTRIES, 1, JOURNAL_MOST) },
{ "record_allocs_file", NULL, TEXT(record_file) },
{ "record_allocs_on_exit", NULL, PLAIN(record_on_exit) },
{ "verify_pointers", NULL, PLAIN(verify_pointers) },
{ "abort_on_error", NULL, PLAIN(abort_on_error) },
{ "verbose", NULL, PLAIN(verbose) },
{ "check_unreachable_on_signal", NULL, PLAIN(check_unreachable) },
{ "log_allocator_stats_on_signal", NULL, PLAIN(stats_on_signal) },
{ "log_allocator_stats_on_exit", NULL, PLAIN(stats_on_exit) },
};
/* clang-format on */

static bool
is_name(const char *row, const char *name, size_t length)
{
	return row != NULL && strlen(row) == length &&
	    memcmp(row, name, length) == 0;
}

const struct option_row *
options_table_find(const char *name, size_t length)
{
	size_t i;

	for (i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
		if (is_name(rows[i].name, name, length) ||
		    is_name(rows[i].alias, name, length))
			return &rows[i];
	return NULL;
}
