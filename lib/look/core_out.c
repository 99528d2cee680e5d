#include "lib/look/core_out.h"

#include <bsd/string.h>
#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/procfs.h>
#include <sys/stat.h>
#include <unistd.h>

#include "heapwalk/subject/classify.h"
#include "heapwalk/subject/tmpfs.h"
#include "lib/look/bytes.h"
#include "mu/arch/register_names.h"
#include "mu/arch/registers.h"
#include "mu/array.h"
#include "mu/sys.h"
#include "ptrace/core/file.h"

#define PIECE ((size_t)256 << 10)
#define ALIGNED(size) \
	(((size) + 3) & ~(size_t)3) /* of notes: gABI, chapter 5 */
#define NAME "CORE"
#define NOTE_SIZE(size) \
	(sizeof(Elf64_Nhdr) + ALIGNED(sizeof(NAME)) + ALIGNED(size))
#define RESERVED ((size_t)1 << 40) /* address space that nothing is in */
#define AUXV ((size_t)4096)
#define REACH 16 /* mappings between two parts of a module, at most */
#define FX_WORDS (sizeof(elf_fpregset_t) / sizeof(uintptr_t))

#define DELETED " (deleted)"

struct mu_core_writing {
	struct mu_core_out *core;
	const struct mu_snapshot *snap;
	struct mu_memory *memory;
	pid_t pid;
	bool our_mounts; /* the process is in our mount namespace */
	struct mu_tmpfs tmpfs;
	struct mu_bytes_out packed;
	char *piece;   /* of PIECE bytes */
	uint64_t at;   /* bytes so far */
	uint64_t hole; /* of these, that many at the end are not written yet */
	char *notes;
	size_t num_notes, max_notes;
};

static void
fail(struct mu_core_writing *writing, int error)
{
	if (writing->core->error == 0)
		writing->core->error = error;
}

static void
write_plain(struct mu_core_writing *writing, const char *bytes, size_t size)
{
	ssize_t n;

	if (writing->hole > 0 &&
	    lseek(writing->core->fd, (off_t)writing->hole, SEEK_CUR) < 0)
		fail(writing, errno);
	writing->hole = 0;
	while (size > 0 && writing->core->error == 0) {
		n = write(writing->core->fd, bytes, size);
		if (n > 0) {
			bytes += n;
			size -= (size_t)n;
		} else if (n == 0 || errno != EINTR) {
			fail(writing, n == 0 ? EIO : errno);
		}
	}
}

static void
put(struct mu_core_writing *writing, const void *bytes, size_t size)
{
	if (writing->core->packed)
		mu_put_bytes(&writing->packed, bytes, size);
	else
		write_plain(writing, bytes, size);
	writing->at += size;
}

/* SIZE bytes that are zero, which take no room on the disk. */
static void
skip(struct mu_core_writing *writing, uint64_t size)
{
	size_t part;

	if (!writing->core->packed) {
		writing->hole += size;
		writing->at += size;
		return;
	}
	memset(writing->piece, 0, PIECE);
	for (; size > 0 && writing->packed.error == 0; size -= part) {
		part = size < PIECE ? (size_t)size : PIECE;
		put(writing, writing->piece, part);
	}
}

static void
note(struct mu_core_writing *writing, uint32_t type, const void *data,
    size_t size)
{
	const Elf64_Nhdr head = { sizeof(NAME), (uint32_t)size, type };
	size_t more = NOTE_SIZE(size);
	char *to;

	while (writing->max_notes - writing->num_notes < more)
		if (!mu_array_more(&writing->notes, &writing->max_notes, 1,
			PIECE, SIZE_MAX)) {
			fail(writing, ENOMEM);
			return;
		}
	to = writing->notes + writing->num_notes;
	memset(to, 0, more);
	memcpy(to, &head, sizeof(head));
	memcpy(to + sizeof(head), NAME, sizeof(NAME));
	memcpy(to + sizeof(head) + ALIGNED(sizeof(NAME)), data, size);
	writing->num_notes += more;
}

