/*
 * tests/support/named_program.cc built in one way or another, running, and its
 * addresses ready to be named.
 */
#ifndef TESTS_SUPPORT_NAMED_H
#define TESTS_SUPPORT_NAMED_H

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

#define NAMED_SOURCE "tests/support/named_program.cc"

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

static bool
named_read(void *ctx, uintptr_t address, void *buffer, size_t size)
{
	const struct named *named = ctx;
	char path[64];
	ssize_t n;
	int fd;

	snprintf(path, sizeof(path), "/proc/%d/mem", named->pid);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	n = pread(fd, buffer, size, (off_t)address);
	close(fd);
	return n == (ssize_t)size;
}

/* A command of the shell, in the test's folder %s; its exit status. */
static int named_shell(const struct named *named, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

static int
named_shell(const struct named *named, const char *format, ...)
{
	char words[1024];
	int length = snprintf(
	    words, sizeof(words), "D=%s; exec 2>$D/words; ", named->folder);
	va_list args;

	va_start(args, format);
	vsnprintf(words + length, sizeof(words) - (size_t)length, format, args);
	va_end(args);
	return system(words);
}

static void
named_make(struct named *named)
{
	memset(named, 0, sizeof(*named));
	strcpy(named->folder, "/tmp/named-XXXXXX");
	ck_assert_ptr_nonnull(mkdtemp(named->folder));
	named->input = -1;
}

/* False: it cannot be linked in that way here. */
static bool
named_build(const struct named *named, const char *flags)
{
	return named_shell(named,
		   "${CXX:-c++} -Wl,--build-id %s -o $D/program " NAMED_SOURCE,
		   flags) == 0;
}

static void
named_listen(struct named *named, FILE *lines)
{
	unsigned long long value;
	char what[32] = "";

	while (strcmp(what, "ready") != 0) {
		ck_assert_int_eq(fscanf(lines, "%31s %llx", what, &value), 2);
		if (strcmp(what, "compute") == 0)
			named->compute = value;
		else if (strcmp(what, "plain") == 0)
			named->plain = value;
		else if (strcmp(what, "vtable") == 0)
			named->vtable = value;
		else if (strcmp(what, "counter") == 0)
			named->counter = value;
		else if (strcmp(what, "zeroed") == 0)
			named->zeroed = value;
		else if (strcmp(what, "local") == 0)
			named->local = value;
		else if (strcmp(what, "line") == 0)
			named->line = (unsigned)value;
	}
}

static void
named_run(struct named *named)
{
	char path[128];
	int in[2], out[2];
	FILE *lines;

	snprintf(path, sizeof(path), "%s/program", named->folder);
	ck_assert_int_eq(pipe2(in, O_CLOEXEC), 0);
	ck_assert_int_eq(pipe2(out, O_CLOEXEC), 0);
	named->pid = fork();
	if (named->pid == 0) {
		dup2(in[0], 0);
		dup2(out[1], 1);
		execl(path, path, NULL);
		_exit(127);
	}
	close(in[0]);
	close(out[1]);
	named->input = in[1];
	lines = fdopen(out[0], "r");
	named_listen(named, lines);
	fclose(lines);
}

/* Read the mappings; fills in the source, to be changed before the open. */
static void
named_look(struct named *named)
{
	struct mu_mapping *mappings;
	struct mu_why why = { .words = "" };
	size_t count;

	mu_arena_open(&named->arena, (size_t)64 << 20);
	ck_assert_msg(mu_mappings_read(named->pid, &mappings, &count,
			  &named->arena, &why) == MU_OK,
	    "%s", why.words);
	named->source = (struct mu_symbols_source) {
		.mappings = mappings,
		.num_mappings = count,
		.pid = named->pid,
		.read = named_read,
		.ctx = named,
		.local = true,
	};
}

static void
named_open(struct named *named)
{
	mu_symbols_close(named->symbols);
	named->symbols = mu_symbols_open(&named->source);
	ck_assert_ptr_nonnull(named->symbols);
}

static void
named_end(struct named *named)
{
	char words[128];

	mu_symbols_close(named->symbols);
	mu_arena_close(&named->arena);
	if (named->input >= 0)
		close(named->input);
	if (named->pid > 0)
		waitpid(named->pid, NULL, 0);
	snprintf(words, sizeof(words), "rm -rf %s", named->folder);
	ck_assert_int_eq(system(words), 0);
}

#endif
