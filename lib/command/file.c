/* libelf reads the ELF file. */
#include "lib/command/file.h"

#include <bsd/string.h>
#include <errno.h>
#include <fcntl.h>
#include <gelf.h>
#include <libelf.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/xattr.h>
#include <unistd.h>

#include "lib/term/safe_text.h"

#define MAX_INTERPRETERS 5 /* Linux's limit is 5; more fail with ELOOP */
#define SCRIPT_SIZE 256 /* BINPRM_BUF_SIZE of Linux: the part that it reads */

#define LEFT_OUT "; start it without memunreachable, and look at it by -p PID"

static bool
may_be_run(const char *path)
{
	struct stat st;

	return stat(path, &st) == 0 && S_ISREG(st.st_mode) &&
	    access(path, X_OK) == 0;
}

/*
 * Look up NAME in the folder of the first LENGTH bytes of FOLDER; "" is the
 * current one.
 */
static bool
is_in(const char *folder, size_t length, const char *name, char *path,
    size_t size)
{
	int wrote = snprintf(path, size, "%.*s%s%s", (int)length, folder,
	    length > 0 ? "/" : "", name);

	return wrote > 0 && (size_t)wrote < size && may_be_run(path);
}

enum mu_status
mu_command_file_find(const char *name, const char *search, char *path,
    size_t size, struct mu_why *why)
{
	const char *folder = search != NULL ? search : "/bin:/usr/bin";
	struct stat st;
	size_t length;

	if (strchr(name, '/') != NULL) {
		if (is_in("", 0, name, path, size))
			return MU_OK;
		return mu_why(why, MU_ERR_ARGUMENT, "cannot run %s: %s",
		    mu_safe_argument(name).text,
		    stat(name, &st) != 0 ? strerror(errno)
			: S_ISREG(st.st_mode)
			? "it may not be executed, and is no"
			  " saved look"
			: "it is not a file");
	}
	for (;; folder += length + 1) {
		length = strcspn(folder, ":");
		if (name[0] != '\0' && is_in(folder, length, name, path, size))
			return MU_OK;
		if (folder[length] == '\0')
			break;
	}
	return mu_why(why, MU_ERR_ARGUMENT,
	    may_be_run(name)
		? "cannot run %s: not found in PATH" MU_CURE
		  "write ./ before the name of a program in this folder"
		: stat(name, &st) == 0
		? "cannot run %s: not found in PATH, and the file here is no"
		  " saved look"
		: "cannot run %s: not found in PATH",
	    mu_safe_argument(name).text);
}

/*
 * True if the kernel will set AT_SECURE: the file changes the user, the group
 * or the capabilities. For root this need not be so.
 */
static bool
is_secure(int fd)
{
	struct stat st;

	if (fstat(fd, &st) != 0)
		return false;
	if (st.st_mode & S_ISUID && st.st_uid != getuid())
		return true;
	if (st.st_mode & S_ISGID && st.st_mode & S_IXGRP &&
	    st.st_gid != getgid())
		return true;
	return getuid() != 0 &&
	    fgetxattr(fd, "security.capability", NULL, 0) > 0;
}

/* True for the machine and class that this program was built for. */
static bool
is_ours(const GElf_Ehdr *header)
{
	Elf *own;
	GElf_Ehdr ours;
	bool same = true;
	int fd = open("/proc/self/exe", O_RDONLY | O_CLOEXEC);

	if (fd < 0)
		return true;
	own = elf_begin(fd, ELF_C_READ, NULL);
	if (own != NULL && gelf_getehdr(own, &ours) != NULL)
		same = ours.e_machine == header->e_machine &&
		    ours.e_ident[EI_CLASS] == header->e_ident[EI_CLASS];
	elf_end(own);
	close(fd);
	return same;
}