/* Words that cannot be pointers were not kept: they are zero. */
static void
note_thread(struct mu_core_writing *writing, const struct mu_thread *thread)
{
	const struct mu_snapshot *snap = writing->snap;
	uintptr_t general[MU_PRSTATUS_WORDS] = { 0 }, vector[FX_WORDS] = { 0 };
	struct elf_prstatus status = { .pr_pid = thread->tid };
	size_t i, end = thread->first_value + thread->num_values;
	unsigned regno;

	for (i = thread->first_value; snap->regnos != NULL && i < end; i++) {
		regno = snap->regnos[i];
		if (regno < MU_PRSTATUS_WORDS)
			general[regno] = snap->values[i];
		else if (regno >= MU_REGNO_VECTOR &&
		    regno - MU_REGNO_VECTOR < FX_WORDS)
			vector[regno - MU_REGNO_VECTOR] = snap->values[i];
	}
	general[MU_PRSTATUS_PC] = thread->pc;
	general[MU_PRSTATUS_SP] = thread->sp;
	if (MU_PRSTATUS_TP >= 0)
		general[MU_PRSTATUS_TP < 0 ? 0 : MU_PRSTATUS_TP] = thread->tp;
	mu_arch_set_call(general, thread->call, thread->argument);
	memcpy(&status.pr_reg, general, sizeof(general));
	note(writing, NT_PRSTATUS, &status, sizeof(status));
	note(writing, NT_FPREGSET, vector, sizeof(vector));
	if (MU_PRSTATUS_TP < 0)
		note(writing, NT_ARM_TLS, &thread->tp, sizeof(thread->tp));
}

/* Read a file of the process; returns how many bytes. */
static size_t
read_proc(const struct mu_core_writing *writing, const char *name, char *bytes,
    size_t size)
{
	char path[64];
	ssize_t n;

	snprintf(path, sizeof(path), "/proc/%d/%s", (int)writing->pid, name);
	n = mu_sys_read_file(AT_FDCWD, path, bytes, size);
	return n < 0 ? 0 : (size_t)n;
}

static void
note_process(struct mu_core_writing *writing)
{
	struct elf_prpsinfo info = { .pr_pid = writing->pid };
	char text[sizeof(info.pr_psargs)] = "", auxv[AUXV];
	size_t i, size = read_proc(writing, "cmdline", text, sizeof(text) - 1);

	for (i = 0; i + 1 < size; i++)
		if (text[i] == '\0')
			text[i] = ' ';
	memcpy(info.pr_psargs, text, sizeof(info.pr_psargs));
	memset(text, 0, sizeof(text));
	read_proc(writing, "comm", text, sizeof(text) - 1);
	text[strcspn(text, "\n")] = '\0';
	strlcpy(info.pr_fname, text, sizeof(info.pr_fname));
	note(writing, NT_PRPSINFO, &info, sizeof(info));
	size = read_proc(writing, "auxv", auxv, sizeof(auxv));
	if (size > 0)
		note(writing, NT_AUXV, auxv, size);
}

/*
 * NT_FILE: the number of mapped files and the unit of offsets; begin, end and
 * offset of each; their names.
 */
static void
note_files(struct mu_core_writing *writing)
{
	const struct mu_mapping *mapping = writing->snap->mappings;
	const struct mu_mapping *end = mapping + writing->snap->num_mappings;
	size_t count = 0, names = 0, size;
	uint64_t *words;
	char *bytes, *name;

	for (; mapping < end; mapping++)
		if (mapping->name[0] == '/') {
			count++;
			names += strlen(mapping->name) + 1;
		}
	size = (2 + 3 * count) * sizeof(*words) + names;
	bytes = malloc(size);
	if (bytes == NULL) {
		fail(writing, ENOMEM);
		return;
	}
	words = (uint64_t *)bytes;
	name = bytes + (2 + 3 * count) * sizeof(*words);
	*words++ = count;
	*words++ = writing->memory->page_size;
	for (mapping = writing->snap->mappings; mapping < end; mapping++) {
		if (mapping->name[0] != '/')
			continue;
		*words++ = mapping->range.begin;
		*words++ = mapping->range.end;
		*words++ = mapping->offset / writing->memory->page_size;
		name = stpcpy(name, mapping->name) + 1;
	}
	note(writing, NT_FILE, bytes, size);
	free(bytes);
}

