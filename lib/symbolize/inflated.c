#include "lib/symbolize/inflated.h"

#include <elf.h>
#include <fcntl.h>
#include <gelf.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#define LEAST ((uint64_t)1 << 20) /* bytes that are inflated in about 10 ms */
#define MOST (MU_CACHE_SIZE / 2)  /* so that tables and gaps have room */
#define ALIGNED ((uint64_t)16)

/* A file in the making. */
struct output {
	int fd;
	uint64_t at;
	Elf64_Shdr *sections;
	size_t num_sections;
};

/* The sum of the SIZE bytes of FD. */
static bool
sum_of(int fd, uint64_t size, uint64_t *sum)
{
	void *bytes = size == 0
	    ? MAP_FAILED
	    : mmap(NULL, size, PROT_READ, MAP_PRIVATE | MAP_POPULATE, fd, 0);

	if (bytes == MAP_FAILED)
		return false;
	*sum = mu_cache_sum(0, bytes, size);
	munmap(bytes, size);
	return true;
}

static int
find(const struct mu_cache *cache, const struct mu_debug_id *id)
{
	struct mu_cache_tail tail;
	uint64_t sum;
	int fd = mu_cache_find(cache, MU_CACHE_INFLATED, id, &tail);

	if (fd < 0 || (sum_of(fd, tail.size, &sum) && sum == tail.sum))
		return fd;
	close(fd);
	return -1;
}

/*
 * True if ELF is worth it, and not larger than allowed. libdw looks for split
 * units in the folder of the file, too, so a file with any stays where it is:
 * all have .debug_addr (DWARF 5, 7.3.2; GNU's form before it, too).
 */
static bool
is_wanted(Elf *elf)
{
	uint64_t inflated = 0, size = 0, more;
	size_t names;
	Elf_Scn *section = NULL;
	const char *name;
	GElf_Shdr header;
	GElf_Chdr chdr;

	if (elf_getshdrstrndx(elf, &names) != 0)
		return false;
	while ((section = elf_nextscn(elf, section)) != NULL) {
		if (gelf_getshdr(section, &header) == NULL)
			return false;
		name = elf_strptr(elf, names, header.sh_name);
		if (name != NULL && strcmp(name, ".debug_addr") == 0)
			return false;
		more = header.sh_type == SHT_NOBITS ? 0 : header.sh_size;
		if ((header.sh_flags & SHF_COMPRESSED) != 0) {
			if (gelf_getchdr(section, &chdr) == NULL)
				return false;
			more = chdr.ch_size;
			inflated += more;
		}
		if (more > MOST || (size += more) > MOST)
			return false;
	}
	return inflated >= LEAST;
}

static bool
put(struct output *output, const void *bytes, uint64_t size)
{
	static const char zeros[ALIGNED];
	uint64_t pad = -output->at % ALIGNED;

	if (!mu_cache_write(output->fd, zeros, pad) ||
	    !mu_cache_write(output->fd, bytes, size))
		return false;
	output->at += pad + size;
	return true;
}

static bool
put_section(struct output *output, Elf_Scn *section, Elf64_Shdr *header)
{
	const Elf64_Shdr *before = elf64_getshdr(section);
	Elf_Data *data;

	if (before == NULL ||
	    ((before->sh_flags & SHF_COMPRESSED) != 0 &&
		elf_compress(section, 0, 0) < 0))
		return false;
	*header = *before;
	if (header->sh_type == SHT_NOBITS || header->sh_type == SHT_NULL)
		return true;
	data = elf_rawdata(section, NULL);
	if (data == NULL || !put(output, data->d_buf, data->d_size))
		return false;
	header->sh_offset = output->at - data->d_size;
	header->sh_size = data->d_size;
	return true;
}

/* Headers, sections, and the table of sections, all as they are in memory. */
static bool
put_all(struct output *output, Elf *elf)
{
	const Elf64_Ehdr *before = elf64_getehdr(elf);
	const Elf64_Phdr *segments = elf64_getphdr(elf);
	Elf64_Ehdr header;
	size_t i, num_segments;

	if (before == NULL || elf_getphdrnum(elf, &num_segments) != 0 ||
	    (num_segments > 0 && segments == NULL) ||
	    elf_getshdrnum(elf, &output->num_sections) != 0)
		return false;
	header = *before;
	output->sections =
	    calloc(output->num_sections, sizeof(*output->sections));
	if (output->sections == NULL || !put(output, &header, sizeof(header)) ||
	    !put(output, segments, num_segments * sizeof(*segments)))
		return false;
	header.e_phoff = num_segments == 0
	    ? 0
	    : output->at - num_segments * sizeof(*segments);
	for (i = 0; i < output->num_sections; i++)
		if (!put_section(
			output, elf_getscn(elf, i), &output->sections[i]))
			return false;
	if (!put(output, output->sections,
		output->num_sections * sizeof(*output->sections)))
		return false;
	header.e_shoff =
	    output->at - output->num_sections * sizeof(*output->sections);
	return lseek(output->fd, 0, SEEK_SET) == 0 &&
	    mu_cache_write(output->fd, &header, sizeof(header));
}

/* An ELF file of this machine's kind, which can be written as it is read. */
static bool
is_ours(Elf *elf)
{
	const char *ident = elf_getident(elf, NULL);

	return ident != NULL && elf_kind(elf) == ELF_K_ELF &&
	    ident[EI_CLASS] == ELFCLASS64 && ident[EI_DATA] == ELFDATA2LSB;
}

static int
make(struct mu_cache *cache, const struct mu_debug_id *id, Elf *elf)
{
	struct output output = { .fd = -1 };
	uint64_t sum;
	bool good;

	if (!is_ours(elf) || !is_wanted(elf))
		return -1;
	output.fd = mu_cache_begin(cache);
	good = output.fd >= 0 && put_all(&output, elf) &&
	    sum_of(output.fd, output.at, &sum) &&
	    mu_cache_finish(cache, output.fd, MU_CACHE_INFLATED, id, sum);
	free(output.sections);
	return good ? fcntl(output.fd, F_DUPFD_CLOEXEC, 0) : -1;
}

int
mu_inflated_file(struct mu_cache *cache, const char *build_id,
    const struct stat *about, int fd)
{
	struct mu_debug_id id;
	Elf *elf;
	int inflated;

	if (cache == NULL || !mu_debug_id_make(&id, build_id, about))
		return fd;
	inflated = find(cache, &id);
	if (inflated < 0) {
		elf = elf_begin(fd, ELF_C_READ_MMAP, NULL);
		inflated = elf == NULL ? -1 : make(cache, &id, elf);
		elf_end(elf);
	}
	if (inflated < 0)
		return fd;
	close(fd);
	return inflated;
}
