#include "lib/state/answer_file.h"

#include <string.h>

#include "include/mu/report_file.h"
#include "mu/status.h"
#include "mu/sys.h"

#define PATIENCE_NS (5 * MU_NS_PER_SEC) /* a regular file is always ready */

static bool
write_all(int fd, const void *data, size_t size)
{
	return mu_report_file_write(
		   fd, data, size, mu_sys_now_ns() + PATIENCE_NS) == 0;
}

bool
mu_answer_file_write(const char *path, const struct UnreachableMemoryInfo *info,
    size_t cure, const struct mu_entries *entries,
    const struct mu_pipe_usage *usage, const struct mu_groups_info *groups)
{
	struct mu_answer_header header = {
		.magic = MU_ANSWER_MAGIC,
		.version = MU_ANSWER_VERSION,
		.header_size = sizeof(header),
		.pid = mu_sys_getpid(),
		.cure = (uint32_t)cure,
		.info = *info,
		.usage = *usage,
		.groups = *groups,
	};
	char name[MU_PATH_MAX + 16];
	bool done;
	int fd;

	header.info.leaks = NULL;
	mu_text_format(name, sizeof(name), "%s.%d", path, header.pid);
	mu_sys3(SYS_unlinkat, AT_FDCWD, (long)name, 0);
	fd = mu_sys_open(
	    name, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0600);
	if (fd < 0)
		return false;
	done = write_all(fd, &header, sizeof(header)) &&
	    (entries->size == 0 ||
		write_all(fd, entries->packed, entries->size));
	mu_sys_close(&fd);
	if (!done)
		mu_sys3(SYS_unlinkat, AT_FDCWD, (long)name, 0);
	return done;
}

bool
mu_answer_file_check(
    const struct mu_answer_header *header, uint64_t size, int pid)
{
	const struct UnreachableMemoryInfo *info = &header->info;
	uint64_t rest = size - sizeof(*header);

	if (header->magic != MU_ANSWER_MAGIC ||
	    header->version != MU_ANSWER_VERSION ||
	    header->header_size != sizeof(*header) || header->pid != pid ||
	    size < sizeof(*header))
		return false;
	return header->usage.all.arenas == NULL &&
	    header->usage.all.num_arenas <= MU_PIPE_ARENAS &&
	    info->leaks == NULL &&
	    mu_packed_fits(&header->groups, info->num_reported, rest,
		info->num_leaks, info->leak_bytes) &&
	    info->num_reported <= info->num_leaks &&
	    info->num_leaks <= info->num_allocations &&
	    info->leak_bytes <= info->allocation_bytes && info->status >= 0 &&
	    info->status < MU_STATUS_COUNT &&
	    memchr(info->reason, '\0', sizeof(info->reason)) != NULL &&
	    header->cure <= strlen(info->reason);
}
