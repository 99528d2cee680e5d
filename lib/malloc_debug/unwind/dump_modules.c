/*
 * The first mapping of a file begins with its ELF header, which leads to the
 * program headers, and these to the bias and the notes.
 */
#include "lib/malloc_debug/unwind/dump_modules.h"

#include <elf.h>
#include <limits.h>
#include <link.h>
#include <string.h>
#include <sys/uio.h>

#include "lib/malloc_debug/unwind/gone_modules.h"
#include "mu/sys.h"
#include "mu/text.h"

#define LINE_BYTES (PATH_MAX + 256)
#define NOTES_BYTES 1024
#define ID_BYTES ((DUMP_MODULES_ID - 1) / 2)
#define MOST_HEADERS 64

struct mapping {
	uintptr_t start, end, offset;
	bool executable;
	const char *path;
};

/* The file whose first mapping was read last. */
struct module {
	char path[PATH_MAX];
	uintptr_t bias;
	char id[2 * ID_BYTES + 1]; /* "-": none */
};

/* Read memory that may be unmapped. */
static size_t
peek(uintptr_t address, void *buffer, size_t size)
{
	struct iovec to = { buffer, size }, from = { (void *)address, size };
	long n = mu_syscall6(SYS_process_vm_readv, mu_sys_getpid(), (long)&to,
	    1, (long)&from, 1, 0);

	return n < 0 ? 0 : (size_t)n;
}

static void
format_id(struct module *module, const unsigned char *id, size_t size)
{
	size_t i;

	for (i = 0; i < size && i < ID_BYTES; i++)
		mu_text_format(module->id + 2 * i, 3, "%02x", id[i]);
}

/* gABI, "Note Section": name and contents are padded to 4 bytes. */
static void
take_id(struct module *module, uintptr_t address, size_t size)
{
	unsigned char notes[NOTES_BYTES] = { 0 };
	size_t at = 0, name, content;
	ElfW(Nhdr) note;

	size =
	    peek(address, notes, size < sizeof(notes) ? size : sizeof(notes));
	while (at + sizeof(note) <= size) {
		memcpy(&note, notes + at, sizeof(note));
		name = at + sizeof(note);
		content = name + ((note.n_namesz + 3ul) & ~3ul);
		if (content > size || note.n_descsz > size - content)
			return;
		if (note.n_type == NT_GNU_BUILD_ID && note.n_namesz == 4 &&
		    memcmp(notes + name, "GNU", 4) == 0) {
			format_id(module, notes + content, note.n_descsz);
			return;
		}
		at = content + ((note.n_descsz + 3ul) & ~3ul);
	}
}

/* MAPPING contains the first byte of the file. */
static void
begin_module(struct module *module, const struct mapping *mapping)
{
	ElfW(Phdr) headers[MOST_HEADERS] = { 0 };
	size_t i, count = 0;
	bool has_load = false;
	ElfW(Ehdr) elf = { .e_phnum = 0 };

	*module = (struct module) { .bias = mapping->start, .id = "-" };
	mu_text_format(module->path, sizeof(module->path), "%s", mapping->path);
	if (peek(mapping->start, &elf, sizeof(elf)) == sizeof(elf) &&
	    memcmp(elf.e_ident, ELFMAG, SELFMAG) == 0 &&
	    elf.e_phentsize == sizeof(headers[0])) {
		count = elf.e_phnum < MOST_HEADERS ? elf.e_phnum : MOST_HEADERS;
		count = peek(mapping->start + elf.e_phoff, headers,
			    count * sizeof(headers[0])) /
		    sizeof(headers[0]);
	}
	for (i = 0; i < count; i++) {
		if (headers[i].p_type != PT_LOAD || has_load)
			continue;
		has_load = true;
		module->bias =
		    mapping->start - (headers[i].p_vaddr - headers[i].p_offset);
	}
	for (i = 0; i < count && module->id[0] == '-'; i++)
		if (headers[i].p_type == PT_NOTE)
			take_id(module, module->bias + headers[i].p_vaddr,
			    headers[i].p_memsz);
}