static void
note_kernel_values(struct mu_core_writing *writing)
{
	const struct mu_snapshot *snap = writing->snap;
	size_t count = snap->num_kernel_values;
	uint64_t *words = calloc(count + 1, sizeof(*words));

	if (words == NULL) {
		fail(writing, ENOMEM);
		return;
	}
	words[0] = snap->knows_stacks;
	if (count > 0)
		memcpy(words + 1, snap->kernel_values, count * sizeof(*words));
	note(writing, MU_NT_KERNEL_VALUES, words, (count + 1) * sizeof(*words));
	free(words);
}

/* The thread that gdb shows first is the main one. */
static void
make_notes(struct mu_core_writing *writing)
{
	const struct mu_snapshot *snap = writing->snap;
	const struct mu_thread *first = snap->threads;
	size_t i;

	for (i = 0; i < snap->num_threads; i++)
		if (snap->threads[i].tid == writing->pid)
			first = &snap->threads[i];
	if (snap->num_threads > 0)
		note_thread(writing, first);
	note_process(writing);
	note_files(writing);
	for (i = 0; i < snap->num_threads; i++)
		if (&snap->threads[i] != first)
			note_thread(writing, &snap->threads[i]);
	note_kernel_values(writing);
}

static bool
is_vdso(const struct mu_mapping *mapping)
{
	return strcmp(mapping->name, "[vdso]") == 0 &&
	    mu_range_size(mapping->range) <= PIECE;
}

/* True if the names of PID's files are those of ours. */
static bool
has_our_mounts(pid_t pid)
{
	char path[32], own[64] = "", other[64] = "";

	snprintf(path, sizeof(path), "/proc/%d/ns/mnt", (int)pid);
	return readlink("/proc/self/ns/mnt", own, sizeof(own) - 1) > 0 &&
	    readlink(path, other, sizeof(other) - 1) > 0 &&
	    strcmp(own, other) == 0;
}

/*
 * True if the file of MAPPING can be read later, under its name. To look for it
 * could mean to wait for a server: the kernel says that it is deleted.
 */
static bool
is_kept(const struct mu_core_writing *writing, const struct mu_mapping *mapping)
{
	size_t length = strlen(mapping->name), tail = strlen(DELETED);

	return writing->our_mounts &&
	    (length < tail ||
		strcmp(mapping->name + length - tail, DELETED) != 0);
}

/* True if MAPPING is of a program or a library: a part of it is executable. */
static bool
is_of_module(const struct mu_snapshot *snap, const struct mu_mapping *mapping)
{
	size_t at = (size_t)(mapping - snap->mappings), i;

	for (i = at > REACH ? at - REACH : 0;
	     i < snap->num_mappings && i <= at + REACH; i++)
		if (snap->mappings[i].executable &&
		    mu_mapping_same_file(&snap->mappings[i], mapping))
			return true;
	return false;
}

/*
 * Bytes of MAPPING that are in the core: none of what cannot be read or is the
 * same as in its file, but for the first page, which has the build-id.
 */
static size_t
dumped(struct mu_core_writing *writing, const struct mu_mapping *mapping)
{
	size_t size = mu_range_size(mapping->range);
	struct mu_range part;

	if (is_vdso(mapping))
		return size;
	if (!mapping->readable || !mu_mapping_is_memory(mapping) ||
	    size >= RESERVED)
		return 0;
	if (mapping->shared)
		return mu_mapping_is_shared_memory(mapping, &writing->tmpfs)
		    ? size
		    : 0;
	if (mapping->name[0] != '/' || mapping->writable ||
	    writing->memory->ops->populated(
		writing->memory, mapping->range, &part) ||
	    (is_of_module(writing->snap, mapping) &&
		!is_kept(writing, mapping)))
		return size;
	return mapping->offset == 0 ? writing->memory->page_size : 0;
}

