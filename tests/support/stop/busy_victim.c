#include "tests/support/stop/busy_victim.h"
#include "tests/support/built.h"

static int
busy_by_address(const void *a, const void *b)
{
	const struct busy_entry *x = a, *y = b;

	return (x->address > y->address) - (x->address < y->address);
}

static void
busy_read_model(struct busy_victim *victim)
{
	struct busy_entry *entry;
	char line[128];
	unsigned long address;

	while (fgets(line, sizeof(line), victim->output) != NULL &&
	    strcmp(line, "ready\n") != 0) {
		entry = &victim->entries[victim->num_entries];
		if (sscanf(line, "%zu blocks %zu bytes", &victim->num_lost,
			&victim->bytes_lost) == 2)
			continue;
		ck_assert_int_eq(
		    sscanf(line, "%lx %zu", &address, &entry->below), 2);
		entry->address = address;
		ck_assert_uint_lt(++victim->num_entries, BUSY_ENTRIES_MAX);
	}
	ck_assert_str_eq(line, "ready\n");
	qsort(victim->entries, victim->num_entries, sizeof(*victim->entries),
	    busy_by_address);
}

void
busy_start(struct busy_victim *victim, const char *name, const char *blocks,
    const char *threads)
{
	char path[PATH_MAX];
	int in[2], out[2];

	built_path(name, path);
	*victim = (struct busy_victim) { 0 };
	ck_assert(pipe2(in, O_CLOEXEC) == 0 && pipe2(out, O_CLOEXEC) == 0);
	victim->pid = fork();
	if (victim->pid == 0) {
		dup2(in[0], 0);
		dup2(out[1], 1);
		execl(path, path, blocks, threads, NULL);
		_exit(127);
	}
	close(in[0]);
	close(out[1]);
	victim->input = in[1];
	victim->output = fdopen(out[0], "r");
	busy_read_model(victim);
}

void
busy_expect_unharmed(struct busy_victim *victim)
{
	char line[256] = "";
	int status;

	close(victim->input);
	ck_assert_ptr_nonnull(fgets(line, sizeof(line), victim->output));
	ck_assert_int_eq(waitpid(victim->pid, &status, 0), victim->pid);
	fclose(victim->output);
	ck_assert_str_eq(line, "unharmed\n");
	ck_assert_int_eq(status, 0);
}