void
dump_modules_id(const struct dl_phdr_info *object, char id[DUMP_MODULES_ID])
{
	struct module module = { .id = "-" };
	size_t i;

	for (i = 0; i < object->dlpi_phnum && module.id[0] == '-'; i++)
		if (object->dlpi_phdr[i].p_type == PT_NOTE)
			take_id(&module,
			    object->dlpi_addr + object->dlpi_phdr[i].p_vaddr,
			    object->dlpi_phdr[i].p_memsz);
	memcpy(id, module.id, sizeof(module.id));
}

static const char *
read_hex(const char *p, uintptr_t *value)
{
	for (*value = 0;; p++) {
		if (*p >= '0' && *p <= '9')
			*value = *value << 4 | (uintptr_t)(*p - '0');
		else if (*p >= 'a' && *p <= 'f')
			*value = *value << 4 | (uintptr_t)(*p - 'a' + 10);
		else
			return p;
	}
}

static const char *
next_word(const char *p)
{
	while (*p != ' ' && *p != '\0')
		p++;
	while (*p == ' ')
		p++;
	return p;
}

/* "start-end rwxp offset dev inode path": proc_pid_maps(5). */
static bool
read_mapping(struct mapping *mapping, const char *line)
{
	line = read_hex(line, &mapping->start);
	if (*line++ != '-')
		return false;
	line = next_word(read_hex(line, &mapping->end));
	if (strlen(line) < 5)
		return false;
	mapping->executable = line[2] == 'x';
	line = next_word(read_hex(next_word(line), &mapping->offset));
	mapping->path = next_word(next_word(line));
	return mapping->path[0] == '/' || strcmp(mapping->path, "[vdso]") == 0;
}

struct sink {
	void (*line)(void *ctx, const char *text, size_t length);
	void *ctx;
	struct module module; /* the last */
};

static void
take_line(void *ctx, const char *line)
{
	struct sink *sink = ctx;
	struct module *module = &sink->module;
	struct mapping mapping;
	char text[LINE_BYTES + sizeof(module->id)];
	size_t length;

	if (!read_mapping(&mapping, line))
		return;
	if (mapping.offset == 0 ||
	    strncmp(mapping.path, module->path, sizeof(module->path)) != 0)
		begin_module(module, &mapping);
	if (!mapping.executable)
		return;
	length = mu_text_format(text, sizeof(text),
	    "# module %lx-%lx %lx %lx %s %s\n", (unsigned long)mapping.start,
	    (unsigned long)mapping.end, (unsigned long)mapping.offset,
	    (unsigned long)module->bias, module->id, mapping.path);
	if (length < sizeof(text))
		sink->line(sink->ctx, text, length);
}

static void
take_lines(void (*take)(void *ctx, const char *line), void *ctx, int fd)
{
	char buffer[LINE_BYTES] = "";
	size_t used = 0;
	char *newline;
	ssize_t n;

	while (
	    (n = mu_sys_read(fd, buffer + used, sizeof(buffer) - used)) > 0) {
		used += (size_t)n;
		while ((newline = memchr(buffer, '\n', used)) != NULL) {
			*newline++ = '\0';
			take(ctx, buffer);
			used -= (size_t)(newline - buffer);
			memmove(buffer, newline, used);
		}
		if (used == sizeof(buffer)) /* no line is this long */
			used = 0;
	}
}

/* thread-self: when the main thread has ended, /proc/self/maps is empty. */
static int
open_maps(void)
{
	return mu_sys_open("/proc/thread-self/maps", O_RDONLY | O_CLOEXEC, 0);
}

struct path {
	uintptr_t address;
	char *path;
};

static void
take_path(void *ctx, const char *line)
{
	struct path *path = ctx;
	struct mapping mapping;

	if (read_mapping(&mapping, line) && path->address >= mapping.start &&
	    path->address < mapping.end)
		mu_text_format(path->path, PATH_MAX, "%s", mapping.path);
}

void
dump_modules_path(uintptr_t address, char path[PATH_MAX])
{
	struct path wanted = { address, path };
	int fd = open_maps();

	path[0] = '\0';
	if (fd >= 0)
		take_lines(take_path, &wanted, fd);
	mu_sys_close(&fd);
}

bool
dump_modules(
    void (*line)(void *ctx, const char *text, size_t length), void *ctx)
{
	struct sink sink = { line, ctx, { .id = "-" } };
	int fd = open_maps();

	if (fd < 0)
		return false;
	take_lines(take_line, &sink, fd);
	mu_sys_close(&fd);
	gone_modules_print(line, ctx);
	return true;
}
