#include "tests/support/folder.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/support/suite.h"

static void
run(const char *command)
{
	ck_assert_msg(system(command) == 0, "%s", command);
}

void
folder_make(char folder[FOLDER_SIZE])
{
	strcpy(folder, "/tmp/memunreachable.XXXXXX");
	ck_assert_ptr_nonnull(mkdtemp(folder));
}

void
folder_remove(const char *folder)
{
	char command[64];

	snprintf(command, sizeof(command), "rm -rf '%s'", folder);
	run(command);
}

const char *
folder_read(const char *path, char *text, size_t size)
{
	FILE *in = fopen(path, "r");
	size_t n;

	if (in == NULL)
		return NULL;
	n = fread(text, 1, size - 1, in);
	text[n] = '\0';
	fclose(in);
	return text;
}

void
folder_core(const char *folder, pid_t pid)
{
	char command[160];

	snprintf(command, sizeof(command), "gcore -o %s/core %d >%s/log 2>&1",
	    folder, (int)pid, folder);
	run(command);
}
