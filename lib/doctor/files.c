/*
 * Facts about the files of a process: its program, its libc, other allocators,
 * and sources of names.
 */
#include <gelf.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/types.h>
#include <unistd.h>

#include "heapwalk/heaps/glibc/banner.h"
#include "heapwalk/heaps/glibc/libc.h"
#include "heapwalk/heaps/musl/musl.h"
#include "heapwalk/heaps/table/table.h"
#include "heapwalk/subject/classify.h"
#include "lib/doctor/facts.h"
#include "lib/symbolize/helper.h"
#include "mu/arena.h"
#include "mu/regular_file.h"
#include "mu/sys.h"
#include "ptrace/live/mappings.h"

#define FILES_NS (5 * MU_NS_PER_SEC) /* to read them; twice, for names */
#define MAPPINGS_MAX ((size_t)256 << 20)

/* What the program and its libc say; zero: not known. */
struct facts {
	int bits;
	bool same_machine, is_static;
	unsigned glibc[2];
};

#define BANNER_MAX 256

#define PIECE ((size_t)1 << 20)
#define FILE_MAX ((off_t)1 << 30) /* largest static program that is read */

/* Find the release of glibc in a file. */

/*
 * Read RELEASE (2, 36) of the open file FD, libc itself or a static program.
 * Returns false if the file does not say.
 */
static bool
libc_release_read(int fd, unsigned release[2])
{
	char *bytes = malloc(PIECE);
	bool found = false;
	ssize_t size;
	off_t at;

	release[0] = release[1] = 0;
	for (at = 0; bytes != NULL && !found && at < FILE_MAX;
	     at += PIECE - BANNER_MAX) {
		size = pread(fd, bytes, PIECE, at);
		if (size <= 0)
			break;
		found = mu_glibc_banner_parse(
		    bytes, (size_t)size, &release[0], &release[1]);
	}
	free(bytes);
	return found;
}

static unsigned
our_machine(void)
{
	int fd = mu_sys_open("/proc/self/exe", O_RDONLY | O_CLOEXEC, 0);
	Elf *elf = fd < 0 ? NULL : elf_begin(fd, ELF_C_READ, NULL);
	GElf_Ehdr ehdr = { 0 };

	if (elf != NULL)
		gelf_getehdr(elf, &ehdr);
	elf_end(elf);
	mu_sys_close(&fd);
	return ehdr.e_machine;
}

static void
read_program(struct facts *facts, int fd)
{
	Elf *elf = elf_begin(fd, ELF_C_READ, NULL);
	size_t count, i;
	GElf_Ehdr ehdr;
	GElf_Phdr phdr;

	if (elf != NULL && gelf_getehdr(elf, &ehdr) != NULL &&
	    elf_getphdrnum(elf, &count) == 0) {
		facts->bits = gelf_getclass(elf) == ELFCLASS64 ? 64 : 32;
		facts->same_machine = ehdr.e_machine == our_machine();
		facts->is_static = true;
		for (i = 0; i < count; i++) {
			if (gelf_getphdr(elf, (int)i, &phdr) != NULL &&
			    phdr.p_type == PT_INTERP)
				facts->is_static = false;
		}
	}
	elf_end(elf);
}

static const struct mu_mapping *
find_libc(const struct mu_mapping *mappings, size_t count)
{
	size_t i;

	for (i = 0; i < count; i++)
		if (mu_libc_is_named(&mappings[i]))
			return &mappings[i];
	return NULL;
}

static bool
has_musl(const struct mu_mapping *mappings, size_t count)
{
	size_t i;

	for (i = 0; i < count; i++)
		if (mappings[i].executable && mu_musl_is_named(&mappings[i]))
			return true;
	return false;
}

/* The files, as descriptors opened with O_PATH. */
struct files {
	int program, root;
	const char *libc; /* relative to ROOT; "": none is mapped */
};

static void
open_files(struct files *files, pid_t pid, const struct mu_mapping *libc)
{
	char path[64];

	snprintf(path, sizeof(path), "/proc/%d/exe", pid);
	files->program = mu_sys_open(path, O_PATH | O_CLOEXEC, 0);
	snprintf(path, sizeof(path), "/proc/%d/root", pid);
	files->root = mu_sys_open(path, O_PATH | O_DIRECTORY | O_CLOEXEC, 0);
	files->libc = libc == NULL ? "" : libc->name;
}

static void
read_libc(struct facts *facts, const struct files *files)
{
	int libc = files->libc[0] == '/'
	    ? mu_regular_file_open(files->root, files->libc + 1, NULL)
	    : -1;

	if (libc >= 0)
		libc_release_read(libc, facts->glibc);
}

static void
read_program_of(struct facts *facts, const struct files *files)
{
	int program = mu_regular_file_reopen(files->program, NULL);

	if (program >= 0)
		read_program(facts, program);
	if (files->libc[0] == '\0' && facts->is_static)
		libc_release_read(program, facts->glibc);
}

