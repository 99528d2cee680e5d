/*
 * libelf checks that headers and notes lie inside the file. Their contents are
 * checked here: anyone may have written the file.
 *
 * Runs in: the command.
 */
#include "ptrace/core/file.h"

#include <elf.h>
#include <errno.h>
#include <gelf.h>
#include <stdbool.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>

#include "mu/arch/cpu.h"
#include "mu/range.h"
#include "mu/sort.h"
#include "mu/status.h"
#include "mu/sys.h"
#include "ptrace/core/unpack.h"

/* The smallest page size; segments consist of whole pages. */
#define PAGE_LEAST 4096

#define FIRST 64 /* initial capacity for segments and notes */

#define KERNEL_HALF ((uintptr_t)1 << 63) /* [vsyscall] lies there */

struct parsing {
	struct mu_core_file *core;
	Elf *elf;
	const char *path;
	struct mu_arena *arena;
	struct mu_why *why;
	size_t max_segments, max_notes;
};

#ifndef EM_LOONGARCH /* in glibc's <elf.h> since 2.36 */
#define EM_LOONGARCH 258
#endif

/*
 * Check that a file is the core of a program of the command's own architecture.
 */

static const char *
type_name(unsigned type)
{
	switch (type) {
	case ET_REL:
		return "an object file";
	case ET_EXEC:
		return "a program";
	case ET_DYN:
		return "a program or library";
	default:
		return "an ELF file of an unknown type";
	}
}

static const char *
machine_name(unsigned machine, bool wide)
{
	static const struct {
		unsigned machine;
		const char *narrow, *wide;
	} names[] = {
		{ EM_386, "i386", "i386" },
		{ EM_X86_64, "x32", "x86_64" },
		{ EM_ARM, "32-bit ARM", "32-bit ARM" },
		{ EM_AARCH64, "arm64 (ILP32)", "arm64" },
		{ EM_PPC, "32-bit PowerPC", "PowerPC" },
		{ EM_PPC64, "PowerPC", "ppc64" },
		{ EM_S390, "s390", "s390x" },
		{ EM_RISCV, "riscv32", "riscv64" },
		{ EM_MIPS, "mips", "mips64" },
		{ EM_LOONGARCH, "loongarch32", "loongarch64" },
	};
	size_t i;

	for (i = 0; i < sizeof(names) / sizeof(*names); i++)
		if (names[i].machine == machine)
			return wide ? names[i].wide : names[i].narrow;
	return wide ? "another machine" : "another, 32-bit machine";
}

/*
 * ELF is libelf's handle. If the check fails: MU_ERR_ARGUMENT, and WHY says
 * what kind of file PATH is.
 */
static enum mu_status
core_file_kind(void *elf, const char *path, struct mu_why *why)
{
	GElf_Ehdr header;
	bool wide;

	if (gelf_getehdr(elf, &header) == NULL)
		return mu_why(why, MU_ERR_ARGUMENT,
		    "%s is not a core file: it has no ELF header", path);
	wide = header.e_ident[EI_CLASS] == ELFCLASS64;
	if (header.e_type != ET_CORE)
		return mu_why(why, MU_ERR_ARGUMENT,
		    "%s is not a core file but %s", path,
		    type_name(header.e_type));
	if (header.e_machine != MU_ELF_MACHINE || !wide)
		return mu_why(why, MU_ERR_ARGUMENT,
		    "%s is the core of a program for %s, and this command is "
		    "for " MU_ABI,
		    path, machine_name(header.e_machine, wide));
	if (header.e_ident[EI_DATA] !=
	    (__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__ ? ELFDATA2LSB
						       : ELFDATA2MSB))
		return mu_why(
		    why, MU_ERR_ARGUMENT, "%s has the other byte order", path);
	return MU_OK;
}

static enum mu_status
damaged(const struct parsing *parsing, const char *what)
{
	return mu_why(parsing->why, MU_ERR_ARGUMENT,
	    "%s is damaged: %s" MU_CURE "write the core again", parsing->path,
	    what);
}

static enum mu_status
no_memory(const struct parsing *parsing)
{
	return mu_why(parsing->why, MU_ERR_NO_MEMORY,
	    "no memory for the headers of %s", parsing->path);
}