/* Read the path in PT_INTERP. Returns false for a static program. */
static bool
read_linker(Elf *elf, int fd, char *linker, size_t size)
{
	size_t i, count;
	GElf_Phdr header;
	ssize_t got;

	if (elf_getphdrnum(elf, &count) != 0)
		return false;
	for (i = 0; i < count && i <= INT_MAX; i++) {
		if (gelf_getphdr(elf, (int)i, &header) == NULL ||
		    header.p_type != PT_INTERP)
			continue;
		got = pread(fd, linker,
		    header.p_filesz < size ? header.p_filesz : size - 1,
		    (off_t)header.p_offset);
		linker[got > 0 && (size_t)got < size ? got : 0] = '\0';
		return true;
	}
	return false;
}

/* A library whose malloc reports leaks itself, by its file or symbol. */
static const struct sanitizer {
	const char *name, *library, *symbol;
} sanitizers[] = {
	{ "AddressSanitizer", "libasan.so", "__asan_init" },
	{ "AddressSanitizer", "libclang_rt.asan", "__hwasan_init" },
	{ "LeakSanitizer", "liblsan.so", "__lsan_init" },
	{ "ThreadSanitizer", "libtsan.so", "__tsan_init" },
};

#define NUM_SANITIZERS (sizeof(sanitizers) / sizeof(*sanitizers))

static const struct sanitizer *
find_needed(Elf *elf, size_t strings, Elf_Data *data, size_t count)
{
	const char *name;
	GElf_Dyn dyn;
	size_t i, k;

	for (i = 0; i < count && i <= INT_MAX; i++) {
		if (gelf_getdyn(data, (int)i, &dyn) == NULL ||
		    dyn.d_tag != DT_NEEDED)
			continue;
		name = elf_strptr(elf, strings, dyn.d_un.d_val);
		for (k = 0; name != NULL && k < NUM_SANITIZERS; k++) {
			if (strncmp(name, sanitizers[k].library,
				strlen(sanitizers[k].library)) == 0)
				return &sanitizers[k];
		}
	}
	return NULL;
}

static const struct sanitizer *
find_symbol(Elf *elf, size_t strings, Elf_Data *data, size_t count)
{
	const char *name;
	GElf_Sym symbol;
	size_t i, k;

	for (i = 0; i < count && i <= INT_MAX; i++) {
		if (gelf_getsym(data, (int)i, &symbol) == NULL)
			continue;
		name = elf_strptr(elf, strings, symbol.st_name);
		for (k = 0; name != NULL && k < NUM_SANITIZERS; k++) {
			if (strcmp(name, sanitizers[k].symbol) == 0)
				return &sanitizers[k];
		}
	}
	return NULL;
}

/*
 * A sanitizer that is linked in begins in .preinit_array, which few programs
 * have. gcc exports none of its symbols.
 */
static const struct sanitizer *
find_sanitizer(Elf *elf)
{
	const struct sanitizer *found = NULL;
	Elf_Scn *section = NULL;
	bool preinit = false;
	GElf_Shdr header;
	Elf_Data *data;
	size_t count;

	while (found == NULL && (section = elf_nextscn(elf, section)) != NULL) {
		if (gelf_getshdr(section, &header) == NULL)
			continue;
		preinit |= header.sh_type == SHT_PREINIT_ARRAY;
		if (header.sh_entsize == 0 ||
		    (header.sh_type != SHT_DYNAMIC &&
			header.sh_type != SHT_DYNSYM &&
			(header.sh_type != SHT_SYMTAB || !preinit)) ||
		    (data = elf_getdata(section, NULL)) == NULL)
			continue;
		count = data->d_size / header.sh_entsize;
		found = header.sh_type == SHT_DYNAMIC
		    ? find_needed(elf, header.sh_link, data, count)
		    : find_symbol(elf, header.sh_link, data, count);
	}
	return found;
}

