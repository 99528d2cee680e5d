/*
 * The doctor looks at the files of a process: its program, its libc, what else
 * may be its allocator, and who knows its names.
 */
#include <gelf.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "heapwalk/classify.h"
#include "heapwalk/glibc_foreign.h"
#include "lib/cli/doctor_facts.h"
#include "lib/cli/libc_release.h"
#include "lib/symbolize/helper.h"
#include "mu/arena.h"
#include "mu/regular_file.h"
#include "mu/sys.h"
#include "ptrace/mappings.h"

#define DETAIL_NS (5 * MU_NS_PER_SEC)
#define MAPPINGS_MAX ((size_t)256 << 20)

static int
open_of(pid_t pid, const char *file, const char *tail)
{
	char path[512];

	snprintf(path, sizeof(path), "/proc/%d/%s%s", pid, file, tail);
	return mu_regular_file_open(AT_FDCWD, path, NULL);
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
read_program(struct mu_doctor_target *target, int fd)
{
	Elf *elf = elf_begin(fd, ELF_C_READ, NULL);
	size_t count, i;
	GElf_Ehdr ehdr;
	GElf_Phdr phdr;

	if (elf != NULL && gelf_getehdr(elf, &ehdr) != NULL &&
	    elf_getphdrnum(elf, &count) == 0) {
		target->bits = gelf_getclass(elf) == ELFCLASS64 ? 64 : 32;
		target->same_machine = ehdr.e_machine == our_machine();
		target->is_static = true;
		for (i = 0; i < count; i++) {
			if (gelf_getphdr(elf, (int)i, &phdr) != NULL &&
			    phdr.p_type == PT_INTERP)
				target->is_static = false;
		}
	}
	elf_end(elf);
}

/* "libc.so.6", before 2.34 a link to "libc-2.31.so" */
static const struct mu_mapping *
find_libc(const struct mu_mapping *mappings, size_t count)
{
	const char *base;
	size_t i;

	for (i = 0; i < count; i++) {
		base = mu_path_base(mappings[i].name);
		if (mu_starts_with(base, "libc.so.6") ||
		    mu_starts_with(base, "libc-2."))
			return &mappings[i];
	}
	return NULL;
}

static void
read_libc(
    struct mu_doctor_target *target, const struct mu_mapping *libc, int program)
{
	int fd = -1;

	if (libc != NULL) {
		snprintf(target->libc, sizeof(target->libc), "%.*s",
		    (int)sizeof(target->libc) - 1, libc->name);
		fd = open_of(target->pid, "root", libc->name);
	}
	if (fd >= 0)
		mu_libc_release_read(fd, target->glibc);
	else if (libc == NULL && target->is_static && program >= 0)
		mu_libc_release_read(program, target->glibc);
	mu_sys_close(&fd);
}

/* Asks no server: that would take its time. */
static void
read_detail(struct mu_doctor_target *target, const struct mu_mapping *mappings,
    size_t count)
{
	const struct mu_symbols_source source = {
		.mappings = mappings,
		.num_mappings = count,
		.pid = target->pid,
		.local = true,
	};
	struct mu_symbol_helper helper = { .source = &source };
	struct mu_symbol_question question = { .detail = true };
	struct mu_symbol_answer answer = { .given = false };
	size_t i;

	helper.rights = mu_rights_of_process(target->pid);
	for (i = 0; i < count && question.address == 0; i++) {
		if (strcmp(mappings[i].name, target->program) == 0)
			question.address = mappings[i].range.begin;
	}
	if (question.address != 0)
		mu_symbol_helper_ask(&helper, &question, &answer, 1,
		    mu_sys_now_ns() + DETAIL_NS);
	target->detail = answer.detail;
	mu_symbol_helper_close(&helper);
}

void
mu_doctor_files_read(struct mu_doctor_target *target)
{
	int program = open_of(target->pid, "exe", "");
	struct mu_mapping *mappings;
	struct mu_snapshot snap = { 0 };
	struct mu_arena arena;
	const char *foreign;
	size_t count;

	elf_version(EV_CURRENT);
	if (program >= 0)
		read_program(target, program);
	mu_arena_open(&arena, MAPPINGS_MAX);
	if (mu_mappings_read(target->pid, &mappings, &count, &arena, NULL) ==
	    MU_OK) {
		snap.mappings = mappings;
		snap.num_mappings = count;
		foreign = mu_glibc_foreign_file(&snap);
		if (foreign != NULL)
			snprintf(target->allocator, sizeof(target->allocator),
			    "%.*s", (int)sizeof(target->allocator) - 1,
			    foreign);
		read_libc(target, find_libc(mappings, count), program);
		read_detail(target, mappings, count);
	}
	mu_arena_close(&arena);
	mu_sys_close(&program);
}