/* Clip SIZE bytes at OFFSET to what the file has; the rest counts as cut. */
static uint64_t
present(struct mu_core_file *core, uint64_t offset, uint64_t size)
{
	uint64_t have = offset < core->size ? core->size - offset : 0;

	if (size <= have)
		return size;
	if (__builtin_add_overflow(core->cut, size - have, &core->cut))
		core->cut = UINT64_MAX;
	return have;
}

static enum mu_status
add_segment(struct parsing *parsing, const GElf_Phdr *header)
{
	struct mu_core_file *core = parsing->core;
	struct mu_core_segment segment = { .offset = header->p_offset,
		.flags = header->p_flags };
	uint64_t stored = header->p_filesz;

	if (header->p_memsz == 0 || header->p_vaddr >= KERNEL_HALF)
		return MU_OK;
	segment.range.begin = header->p_vaddr;
	if (__builtin_add_overflow(
		header->p_vaddr, header->p_memsz, &segment.range.end))
		return damaged(parsing, "a segment wraps around");
	if (header->p_vaddr % PAGE_LEAST != 0 ||
	    header->p_memsz % PAGE_LEAST != 0)
		return damaged(parsing, "a segment is not made of pages");
	if (stored > header->p_memsz)
		return damaged(parsing, "a segment is smaller than its bytes");
	segment.dumped = present(core, segment.offset, stored);
	/*
	 * Keep whole pages only, so that each page is either present or absent.
	 */
	segment.dumped -= segment.dumped % PAGE_LEAST;
	segment.cut = stored - segment.dumped;
	if (!mu_arena_room(parsing->arena, core->segments, core->num_segments,
		parsing->max_segments, FIRST))
		return no_memory(parsing);
	core->segments[core->num_segments++] = segment;
	return MU_OK;
}

/* n_namesz counts the terminating NUL. */
static bool
is_kernels(const char *name, size_t size)
{
	return (size >= 5 && memcmp(name, "CORE", 5) == 0) ||
	    (size >= 6 && memcmp(name, "LINUX", 6) == 0);
}

static enum mu_status
add_note(struct parsing *parsing, const struct mu_core_note *note)
{
	struct mu_core_file *core = parsing->core;

	if (!mu_arena_room(parsing->arena, core->notes, core->num_notes,
		parsing->max_notes, FIRST))
		return no_memory(parsing);
	core->notes[core->num_notes++] = *note;
	return MU_OK;
}

static enum mu_status
add_notes(struct parsing *parsing, const GElf_Phdr *header)
{
	uint64_t have =
	    present(parsing->core, header->p_offset, header->p_filesz);
	Elf_Data *data =
	    elf_getdata_rawchunk(parsing->elf, (int64_t)header->p_offset, have,
		header->p_align == 8 ? ELF_T_NHDR8 : ELF_T_NHDR);
	enum mu_status status = MU_OK;
	size_t at = 0, next, name, text;
	struct mu_core_note note;
	GElf_Nhdr one;

	while (data != NULL && status == MU_OK &&
	    (next = gelf_getnote(data, at, &one, &name, &text)) > at) {
		note = (struct mu_core_note) { one.n_type,
			(const char *)data->d_buf + text, one.n_descsz };
		if (is_kernels((const char *)data->d_buf + name, one.n_namesz))
			status = add_note(parsing, &note);
		at = next;
	}
	return status;
}

static enum mu_status
add_all(struct parsing *parsing)
{
	struct mu_core_file *core = parsing->core;
	enum mu_status status = MU_OK;
	GElf_Phdr header;
	size_t count, i;

	if (elf_getphdrnum(parsing->elf, &count) != 0 || count == 0)
		return damaged(parsing, "it has no program headers");
	for (i = 0; i < count && status == MU_OK; i++) {
		if (gelf_getphdr(parsing->elf, (int)i, &header) == NULL)
			return damaged(parsing, "its headers are cut off");
		if (header.p_type == PT_LOAD)
			status = add_segment(parsing, &header);
		else if (header.p_type == PT_NOTE)
			status = add_notes(parsing, &header);
	}
	if (status != MU_OK)
		return status;
	mu_sort(core->segments, core->num_segments, sizeof(*core->segments),
	    mu_range_compare);
	for (i = 1; i < core->num_segments; i++)
		if (core->segments[i].range.begin <
		    core->segments[i - 1].range.end)
			return damaged(parsing, "segments overlap");
	return MU_OK;
}