static enum mu_status
check_elf(Elf *elf, int fd, const char *name, struct mu_why *why)
{
	struct mu_safe_argument shown = mu_safe_argument(name);
	const struct sanitizer *sanitizer;
	char linker[PATH_MAX] = "";
	GElf_Ehdr header;

	if (gelf_getehdr(elf, &header) == NULL)
		return MU_OK;
	if (!is_ours(&header))
		return mu_why(why, MU_ERR_ARGUMENT,
		    "%s is %sa program of another kind than memunreachable,"
		    " which can neither go into it nor read it" MU_CURE
		    "build it for"
		    " this machine",
		    shown.text,
		    header.e_ident[EI_CLASS] == ELFCLASS32 ? "of 32 bits, "
							   : "");
	if (!read_linker(elf, fd, linker, sizeof(linker)))
		return mu_why(why, MU_PARTIAL,
		    "%s is linked statically: nothing can be preloaded into"
		    " it" LEFT_OUT,
		    shown.text);
	if (strstr(linker, "ld-musl") != NULL)
		return mu_why(why, MU_ERR_FOREIGN_ALLOCATOR,
		    "%s uses musl, and what would be preloaded is built for"
		    " glibc" MU_CURE "look at it by -p while it runs",
		    shown.text);
	sanitizer = find_sanitizer(elf);
	if (sanitizer != NULL)
		return mu_why(why, MU_ERR_FOREIGN_ALLOCATOR,
		    "%s has %s, which has its own allocator and must be"
		    " the first library" MU_CURE
		    "run it without memunreachable, it"
		    " finds leaks itself, or build it without",
		    shown.text, sanitizer->name);
	return MU_OK;
}

/*
 * Read the first word after "#!" ("#!/bin/sh -e"). Returns false if it is not a
 * script.
 */
static bool
read_interpreter(int fd, char *interpreter, size_t size)
{
	char line[SCRIPT_SIZE + 1];
	ssize_t got = pread(fd, line, SCRIPT_SIZE, 0);
	size_t length;
	char *word;

	if (got < 2 || line[0] != '#' || line[1] != '!')
		return false;
	line[got] = '\0';
	word = line + 2 + strspn(line + 2, " \t");
	length = strcspn(word, " \t\n");
	if (length == 0 || length >= size)
		return false;
	memcpy(interpreter, word, length);
	interpreter[length] = '\0';
	return true;
}

static enum mu_status
check_program(int fd, const char *name, struct mu_why *why)
{
	Elf *elf = elf_begin(fd, ELF_C_READ, NULL);
	enum mu_status status = MU_OK;

	if (elf != NULL && elf_kind(elf) == ELF_K_ELF)
		status = check_elf(elf, fd, name, why);
	elf_end(elf);
	return status;
}

/* Check one file; NEXT is set to its interpreter, or "". */
static enum mu_status
check_file(const char *path, char *next, size_t size, struct mu_why *why)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	enum mu_status status = MU_OK;

	next[0] = '\0';
	if (fd < 0)
		return MU_OK; /* the kernel may run it nevertheless */
	if (read_interpreter(fd, next, size))
		goto out;
	if (is_secure(fd))
		status = mu_why(why,
		    geteuid() == 0 ? MU_PARTIAL : MU_ERR_ARGUMENT,
		    "%s changes its user, group or capabilities: the dynamic"
		    " linker preloads nothing into it" LEFT_OUT " as root",
		    mu_safe_argument(path).text);
	else
		status = check_program(fd, path, why);
out:
	close(fd);
	return status;
}

enum mu_status
mu_command_file_check(const char *path, struct mu_why *why)
{
	char file[PATH_MAX], next[PATH_MAX];
	enum mu_status status = MU_OK;
	unsigned step;

	elf_version(EV_CURRENT);
	strlcpy(file, path, sizeof(file));
	for (step = 0; step < MAX_INTERPRETERS && status == MU_OK; step++) {
		status = check_file(file, next, sizeof(next), why);
		if (next[0] == '\0')
			break;
		memcpy(file, next, sizeof(file));
		if (access(file, F_OK) != 0)
			return mu_why(why, MU_ERR_ARGUMENT,
			    "cannot run %s: its interpreter, %s: %s",
			    mu_safe_argument(path).text,
			    mu_safe_argument(file).text, strerror(errno));
	}
	return status;
}

enum mu_status
mu_command_file_check_run(
    const char *path, const char *name, struct mu_why *why)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	enum mu_status status;

	if (fd < 0)
		return MU_OK;
	elf_version(EV_CURRENT);
	status = check_program(fd, name, why);
	close(fd);
	return status == MU_PARTIAL ? MU_OK : status;
}