static void
put_headers(
    struct mu_core_writing *writing, const Elf64_Phdr *segments, size_t count)
{
	Elf64_Ehdr header = {
		.e_ident = { ELFMAG0, ELFMAG1, ELFMAG2, ELFMAG3, ELFCLASS64,
		    ELFDATA2LSB, EV_CURRENT },
		.e_type = ET_CORE,
		.e_machine = MU_ELF_MACHINE,
		.e_version = EV_CURRENT,
		.e_phoff = sizeof(header),
		.e_ehsize = sizeof(header),
		.e_phentsize = sizeof(*segments),
		.e_phnum = (Elf64_Half)count,
	};

	put(writing, &header, sizeof(header));
	put(writing, segments, count * sizeof(*segments));
	put(writing, writing->notes, writing->num_notes);
}

/* A few pages; what cannot be read is zero. */
static void
put_piece(struct mu_core_writing *writing, struct mu_range range)
{
	struct mu_memory *memory = writing->memory;
	size_t size = mu_range_size(range);
	const void *view;

	if (memory->ops->read == NULL ||
	    !memory->ops->read(memory, range, writing->piece)) {
		view = memory->ops->view(memory, range.begin, size);
		if (view == NULL) {
			skip(writing, size);
			return;
		}
		/* Faults of a view are handled here, not in the kernel. */
		memcpy(writing->piece, view, size);
	}
	put(writing, writing->piece, size);
}

static void
put_range(struct mu_core_writing *writing, struct mu_range range)
{
	struct mu_range piece = range;

	for (; piece.begin < range.end && writing->core->error == 0 &&
	     writing->packed.error == 0;
	     piece.begin = piece.end) {
		piece.end = range.end - piece.begin < PIECE
		    ? range.end
		    : piece.begin + PIECE;
		put_piece(writing, piece);
	}
}

/* The kernel's code is no memory of the image, and does not change. */
static void
put_vdso(struct mu_core_writing *writing, const struct mu_mapping *mapping)
{
	size_t size = mu_range_size(mapping->range);
	char path[64];
	ssize_t n = -1;
	int memory;

	snprintf(path, sizeof(path), "/proc/%d/mem", (int)writing->pid);
	memory = open(path, O_RDONLY | O_CLOEXEC);
	if (memory >= 0) {
		n = pread(
		    memory, writing->piece, size, (off_t)mapping->range.begin);
		close(memory);
	}
	if (n == (ssize_t)size)
		put(writing, writing->piece, size);
	else
		skip(writing, size);
}

/* Pages of a file may be its own; other memory that was not written is zero. */
static void
put_mapping(struct mu_core_writing *writing, const struct mu_mapping *mapping,
    size_t size)
{
	struct mu_range rest = { mapping->range.begin,
		mapping->range.begin + size },
			part;

	if (is_vdso(mapping)) {
		put_vdso(writing, mapping);
		return;
	}
	if (mapping->name[0] == '/' && !mapping->shared) {
		put_range(writing, rest);
		return;
	}
	while (mu_range_size(rest) > 0 &&
	    writing->memory->ops->populated(writing->memory, rest, &part)) {
		skip(writing, part.begin - rest.begin);
		put_range(writing, part);
		rest.begin = part.end;
	}
	skip(writing, mu_range_size(rest));
}

static uint32_t
access_of(const struct mu_mapping *mapping)
{
	return (mapping->readable ? PF_R : 0) | (mapping->writable ? PF_W : 0) |
	    (mapping->executable ? PF_X : 0);
}

static void
write_all(struct mu_core_writing *writing, Elf64_Phdr *segments)
{
	const struct mu_snapshot *snap = writing->snap;
	size_t i, count = snap->num_mappings + 2;
	const size_t page = writing->memory->page_size;
	uint64_t at;

	make_notes(writing);
	at = sizeof(Elf64_Ehdr) + count * sizeof(*segments);
	segments[0] = (Elf64_Phdr) { .p_type = PT_NOTE,
		.p_offset = at,
		.p_filesz = writing->num_notes };
	at = (at + writing->num_notes + page - 1) & -page;
	for (i = 0; i < snap->num_mappings; i++) {
		/* Pages of the kernel. */
		if (strncmp(snap->mappings[i].name, "[vvar", 5) == 0) {
			segments[i + 1].p_type = PT_NULL;
			continue;
		}
		segments[i + 1] = (Elf64_Phdr) {
			.p_type = PT_LOAD,
			.p_flags = segments[i + 1].p_flags,
			.p_offset = at,
			.p_vaddr = snap->mappings[i].range.begin,
			.p_filesz = dumped(writing, &snap->mappings[i]),
			.p_memsz = mu_range_size(snap->mappings[i].range),
			.p_align = page,
		};
		at += segments[i + 1].p_filesz;
	}
	segments[i + 1] = (Elf64_Phdr) { .p_type = PT_NOTE,
		.p_offset = at,
		.p_filesz = NOTE_SIZE(sizeof(struct mu_why)) };
	put_headers(writing, segments, count);
	skip(writing, -writing->at & (page - 1));
	for (i = 0; i < snap->num_mappings; i++)
		if (segments[i + 1].p_filesz > 0)
			put_mapping(writing, &snap->mappings[i],
			    segments[i + 1].p_filesz);
}

