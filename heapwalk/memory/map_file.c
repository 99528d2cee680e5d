#include "heapwalk/memory/map_file.h"

#include <sys/stat.h>

#include "mu/procfs.h"
#include "mu/sys.h"
#include "mu/text.h"

#define SEEK_TO_DATA 3 /* SEEK_DATA and SEEK_HOLE of linux/fs.h */
#define SEEK_TO_HOLE 4

int
mu_map_file_open(const struct mu_mapping *mapping, struct mu_tmpfs *tmpfs)
{
	char path[96];
	struct stat about;
	int file;

	if (mapping->inode == 0 ||
	    !mu_tmpfs_holds(tmpfs, mapping->dev_major, mapping->dev_minor))
		return -1;
	mu_text_format(path, sizeof(path), "/proc/%d/map_files/%lx-%lx",
	    tmpfs->pid, (unsigned long)mapping->range.begin,
	    (unsigned long)mapping->range.end);
	file = mu_procfs_open(path, O_RDONLY | O_NONBLOCK);
	if (file < 0)
		return -1;
	if (mu_sys2(SYS_fstat, file, (long)&about) != 0 ||
	    !S_ISREG(about.st_mode) || about.st_ino != mapping->inode)
		mu_sys_close(&file);
	return file;
}

bool
mu_map_file_next(int file, const struct mu_mapping *mapping, size_t page_size,
    struct mu_range range, struct mu_range *part)
{
	uintptr_t begin = mapping->range.begin;
	uint64_t from = mapping->offset + (range.begin - begin);
	uint64_t end = mapping->offset + (range.end - begin);
	long data, hole;

	/* ENXIO: no data follows. */
	data = mu_sys3(SYS_lseek, file, (long)from, SEEK_TO_DATA);
	if (data < 0 || (uint64_t)data >= end)
		return false;
	hole = mu_sys3(SYS_lseek, file, data, SEEK_TO_HOLE);
	if (hole <= data || (uint64_t)hole > end)
		hole = (long)end;
	data -= (long)((uint64_t)data % page_size);
	hole += (long)(-(uint64_t)hole % page_size);
	part->begin = begin + ((uint64_t)data - mapping->offset);
	part->end = begin + ((uint64_t)hole - mapping->offset);
	*part = mu_range_common(*part, range);
	return mu_range_size(*part) > 0;
}
