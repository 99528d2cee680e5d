/*
 * The kinds of values that options have, each of which several options take.
 *
 * Numbers, times, sizes and signals are written as in MEMUNREACHABLE_OPTIONS
 * and use its parser. (strtonum(3) would accept "+1" and " 1".)
 *
 * Pure. All return MU_OK, or MU_ERR_ARGUMENT with what was expected in WHY.
 */
#ifndef LIB_CLI_VALUES_H
#define LIB_CLI_VALUES_H

#include "lib/cli/flags.h"

/* MU_ERR_ARGUMENT: VALUE is not what WORDS say. */
enum mu_status mu_cli_expected(
    const struct mu_cli_value *value, const char *words, struct mu_why *why);

/* Parse VALUE like that of KEY in MEMUNREACHABLE_OPTIONS, into SHARED. */
enum mu_status mu_cli_read_shared(const struct mu_cli_value *value,
    const char *key, struct mu_options *shared, struct mu_why *why);

/* One of the words at NAMES, which end with NULL; *CHOICE is its index. */
enum mu_status mu_cli_take_word(const struct mu_cli_value *value,
    const char *const *names, unsigned *choice, struct mu_why *why);

/* Not empty. */
enum mu_status mu_cli_read_file_name(
    const struct mu_cli_value *value, const char **file, struct mu_why *why);

/*
 * An option that the library has by the same name, except for the dashes;
 * without a value it is "1".
 */
enum mu_status mu_cli_take_same(struct mu_cli_options *options,
    const struct mu_cli_value *value, struct mu_why *why);

/*
 * Into the member of OPTIONS at VALUE->flag->at: an enum whose values are the
 * indices of the option's words; a bool; a const char *; milliseconds, in a
 * uint64_t; a size_t of 1 or more.
 */
enum mu_status mu_cli_take_choice(struct mu_cli_options *options,
    const struct mu_cli_value *value, struct mu_why *why);
enum mu_status mu_cli_take_true(struct mu_cli_options *options,
    const struct mu_cli_value *value, struct mu_why *why);
enum mu_status mu_cli_take_file(struct mu_cli_options *options,
    const struct mu_cli_value *value, struct mu_why *why);
enum mu_status mu_cli_take_time(struct mu_cli_options *options,
    const struct mu_cli_value *value, struct mu_why *why);
enum mu_status mu_cli_take_count(struct mu_cli_options *options,
    const struct mu_cli_value *value, struct mu_why *why);

#endif