/* A hole at the end is in the file, too. */
static void
end(struct mu_core_writing *writing)
{
	if (writing->core->packed) {
		mu_bytes_out_end(&writing->packed);
		if (writing->packed.error != 0)
			fail(writing, writing->packed.error);
	} else if (ftruncate(writing->core->fd, (off_t)writing->at) != 0) {
		fail(writing, errno);
	}
}

/*
 * What the program has made inaccessible is written, too, but as it was: a
 * search of the core opens it when a search of the process would.
 */
static void
write_unlocked(struct mu_core_writing *writing, Elf64_Phdr *segments,
    void (*unlock)(void *subject), void *subject)
{
	const struct mu_snapshot *snap = writing->snap;
	size_t i;

	for (i = 0; i < snap->num_mappings; i++)
		segments[i + 1].p_flags = access_of(&snap->mappings[i]);
	unlock(subject);
	write_all(writing, segments);
	for (i = 0; i < snap->num_mappings; i++)
		snap->mappings[i].readable =
		    (segments[i + 1].p_flags & PF_R) != 0;
}

/* Returns NULL if there is no memory. */
static struct mu_core_writing *
begin(struct mu_core_out *core, const struct mu_snapshot *snap, pid_t pid)
{
	struct mu_core_writing *writing = malloc(sizeof(*writing));

	if (writing == NULL)
		return NULL;
	*writing = (struct mu_core_writing) {
		.core = core,
		.snap = snap,
		.memory = (struct mu_memory *)&snap->memory,
		.pid = pid,
		.our_mounts = has_our_mounts(pid),
		.tmpfs = { .pid = pid },
		.piece = malloc(PIECE),
	};
	if (core->packed)
		mu_bytes_out_open(&writing->packed, core->fd, false);
	return writing;
}

void
mu_core_out_write(struct mu_core_out *core, const struct mu_snapshot *snap,
    pid_t pid, void (*unlock)(void *subject), void *subject)
{
	Elf64_Phdr *segments =
	    calloc(snap->num_mappings + 2, sizeof(*segments));

	core->error = 0;
	core->written = false;
	core->writing = begin(core, snap, pid);
	if (ftruncate(core->fd, 0) != 0 || lseek(core->fd, 0, SEEK_SET) != 0)
		core->error = errno;
	else if (segments == NULL || core->writing == NULL ||
	    core->writing->piece == NULL)
		core->error = ENOMEM;
	else if (snap->num_mappings >= PN_XNUM - 2)
		core->error = E2BIG;
	else
		write_unlocked(core->writing, segments, unlock, subject);
	free(segments);
}

void
mu_core_out_end(struct mu_core_out *core, const struct mu_why *doubt)
{
	struct mu_core_writing *writing = core->writing;

	if (core->error == 0) {
		writing->num_notes = 0;
		note(writing, MU_NT_DOUBT, doubt, sizeof(*doubt));
		put(writing, writing->notes, writing->num_notes);
		end(writing);
	}
	core->written = core->error == 0;
	if (!core->written)
		(void)!ftruncate(core->fd, 0);
	core->writing = NULL;
	if (writing == NULL)
		return;
	mu_bytes_out_close(&writing->packed);
	free(writing->piece);
	free(writing->notes);
	free(writing);
}
