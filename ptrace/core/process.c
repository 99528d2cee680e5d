#include "ptrace/core/process.h"

#include <elf.h>
#include <string.h>
#include <sys/procfs.h>

#include "mu/range.h"
#include "mu/sort.h"

#define PAGE_LEAST 4096
#define PAGE_MOST 65536

static void
read_info(struct mu_core_process *process, const struct mu_core_note *note)
{
	struct elf_prpsinfo info;

	if (note->size < sizeof(info))
		return;
	memcpy(&info, note->data, sizeof(info));
	process->pid = info.pr_pid > 0 ? info.pr_pid : 0;
	memcpy(process->program, info.pr_fname, sizeof(info.pr_fname));
	memcpy(process->args, info.pr_psargs, sizeof(info.pr_psargs));
}

/* The first thread is the one that got the signal. */
static void
read_status(struct mu_core_process *process, const struct mu_core_note *note)
{
	struct elf_prstatus status;

	if (note->size < sizeof(status))
		return;
	memcpy(&status, note->data, sizeof(status));
	process->signal = status.pr_cursig;
	if (process->pid == 0 && status.pr_pid > 0)
		process->pid = status.pr_pid;
}

static void
read_vector(struct mu_core_process *process, const struct mu_core_note *note)
{
	Elf64_auxv_t entry;
	uintptr_t value;
	size_t at;

	for (at = 0; note->size - at >= sizeof(entry); at += sizeof(entry)) {
		memcpy(&entry, note->data + at, sizeof(entry));
		value = entry.a_un.a_val;
		switch (entry.a_type) {
		case AT_PAGESZ:
			if (value >= PAGE_LEAST && value <= PAGE_MOST &&
			    (value & (value - 1)) == 0)
				process->page_size = value;
			break;
		case AT_PHDR:
			process->headers = value;
			break;
		case AT_RANDOM:
			process->random = value;
			break;
		case AT_SYSINFO_EHDR:
			process->vdso = value;
			break;
		}
	}
}

static uint64_t
word_at(const struct mu_core_note *note, size_t at)
{
	uint64_t word;

	memcpy(&word, note->data + at, sizeof(word));
	return word;
}

/*
 * fs/binfmt_elf.c, fill_files_note(): the count and the page size; then for
 * each file its start, end and offset in pages; then all names, each with its
 * NUL.
 */
static size_t
read_files(
    const struct mu_core_note *note, struct mu_core_mapped *files, size_t max)
{
	const size_t row = 3 * sizeof(uint64_t);
	const char *name = note->data + 2 * sizeof(uint64_t) + max * row;
	const char *end = note->data + note->size, *name_end;
	uint64_t unit = word_at(note, sizeof(uint64_t));
	struct mu_core_mapped file = { .name = NULL };
	size_t i, count = 0, at = 2 * sizeof(uint64_t);

	for (i = 0; i < max; i++, at += row, name = name_end + 1) {
		name_end = memchr(name, '\0', (size_t)(end - name));
		if (name_end == NULL)
			break;
		file.name = name;
		file.range.begin = word_at(note, at);
		file.range.end = word_at(note, at + 8);
		if (file.range.begin % PAGE_LEAST != 0 ||
		    file.range.end % PAGE_LEAST != 0 ||
		    file.range.begin >= file.range.end ||
		    __builtin_mul_overflow(
			word_at(note, at + 16), unit, &file.offset) ||
		    file.offset % PAGE_LEAST != 0)
			continue;
		files[count++] = file;
	}
	return count;
}

/* The number of files in NOTE, at most as many as it has room for. */
static size_t
count_files(const struct mu_core_note *note)
{
	uint64_t count, most;

	if (note->size < 2 * sizeof(uint64_t))
		return 0;
	count = word_at(note, 0);
	most = (note->size - 2 * sizeof(uint64_t)) / (3 * sizeof(uint64_t));
	return count <= most ? count : 0;
}

static int
by_name(const void *a, const void *b)
{
	const struct mu_core_mapped *left = a, *right = b;

	return strcmp(left->name, right->name);
}

/* A core has no inodes; the engine only compares them. */
static void
number_files(struct mu_core_mapped *files, size_t count)
{
	uint64_t number = 0;
	size_t i;

	mu_sort(files, count, sizeof(*files), by_name);
	for (i = 0; i < count; i++) {
		if (i == 0 || strcmp(files[i].name, files[i - 1].name) != 0)
			number++;
		files[i].file = number;
	}
}

/* Keep files in address order, each after the end of the one before. */
static size_t
drop_overlaps(struct mu_core_mapped *files, size_t count)
{
	size_t i, kept = 0;

	mu_sort(files, count, sizeof(*files), mu_range_compare);
	for (i = 0; i < count; i++)
		if (kept == 0 ||
		    files[i].range.begin >= files[kept - 1].range.end)
			files[kept++] = files[i];
	return kept;
}

static enum mu_status
take_files(struct mu_core_process *process, const struct mu_core_note *note,
    struct mu_arena *arena, struct mu_why *why)
{
	size_t max = count_files(note);

	if (max == 0 || process->num_files > 0)
		return MU_OK;
	process->files = mu_arena_alloc(arena, max, sizeof(*process->files));
	if (process->files == NULL)
		return mu_why(why, MU_ERR_NO_MEMORY,
		    "no memory for the names of %zu mapped files", max);
	process->num_files = read_files(note, process->files, max);
	number_files(process->files, process->num_files);
	process->num_files = drop_overlaps(process->files, process->num_files);
	return MU_OK;
}

enum mu_status
mu_core_process_read(struct mu_core_process *process,
    const struct mu_core_file *core, struct mu_arena *arena, struct mu_why *why)
{
	const struct mu_core_note *note;
	enum mu_status status = MU_OK;
	bool seen = false;
	size_t i;

	*process = (struct mu_core_process) { .pid = 0 };
	for (i = 0; i < core->num_notes && status == MU_OK; i++) {
		note = &core->notes[i];
		switch (note->type) {
		case NT_PRPSINFO:
			read_info(process, note);
			break;
		case NT_PRSTATUS:
			if (!seen)
				read_status(process, note);
			seen = true;
			break;
		case NT_AUXV:
			read_vector(process, note);
			break;
		case NT_FILE:
			status = take_files(process, note, arena, why);
			break;
		}
	}
	return status;
}