enum mu_status
mu_core_file_parse(struct mu_core_file *core, const char *bytes, size_t size,
    const char *path, struct mu_arena *arena, struct mu_why *why)
{
	struct parsing parsing = {
		.core = core, .path = path, .arena = arena, .why = why
	};
	enum mu_status status;

	core->bytes = bytes;
	core->size = size;
	if (size < SELFMAG || memcmp(bytes, ELFMAG, SELFMAG) != 0)
		return mu_why(why, MU_ERR_ARGUMENT,
		    "%s is not a core file: it is not an ELF file", path);
	elf_version(EV_CURRENT);
	core->elf = parsing.elf = elf_memory((char *)bytes, size);
	if (parsing.elf == NULL)
		return mu_why(why, MU_ERR_ARGUMENT, "%s is not a core file: %s",
		    path, elf_errmsg(-1));
	status = core_file_kind(core->elf, path, why);
	if (status == MU_OK)
		status = add_all(&parsing);
	return status;
}

/* O_NONBLOCK: an open of a FIFO must not wait for a writer. */
static enum mu_status
open_regular(const char *path, int *fd, struct mu_why *why)
{
	struct stat about;
	const char *what;

	*fd = mu_sys_open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK, 0);
	if (*fd < 0)
		return mu_why(why, MU_ERR_ARGUMENT,
		    *fd == -ENOENT ? "%s: no such file (errno %d)"
			: *fd == -EACCES
			? "%s may not be read (errno %d)" MU_CURE
			  "ask its owner, or be root"
			: "cannot open %s (errno %d)",
		    path, -*fd);
	if (fstat(*fd, &about) != 0)
		return mu_why(
		    why, MU_ERR_ARGUMENT, "cannot ask about %s", path);
	if (S_ISREG(about.st_mode))
		return MU_OK;
	what = S_ISDIR(about.st_mode) ? "a directory"
	    : S_ISFIFO(about.st_mode) ? "a FIFO"
	    : S_ISSOCK(about.st_mode) ? "a socket"
				      : "a device";
	return mu_why(why, MU_ERR_ARGUMENT,
	    "%s is %s" MU_CURE "give the file that the core is in", path, what);
}

static enum mu_status
map_file(struct mu_core_file *core, const char *path, struct mu_why *why)
{
	struct stat about;
	void *bytes;

	if (fstat(core->fd, &about) != 0 || about.st_size <= 0)
		return mu_why(why, MU_ERR_ARGUMENT, "%s is empty", path);
	bytes = mmap(NULL, (size_t)about.st_size, PROT_READ,
	    MAP_PRIVATE | MAP_NORESERVE, core->fd, 0);
	if (bytes == MAP_FAILED)
		return mu_why(why, MU_ERR_NO_MEMORY,
		    "cannot map the %llu bytes of %s",
		    (unsigned long long)about.st_size, path);
	core->bytes = bytes;
	core->size = (size_t)about.st_size;
	core->mapped = true;
	return MU_OK;
}

enum mu_status
mu_core_file_open(struct mu_core_file *core, const char *path,
    struct mu_arena *arena, struct mu_why *why)
{
	enum mu_status status;

	*core = (struct mu_core_file) { .fd = -1 };
	status = open_regular(path, &core->fd, why);
	if (status == MU_OK)
		status = mu_core_unpack(&core->fd, path, why);
	core->spoilt = status == MU_PARTIAL;
	if (mu_status_usable(status))
		status = map_file(core, path, why);
	if (status == MU_OK)
		status = mu_core_file_parse(
		    core, core->bytes, core->size, path, arena, why);
	return status;
}

void
mu_core_file_close(struct mu_core_file *core)
{
	elf_end(core->elf);
	if (core->mapped)
		munmap((void *)core->bytes, core->size);
	mu_sys_close(&core->fd);
	*core = (struct mu_core_file) { .fd = -1 };
}
