/*
 * A long option that is not the name of one, nor a prefix of only one.
 *
 * Pure.
 */
#ifndef LIB_CLI_MISSPELT_H
#define LIB_CLI_MISSPELT_H

#include "mu/status.h"

/*
 * Tell in WHY which options ARGUMENT, "--NAME" or "--NAME=VALUE", is a prefix
 * of; if of none, which one may be meant. Returns MU_ERR_ARGUMENT.
 */
enum mu_status mu_cli_misspelt(const char *argument, struct mu_why *why);

#endif
