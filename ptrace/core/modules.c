#include "ptrace/core/modules.h"

#include <elf.h>
#include <string.h>
#include <sys/stat.h>

#include "mu/bisect.h"
#include "mu/regular_file.h"
#include "mu/sort.h"
#include "mu/sys.h"
#include "mu/text.h"

#define PAGE_LEAST 4096
#define HEAD_MOST ((size_t)64 << 10) /* bytes compared of each file */

#define REACH 16 /* mappings between two segments of a module, at most */

#define DELETED " (deleted)" /* d_path() adds it */

struct opening {
	struct mu_core_modules *modules;
	struct mu_snapshot *snap;
	struct mu_core_part *parts;
	const struct mu_core_file *core;
	const struct mu_core_paths *paths;
	struct mu_arena *arena;
	uintptr_t headers; /* in the program's first page; 0: not known */
	char *head;        /* HEAD_MOST bytes of the file being compared */
};

/* True if the core has the mapping's first page and it starts an ELF file. */
static bool
is_head(const struct opening *opening, size_t index)
{
	const struct mu_mapping *mapping = &opening->snap->mappings[index];
	const struct mu_core_part *part = &opening->parts[index];

	return mapping->inode != 0 && mapping->offset == 0 &&
	    part->source == MU_CORE_DUMPED &&
	    memcmp(opening->core->bytes + part->offset, ELFMAG, SELFMAG) == 0;
}

static int
by_file(const void *a, const void *b)
{
	const struct mu_core_module *left = a, *right = b;

	if (left->file != right->file)
		return left->file < right->file ? -1 : 1;
	return (left->mapping > right->mapping) -
	    (left->mapping < right->mapping);
}

/* List each file at its first head. Returns false if memory is exhausted. */
static bool
list(const struct opening *opening)
{
	const struct mu_snapshot *snap = opening->snap;
	struct mu_core_modules *modules = opening->modules;
	struct mu_core_module *module;
	size_t i, heads = 0, kept = 0;

	for (i = 0; i < snap->num_mappings; i++)
		heads += is_head(opening, i);
	modules->items =
	    mu_arena_alloc(opening->arena, heads + 1, sizeof(*module));
	if (modules->items == NULL)
		return false;
	for (i = 0; i < snap->num_mappings; i++) {
		if (!is_head(opening, i))
			continue;
		module = &modules->items[modules->count++];
		*module = (struct mu_core_module) { .mapping = i,
			.file = snap->mappings[i].inode,
			.name = snap->mappings[i].name,
			.bytes =
			    opening->core->bytes + opening->parts[i].offset,
			.size = mu_range_size(snap->mappings[i].range),
			.fd = -1 };
		if (module->size > HEAD_MOST)
			module->size = HEAD_MOST;
	}
	mu_sort(modules->items, heads, sizeof(*module), by_file);
	for (i = 0; i < heads; i++)
		if (kept == 0 ||
		    modules->items[kept - 1].file != modules->items[i].file)
			modules->items[kept++] = modules->items[i];
	modules->count = kept;
	return true;
}

/*
 * SYSROOT and the mapped name without its suffix; NULL if memory is exhausted.
 */
static const char *
path_of(const struct opening *opening, const struct mu_core_module *module)
{
	const struct mu_core_paths *paths = opening->paths;
	const char *root = paths->sysroot == NULL ? "" : paths->sysroot;
	size_t size = strlen(root) + strlen(module->name);
	size_t tail = sizeof(DELETED) - 1;
	char *path;

	if (paths->exe != NULL && opening->headers != 0 &&
	    mu_range_has(opening->snap->mappings[module->mapping].range,
		opening->headers))
		return paths->exe;
	path = mu_arena_alloc(opening->arena, size + 1, 1);
	if (path == NULL)
		return NULL;
	mu_text_format(path, size + 1, "%s%s", root, module->name);
	if (size > tail && strcmp(path + size - tail, DELETED) == 0)
		path[size - tail] = '\0';
	return path;
}

static bool
read_head(const struct mu_core_module *module, char *head)
{
	size_t used = 0;
	ssize_t n;

	memset(head, 0, HEAD_MOST);
	while (used < module->size) {
		n = mu_sys_pread(
		    module->fd, head + used, module->size - used, used);
		if (n == -EINTR)
			continue;
		if (n <= 0)
			break;
		used += (size_t)n;
	}
	/* The last page of a short file reads as zeros in both. */
	return used > 0;
}

static const char *
compare(const struct mu_core_module *module, const char *head)
{
	struct mu_core_id id;

	if (!mu_core_file_id(head, module->size, &id))
		return "its file is not an ELF file";
	if (module->id.size == 0 && id.size == 0)
		return memcmp(head, module->bytes, module->size) == 0
		    ? NULL
		    : "it has no build-id, and its file differs";
	if (module->id.size != id.size ||
	    memcmp(module->id.bytes, id.bytes, id.size) != 0)
		return "its file is another build";
	return NULL;
}

