#include "lib/view/program_file.h"

#include <errno.h>
#include <fcntl.h>
#include <gelf.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "lib/term/safe_text.h"
#include "mu/regular_file.h"

#define PAGE ((uint64_t)4096) /* no segment has a smaller one */

static enum mu_status
refuse(const char *path, const char *words, struct mu_why *why)
{
	return mu_why(why, MU_ERR_ARGUMENT, "cannot use %s: %s",
	    mu_safe_argument(path).text, words);
}

/* As a loader maps it. */
static bool
add_segment(
    struct mu_module_table *table, const char *path, const GElf_Phdr *ph)
{
	struct mu_mapping mapping = {
		.range = { ph->p_vaddr & -PAGE,
		    (ph->p_vaddr + ph->p_filesz + PAGE - 1) & -PAGE },
		.readable = true,
		.executable = (ph->p_flags & PF_X) != 0,
		.offset = ph->p_offset & -PAGE,
		.name = path,
	};

	if (ph->p_type != PT_LOAD || mapping.range.begin >= mapping.range.end)
		return true;
	return mu_module_table_add(table, &mapping) != NULL;
}

static enum mu_status
add_segments(struct mu_module_table *table, const char *path, Elf *elf,
    bool *relocated, struct mu_why *why)
{
	GElf_Ehdr ehdr;
	GElf_Phdr ph;
	size_t count, i;

	if (elf == NULL || elf_kind(elf) != ELF_K_ELF ||
	    gelf_getehdr(elf, &ehdr) == NULL ||
	    elf_getphdrnum(elf, &count) != 0)
		return refuse(path, "it is no ELF file", why);
	*relocated = ehdr.e_type != ET_EXEC;
	for (i = 0; i < count; i++) {
		if (gelf_getphdr(elf, (int)i, &ph) == NULL)
			continue;
		if (!add_segment(table, path, &ph))
			return refuse(path, "no memory for it", why);
	}
	return MU_OK;
}

enum mu_status
mu_program_file_add(struct mu_module_table *table, const char *path,
    bool *relocated, struct mu_why *why)
{
	int fd = mu_regular_file_open(AT_FDCWD, path, NULL);
	char *name = mu_arena_alloc(&table->arena, PATH_MAX, 1);
	enum mu_status status;
	Elf *elf;

	*relocated = false;
	if (fd < 0 || name == NULL || realpath(path, name) == NULL) {
		if (fd >= 0)
			close(fd);
		return refuse(path,
		    fd == -EINVAL ? "it is no regular file"
			: fd < 0  ? strerror(-fd)
				  : strerror(errno),
		    why);
	}
	elf_version(EV_CURRENT);
	elf = elf_begin(fd, ELF_C_READ, NULL);
	status = add_segments(table, name, elf, relocated, why);
	elf_end(elf);
	close(fd);
	return status;
}
