/*
 * The names that an answer's addresses have: see naming.h.
 *
 * Runs in: the command.
 */
#include "lib/cli/naming.h"

#include <stdlib.h>
#include <string.h>
#include <sys/uio.h>

/* One piece of memory: the array, and the names behind it. */
static struct mu_mapping *
copy_mappings(const struct mu_mapping *mappings, size_t count)
{
	size_t i, length, size = count * sizeof(*mappings);
	struct mu_mapping *copy;
	char *name;

	for (i = 0; i < count; i++)
		size += strlen(mappings[i].name) + 1;
	copy = malloc(size + 1);
	if (copy == NULL)
		return NULL;
	name = (char *)(copy + count);
	for (i = 0; i < count; i++) {
		length = strlen(mappings[i].name) + 1;
		memcpy(name, mappings[i].name, length);
		copy[i] = mappings[i];
		copy[i].name = name;
		name += length;
	}
	return copy;
}

void
mu_naming_open(struct mu_answer *answer, const struct mu_symbols_source *source)
{
	struct mu_symbols_source own = *source;

	answer->mappings =
	    copy_mappings(source->mappings, source->num_mappings);
	if (answer->mappings == NULL)
		return;
	own.mappings = answer->mappings;
	answer->symbols = mu_symbols_open(&own);
}

void
mu_naming_close(struct mu_answer *answer)
{
	mu_symbols_close(answer->symbols);
	free(answer->mappings);
	answer->symbols = NULL;
	answer->mappings = NULL;
}

bool
mu_naming_read_process(void *ctx, uintptr_t address, void *buffer, size_t size)
{
	const pid_t *pid = ctx;
	struct iovec to = { buffer, size }, from = { (void *)address, size };

	return process_vm_readv(*pid, &to, 1, &from, 1, 0) == (ssize_t)size;
}