static _Noreturn void
run_child(const struct files *files, const struct mu_rights *rights, int out,
    pid_t parent)
{
	struct facts facts = { .bits = 0 };

	prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (getppid() != parent || !mu_confine(rights, false, 0, NULL))
		_exit(1);
	read_libc(&facts, files);
	mu_sys_write(out, &facts, sizeof(facts));
	read_program_of(&facts, files);
	mu_sys_write(out, &facts, sizeof(facts));
	_exit(0);
}

/* Returns false if nothing has arrived in time; a child that died says 0. */
static bool
receive(int fd, struct facts *facts, uint64_t deadline_ns)
{
	struct pollfd wait = { .fd = fd, .events = POLLIN };
	uint64_t now = mu_sys_now_ns();

	while (now < deadline_ns) {
		if (poll(&wait, 1, (int)((deadline_ns - now) / 1000000) + 1) >
		    0) {
			if (mu_sys_read(fd, facts, sizeof(*facts)) !=
			    sizeof(*facts))
				*facts = (struct facts) { .bits = 0 };
			return true;
		}
		now = mu_sys_now_ns();
	}
	return false;
}

/*
 * The files are not ours and may be on a file system that does not respond: a
 * child with the rights of the process reads them.
 */
static void
ask_child(struct mu_doctor_target *target, const struct files *files)
{
	struct mu_rights rights = mu_rights_of_process(target->living);
	struct facts facts = { .bits = 0 };
	pid_t parent = getpid(), child;
	uint64_t deadline_ns;
	int ends[2];

	if (pipe2(ends, O_CLOEXEC) != 0)
		return;
	child = fork();
	if (child == 0)
		run_child(files, &rights, ends[1], parent);
	mu_sys_close(&ends[1]);
	if (child > 0) {
		deadline_ns = mu_sys_now_ns() + FILES_NS;
		target->is_libc_silent = !receive(ends[0], &facts, deadline_ns);
		target->is_silent = target->is_libc_silent ||
		    !receive(ends[0], &facts, deadline_ns);
		mu_helper_kill(child);
	}
	mu_sys_close(&ends[0]);
	target->bits = facts.bits;
	target->same_machine = facts.same_machine;
	target->is_static = facts.is_static;
	memcpy(target->glibc, facts.glibc, sizeof(facts.glibc));
}

/* Find out what kind of program it is, and with which libc. */
static void
read_elf(struct mu_doctor_target *target, const struct mu_mapping *libc)
{
	struct files files;

	open_files(&files, target->living, libc);
	if (libc != NULL)
		snprintf(target->libc, sizeof(target->libc), "%.*s",
		    (int)sizeof(target->libc) - 1, libc->name);
	ask_child(target, &files);
	mu_sys_close(&files.program);
	mu_sys_close(&files.root);
}

/* Does not ask debuginfod servers, which would take time. */
static void
read_detail(struct mu_doctor_target *target, const struct mu_mapping *mappings,
    size_t count)
{
	const struct mu_symbols_source source = {
		.mappings = mappings,
		.num_mappings = count,
		.pid = target->living,
		.local = true,
	};
	struct mu_symbol_helper helper = { .source = &source };
	struct mu_symbol_question question = { .detail = true };
	struct mu_symbol_answer answer = { .given = false };
	size_t i;

	helper.rights = mu_rights_of_process(target->living);
	for (i = 0; i < count && question.address == 0; i++) {
		if (strcmp(mappings[i].name, target->program) == 0)
			question.address = mappings[i].range.begin;
	}
	if (question.address != 0)
		mu_symbol_helper_ask(
		    &helper, &question, &answer, 1, mu_sys_now_ns() + FILES_NS);
	target->detail = answer.detail;
	mu_symbol_helper_close(&helper);
}

void
mu_doctor_files_read(struct mu_doctor_target *target)
{
	struct mu_mapping *mappings;
	struct mu_snapshot snap = { 0 };
	struct mu_arena arena;
	const char *foreign;
	size_t count;

	elf_version(EV_CURRENT);
	mu_arena_open(&arena, MAPPINGS_MAX);
	if (mu_mappings_read(target->living, &mappings, &count, &arena, NULL) ==
	    MU_OK) {
		snap.mappings = mappings;
		snap.num_mappings = count;
		foreign = mu_heaps_other_file(&snap);
		if (foreign != NULL)
			snprintf(target->allocator, sizeof(target->allocator),
			    "%.*s", (int)sizeof(target->allocator) - 1,
			    foreign);
		read_elf(target, find_libc(mappings, count));
		target->has_musl = target->libc[0] == '\0' &&
		    !target->is_static && has_musl(mappings, count);
		if (!target->is_silent)
			read_detail(target, mappings, count);
	} else
		read_elf(target, NULL);
	mu_arena_close(&arena);
}