static const char *
open_file(const struct opening *opening, struct mu_core_module *module)
{
	struct stat about;

	module->path = path_of(opening, module);
	if (module->path == NULL)
		return "no memory";
	module->fd = mu_regular_file_open(AT_FDCWD, module->path, &about);
	if (module->fd == -EMFILE || module->fd == -ENFILE)
		return "too many files are open";
	if (module->fd < 0)
		return "its file is not here";
	module->length = (uint64_t)about.st_size;
	return read_head(module, opening->head) ? compare(module, opening->head)
						: "its file cannot be read";
}

static void
open_one(const struct opening *opening, struct mu_core_module *module)
{
	mu_core_file_id(module->bytes, module->size, &module->id);
	module->missing = open_file(opening, module);
	if (module->missing != NULL)
		mu_sys_close(&module->fd);
}

/*
 * gcore states no protections for what it does not dump; take those of the ELF
 * headers, as the loader did.
 */
static void
report_protection(const struct opening *opening, size_t index,
    const struct mu_core_module *module)
{
	struct mu_mapping *mapping = &opening->snap->mappings[index];
	const struct mu_mapping *head = NULL;
	unsigned flags;
	size_t i;

	for (i = index; head == NULL && i-- > 0 && index - i <= REACH;)
		if (opening->snap->mappings[i].inode == module->file &&
		    is_head(opening, i))
			head = &opening->snap->mappings[i];
	if (head == NULL)
		return;
	flags = mu_core_file_flags(module->bytes, module->size,
	    mapping->range.begin - head->range.begin);
	if (flags == 0)
		return;
	mapping->readable = (flags & PF_R) != 0;
	mapping->writable = (flags & PF_W) != 0;
	mapping->executable = (flags & PF_X) != 0;
}

/* Set the source of a module's mapping that the core has no bytes of. */
static void
place_undumped(const struct opening *opening, size_t index,
    const struct mu_core_module *module)
{
	struct mu_mapping *mapping = &opening->snap->mappings[index];
	struct mu_core_part *part = &opening->parts[index];
	uint64_t end;

	if (!part->has_segment)
		report_protection(opening, index, module);
	if (!mapping->readable || mapping->writable)
		return;
	part->source = MU_CORE_MISSING;
	part->missing = module->missing;
	if (module->missing != NULL)
		return;
	part->missing = "its file is shorter now";
	if (!__builtin_add_overflow(
		mapping->offset, mu_range_size(mapping->range), &end) &&
	    end <= module->length + (-module->length & (PAGE_LEAST - 1)))
		part->source = MU_CORE_FILE;
}

static void
place(const struct opening *opening, size_t index)
{
	const struct mu_mapping *mapping = &opening->snap->mappings[index];
	struct mu_core_part *part = &opening->parts[index];
	const struct mu_core_module *module =
	    mu_core_module_of(opening->modules, mapping->inode);

	if (part->source == MU_CORE_NOT_NEEDED && module != NULL) {
		place_undumped(opening, index, module);
	} else if (part->source == MU_CORE_NOT_NEEDED && mapping->executable) {
		part->source = MU_CORE_MISSING;
		part->missing = "left out with its headers by coredump_filter";
	}
	part->code =
	    module != NULL && mapping->executable && !mapping->writable;
}

struct mu_core_module *
mu_core_module_of(const struct mu_core_modules *modules, uint64_t file)
{
	size_t low = 0;

	mu_bisect(low, modules->count, i, modules->items[i].file < file);
	return low < modules->count && modules->items[low].file == file
	    ? &modules->items[low]
	    : NULL;
}

enum mu_status
mu_core_modules_open(struct mu_core_modules *modules, struct mu_snapshot *snap,
    struct mu_core_part *parts, const struct mu_core_file *core,
    const struct mu_core_process *process, const struct mu_core_paths *paths,
    struct mu_arena *arena, struct mu_why *why)
{
	struct opening opening = { modules, snap, parts, core, paths, arena,
		process->headers, mu_arena_alloc(arena, HEAD_MOST, 1) };
	size_t i;

	*modules = (struct mu_core_modules) { .count = 0 };
	if (opening.head == NULL || !list(&opening))
		return mu_why(why, MU_ERR_NO_MEMORY,
		    "no memory for the modules of %zu mappings",
		    snap->num_mappings);
	for (i = 0; i < modules->count; i++)
		open_one(&opening, &modules->items[i]);
	for (i = 0; i < snap->num_mappings; i++)
		if (snap->mappings[i].inode != 0)
			place(&opening, i);
	return MU_OK;
}

void
mu_core_modules_close(struct mu_core_modules *modules)
{
	size_t i;

	for (i = 0; i < modules->count; i++)
		mu_sys_close(&modules->items[i].fd);
}
