#include "lib/symbolize/subject_files.h"

#include <bsd/string.h>
#include <stdlib.h>
#include <string.h>

#include "mu/sys.h"
#include "mu/text.h"
#include "ptrace/live/registers.h"

#define PAGE ((uintptr_t)4096) /* the smallest there is */
#define PAGES 64

#define MAPPED_MAX 512 /* descriptors; the usual limit of a process is 1024 */

/*
 * Questions lead to the same classes and lists again and again, and blocks lie
 * side by side: one read of a page answers seven or more.
 */
struct mu_subject_pages {
	uintptr_t at[PAGES]; /* 0: empty */
	char bytes[PAGES][PAGE];
};

static const char *
read_page(const struct mu_subject_files *files, uintptr_t at)
{
	struct mu_subject_pages *pages = files->pages;
	size_t slot = at / PAGE % PAGES;

	if (pages->at[slot] == at)
		return pages->bytes[slot];
	pages->at[slot] = 0;
	if (mu_sys_pread(files->memory, pages->bytes[slot], PAGE, at) != PAGE)
		return NULL;
	pages->at[slot] = at;
	return pages->bytes[slot];
}

static bool
read_memory(void *ctx, uintptr_t address, void *buffer, size_t size)
{
	const struct mu_subject_files *files = ctx;
	const char *page;

	/* Most words of a block are no addresses: a call takes 2 us. */
	if (!mu_word_plausible(address))
		return false;
	if (files->pages == NULL || size > PAGE - address % PAGE)
		return mu_sys_pread(files->memory, buffer, size, address) ==
		    (ssize_t)size;
	page = read_page(files, address & -PAGE);
	if (page != NULL)
		memcpy(buffer, page + address % PAGE, size);
	return page != NULL;
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
		files->pages = calloc(1, sizeof(*files->pages));
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
	free(files->pages);
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
