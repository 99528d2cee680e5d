#include "lib/symbolize/subject_files.h"

#include <bsd/string.h>
#include <stdlib.h>

#include "mu/sys.h"
#include "mu/text.h"
#include "ptrace/live/registers.h"

#define MAPPED_MAX 512 /* descriptors; the usual limit of a process is 1024 */

static bool
read_memory(void *ctx, uintptr_t address, void *buffer, size_t size)
{
	const struct mu_subject_files *files = ctx;

	/* Most words of a block are no addresses: a call takes 2 us. */
	return mu_word_plausible(address) &&
	    mu_sys_pread(files->memory, buffer, size, address) == (ssize_t)size;
}

static int
open_of(pid_t pid, const char *name, int flags)
{
	char path[64];

	mu_text_format(path, sizeof(path), "/proc/%d/%s", pid, name);
	return mu_sys_open(path, flags | O_CLOEXEC, 0);
}

/* Needs CAP_CHECKPOINT_RESTORE or CAP_SYS_ADMIN (Linux 5.9). */
static void
open_mapped(struct mu_subject_files *files, pid_t pid, size_t count)
{
	const struct mu_loaded *loaded;
	char name[64];
	size_t i;

	if (count > MAPPED_MAX)
		count = MAPPED_MAX;
	files->mapped = calloc(count + 1, sizeof(*files->mapped));
	if (files->mapped == NULL)
		return;
	for (i = 0; i < count; i++) {
		loaded = &files->list[i];
		files->mapped[i] = -1;
		if (loaded->first->name[0] != '/')
			continue;
		mu_text_format(name, sizeof(name), "map_files/%zx-%zx",
		    (size_t)loaded->first->range.begin,
		    (size_t)loaded->first->range.end);
		files->mapped[i] = open_of(pid, name, O_PATH);
	}
	files->num_mapped = count;
}

void
mu_subject_files_open(struct mu_subject_files *files,
    struct mu_symbols_source *source, const struct mu_loaded *list,
    size_t count)
{
	*files = (struct mu_subject_files) {
		.folder = -1, .program = -1, .memory = -1, .list = list
	};
	if (source->pid <= 0) {
		if (source->sysroot != NULL)
			strlcpy(
			    files->root, source->sysroot, sizeof(files->root));
		return;
	}
	files->folder = open_of(source->pid, "root", O_PATH | O_DIRECTORY);
	files->program = open_of(source->pid, "exe", O_PATH);
	if (files->folder >= 0)
		mu_text_format(files->root, sizeof(files->root),
		    MU_SUBJECT_FILE, files->folder);
	if (source->read == NULL)
		files->memory = open_of(source->pid, "mem", O_RDONLY);
	if (files->memory >= 0) {
		source->read = read_memory;
		source->ctx = files;
	}
	open_mapped(files, source->pid, count);
}

void
mu_subject_files_close(struct mu_subject_files *files)
{
	size_t i;

	for (i = 0; i < files->num_mapped; i++)
		mu_sys_close(&files->mapped[i]);
	free(files->mapped);
	mu_sys_close(&files->folder);
	mu_sys_close(&files->program);
	mu_sys_close(&files->memory);
	*files = (struct mu_subject_files) {
		.folder = -1, .program = -1, .memory = -1
	};
}

int
mu_subject_files_mapped(
    const struct mu_subject_files *files, const struct mu_loaded *loaded)
{
	size_t index = (size_t)(loaded - files->list);

	return index < files->num_mapped ? files->mapped[index] : -1;
}
