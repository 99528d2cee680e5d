#include "ptrace/live/program_id.h"

#include <elf.h>
#include <string.h>

#include "mu/procfs.h"
#include "mu/sys.h"
#include "mu/text.h"

#define ENTRIES_MAX 64 /* the kernel writes about 25 */

/* /proc/PID/auxv is the kernel's own table. */
static uintptr_t
address_of(pid_t tid)
{
	Elf64_auxv_t entries[ENTRIES_MAX];
	char path[32];
	ssize_t size;
	size_t i;
	int fd;

	mu_text_format(path, sizeof(path), "/proc/%d/auxv", tid);
	fd = mu_procfs_open(path, O_RDONLY);
	if (fd < 0)
		return 0;
	size = mu_sys_read(fd, entries, sizeof(entries));
	mu_sys_close(&fd);
	for (i = 0; size > 0 && i < (size_t)size / sizeof(entries[0]); i++)
		if (entries[i].a_type == AT_RANDOM)
			return entries[i].a_un.a_val;
	return 0;
}

void
mu_program_id_read(struct mu_program_id *id, pid_t tid, int memory)
{
	const ssize_t size = sizeof(id->bytes);

	id->at = address_of(tid);
	if (id->at != 0 &&
	    mu_sys_pread(memory, id->bytes, (size_t)size, id->at) != size)
		id->at = 0;
}

bool
mu_program_id_is(const struct mu_program_id *id, pid_t tid)
{
	unsigned char bytes[sizeof(id->bytes)];

	return id->at != 0 &&
	    mu_sys_read_memory(tid, id->at, bytes, sizeof(bytes)) ==
	    sizeof(bytes) &&
	    memcmp(bytes, id->bytes, sizeof(bytes)) == 0;
}
