/* The expected symbols of a running tests/support/command/named_program.cc. */
#ifndef TESTS_SUPPORT_COMMAND_NAMED_SYMBOLS_H
#define TESTS_SUPPORT_COMMAND_NAMED_SYMBOLS_H

#include <check.h>
#include <fcntl.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "lib/symbolize/symbols.h"
#include "mu/arena.h"
#include "ptrace/live/mappings.h"

/*
 * tests/support/command/named_program.cc built in one way or another, running,
 * and its addresses ready to be named.
 */

#define NAMED_SOURCE "tests/support/command/named_program.cc"

struct named {
	char folder[64];
	pid_t pid;
	int input; /* of the program; closed, it ends */
	uintptr_t compute, plain, vtable, counter, zeroed, local;
	unsigned line;
	struct mu_arena arena;
	struct mu_symbols_source source;
	struct mu_symbols *symbols;
};

bool named_read(void *ctx, uintptr_t address, void *buffer, size_t size);
int named_shell(const struct named *program, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* False: it cannot be linked in that way here. */
bool named_build(const struct named *program, const char *flags);

void named_run(struct named *program);

/* Read the mappings; fills in the source, to be changed before the open. */
void named_look(struct named *program);

void named_open(struct named *program);

extern struct named named;

void named_setup(void);
void named_teardown(void);
struct mu_symbol named_find(uintptr_t address);
void must_be(uintptr_t address, const char *function);
void must_be_nameless(uintptr_t address);

/* The offset is the one that nm prints, and addr2line takes. */
void must_be_offset(uintptr_t address, const char *program, const char *name);

void must_have_names(void);
void must_have_line(void);
void must_be_outside(void);
bool named_begin(const char *flags);

#endif
