/*
 * What libmemunreachable-lsan shares: LeakSanitizer's options, and its
 * suppressions.
 *
 * Runs in: original.
 */
#ifndef LIB_GLUE_LSAN_LSAN_H
#define LIB_GLUE_LSAN_LSAN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

#define LSAN_MANY 100000 /* entries */
#define LSAN_PATH 4096   /* bytes */

struct lsan_options {
	bool detect_leaks, leak_check_at_exit, print_suppressions;
	bool report_objects, help;
	int exitcode;
	size_t max_leaks;             /* 0: all */
	char suppressions[LSAN_PATH]; /* a file; "": none */
	char log_path[LSAN_PATH]; /* its PID is appended; "": standard error */
};

/* As LSAN_OPTIONS and __lsan_default_options() have them. */
void lsan_options_read(struct lsan_options *options);

/* Print them to standard error, for the option help. */
void lsan_options_print(const struct lsan_options *options);

struct lsan_suppressed; /* patterns */

/*
 * Those of the file and of __lsan_default_suppressions(), in memory that no
 * pass searches or counts. NULL: none.
 */
struct lsan_suppressed *lsan_suppressed_read(const char *file);

/*
 * Note BYTES in BLOCKS as suppressed if one of FUNCTIONS or MODULES, COUNT of
 * each of which some are NULL, matches.
 */
bool lsan_suppressed_has(struct lsan_suppressed *suppressed,
    const char *const *functions, const char *const *modules, size_t count,
    size_t bytes, size_t blocks);

/* Print to OUT what each has suppressed, in LeakSanitizer's words. */
void lsan_suppressed_print(const struct lsan_suppressed *suppressed, FILE *out);
void lsan_suppressed_free(struct lsan_suppressed *suppressed);

#endif
