/*
 * MEMUNREACHABLE_OPTIONS: key=value pairs joined by ':', with LSan's key names
 * for the options that LSan has.
 *
 * The table below is the only list of options: the structure, the parser and
 * help=1 are made from it, and tests/unit/pass/test_options.c compares the
 * manual page with it.
 *
 * Runs in: original, also in constructors. Pure functions; the caller owns the
 * text.
 */
#ifndef LIB_STATE_OPTIONS_H
#define LIB_STATE_OPTIONS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "heapwalk/subject/reach.h"
#include "mu/text.h"

#define MU_PATH_MAX 4096

/* The stop methods (lib/pass/stop_method.h) that a pass may use. */
enum mu_stop_option {
	MU_STOP_AUTO, /* ptrace, or a signal if that is refused */
	MU_STOP_PTRACE,
	MU_STOP_SIGNAL,
};

/* The effect of at_exit if the heap was not, or not completely, checked. */
enum mu_unchecked {
	MU_UNCHECKED_FAIL, /* exit status 3, partial 4 */
	MU_UNCHECKED_OK,   /* the program's own status */
};

#define MU_UNCHECKED_STATUS 3
#define MU_PARTIAL_STATUS 4

/* kind, field, default, words for help=1 */
#define MU_OPTIONS(X)                                                       \
	X(duration_ms, timeout, 30000,                                      \
	    "give up a pass after this long: 30, 30s or 500ms")             \
	X(duration_ms, max_pause, 200,                                      \
	    "the program may be stopped for this long: 500ms or 2s")        \
	X(level, verbosity, 0, "1: log every pass, 2: and its details")     \
	X(path, log_path, "",                                               \
	    "write the log to FILE.<pid> (0600), or to stderr or stdout")   \
	X(flag, log_to_syslog, 0, "write the log to syslog as well")        \
	X(flag, log_records, 0,                                             \
	    "FILE.<pid> gets no text but records, for memunreachable(1)")   \
	X(signal, signal, 0,                                                \
	    "report when this signal arrives: RTMIN+5, USR2 or 40")         \
	X(interval_ms, min_interval, 1000,                                  \
	    "pause between the reports by signal: 1, 500ms or 0")           \
	X(interval_ms, every, 0,                                            \
	    "report so often what is lost, and what grows: 60, 5m")         \
	X(count, count, 0, "end that after so many reports; 0: never")      \
	X(path, looks_path, "",                                             \
	    "append these to FILE.<pid>, for memunreachable watch --from")  \
	X(flag, at_exit, 0, "report when the program ends")                 \
	X(status, exitcode, 23, "exit status when at_exit finds leaks")     \
	X(unchecked, unchecked, MU_UNCHECKED_FAIL,                          \
	    "what at_exit does when it could not check: fail or ok")        \
	X(count, only_pid, 0,                                               \
	    "obey signal and at_exit in this process only; 0: in any")      \
	X(path, only_program, "",                                           \
	    "obey signal and at_exit in programs of this name only, a"      \
	    " pattern; none: in any")                                       \
	X(count, tracer, 0,                                                 \
	    "this process, which traces us, stops our threads for a pass:"  \
	    " memunreachable(1); 0: none")                                  \
	X(count, preloaded, 0,                                              \
	    "bytes at the end of LD_PRELOAD that children do not inherit,"  \
	    " for memunreachable(1)")                                       \
	X(path, answer_path, "",                                            \
	    "at_exit writes no report but what it found to FILE.<pid>, for" \
	    " memunreachable(1)")                                           \
	X(count, answer_groups, 0,                                          \
	    "how what was found is grouped, 0 to 4, for memunreachable(1)") \
	X(count, max_leaks, 100,                                            \
	    "entries in a report that was not asked for by a call")         \
	X(flag, group, 1,                                                   \
	    "equal entries of a text are one: \"and 97 more like it\"")     \
	X(flag, log_contents, 0,                                            \
	    "show the first bytes of each block in such a report")          \
	X(flag, use_globals, 1, "variables of program and libraries count") \
	X(flag, use_stacks, 1, "stacks of threads count")                   \
	X(flag, use_registers, 1, "registers of threads count")             \
	X(flag, use_tls, 1, "thread-local storage counts")                  \
	X(flag, use_root_regions, 1, "registered root regions count")       \
	X(flag, use_unaligned, 0, "pointers at every byte count")           \
	X(mask, pointer_mask, 0xffffffffffffffff,                           \
	    "the bits of a pointer that are its address")                   \
	X(flag, confirm, 0, "report what two looks find unreachable")       \
	X(stop, stop, MU_STOP_AUTO,                                         \
	    "how threads are stopped: auto, ptrace or signal")              \
	X(bytes, max_memory, 0,                                             \
	    "memory for a pass's tables: 512k, 64m, 2g; none: half of what" \
	    " is available")                                                \
	X(workers, workers, 0,                                              \
	    "threads that search the copy of the program; 0: one a CPU")    \
	X(flag, symbolize, 0,                                               \
	    "files and lines in texts, by a separate process")              \
	X(flag, fill_memory, 1,                                             \
	    "memunreachable_test_begin() makes malloc zero its blocks")     \
	X(flag, help, 0, "list the options")

