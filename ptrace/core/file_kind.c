/*
 * Runs in: the command.
 */
#include "ptrace/core/file_kind.h"

#include <elf.h>
#include <gelf.h>
#include <stdbool.h>

#include "mu/arch/cpu.h"

#ifndef EM_LOONGARCH /* in glibc's <elf.h> since 2.36 */
#define EM_LOONGARCH 258
#endif

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

enum mu_status
mu_core_file_kind(void *elf, const char *path, struct mu_why *why)
{
	GElf_Ehdr header;
	bool wide;

	if (gelf_getehdr(elf, &header) == NULL)
		return mu_why(why, MU_ERR_ARGUMENT,
		    "%s is no core file: it has no ELF header", path);
	wide = header.e_ident[EI_CLASS] == ELFCLASS64;
	if (header.e_type != ET_CORE)
		return mu_why(why, MU_ERR_ARGUMENT, "%s is no core file but %s",
		    path, type_name(header.e_type));
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