/* Types of the kinds. */
#define MU_OPTION_duration_ms(name) uint64_t name   /* milliseconds, > 0 */
#define MU_OPTION_interval_ms(name) uint64_t name   /* milliseconds */
#define MU_OPTION_bytes(name) size_t name           /* 0 = none */
#define MU_OPTION_level(name) unsigned name         /* 0 to 2 */
#define MU_OPTION_path(name) char name[MU_PATH_MAX] /* "" = unset */
#define MU_OPTION_flag(name) bool name
#define MU_OPTION_signal(name) int name /* 0 = none */
#define MU_OPTION_status(name) int name /* 0 to 255 */
#define MU_OPTION_unchecked(name) enum mu_unchecked name
#define MU_OPTION_count(name) size_t name
#define MU_OPTION_workers(name) size_t name /* 0 to 64 */
#define MU_OPTION_mask(name) uint64_t name  /* has MU_OPTION_MASK_MIN */
#define MU_OPTION_stop(name) enum mu_stop_option name

/*
 * Bits that every mask must keep, 12 to 46: a page number on x86-64. Without
 * one of them every block would look like a leak.
 */
#define MU_OPTION_MASK_MIN 0x00007ffffffff000u

struct mu_options {
#define MU_OPTION_FIELD(kind, field, fallback, words) MU_OPTION_##kind(field);
	MU_OPTIONS(MU_OPTION_FIELD)
#undef MU_OPTION_FIELD
};

/* The default value of each option. */
#define MU_OPTION_FALLBACK(kind, field, fallback, words) .field = fallback,
#define MU_OPTIONS_DEFAULT                     \
	{                                      \
		MU_OPTIONS(MU_OPTION_FALLBACK) \
	}

/* Set all options to their defaults. */
void mu_options_default(struct mu_options *options);

/*
 * Parse TEXT (NULL is empty) into OPTIONS; the last of equal keys wins. A value
 * in single or double quotes may contain ':'. An unknown key or a bad value
 * leaves the option unchanged and adds a line to WARNINGS with position, key,
 * value and what was expected.
 */
void mu_options_parse(
    struct mu_options *options, const char *text, struct mu_text *warnings);

/* The same, and one more line with the options that are ignored. */
void mu_options_read(
    struct mu_options *options, const char *text, struct mu_text *warnings);

/*
 * Parse a signal: "RTMIN+5", "RTMAX-1", "SIGUSR2", "usr2", "34". 0 if it cannot
 * be used: KILL and STOP, which cannot be caught; 32 and 33, which glibc
 * reserves; and faults (SEGV, BUS, FPE, ILL, TRAP), whose handler must not
 * return.
 */
int mu_options_signal(const char *text);

/* The rules for references that the use_ options and pointer_mask set. */
struct mu_reach mu_options_reach(const struct mu_options *options);

/*
 * The same as text if it is not the default, "use_stacks=0 use_tls=0": a report
 * that leaves something out says so.
 */
void mu_options_reach_words(
    const struct mu_options *options, struct mu_text *out);

/* One line per option: name, default, meaning. */
void mu_options_help(struct mu_text *out);

#endif
