/*
 * lib/symbolize/inflated.h: the inflated file has the sections of the
 * compressed one, is made once, and never used damaged or for another file;
 * what is not worth it, or hostile, stays as it is.
 */
#include "lib/symbolize/inflated.h"

#include <fcntl.h>
#include <gelf.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "tests/support/suite.h"

#define SIZE ((size_t)2 << 20)
#define BUILD_ID "0123abcd"

static char folder[32], path[64], kept[128];
static char bytes[SIZE];
static const char names[] = "\0.debug_info\0.debug_addr\0.names";
static struct mu_cache cache;

static void
set_up(void)
{
	size_t i;

	for (i = 0; i < SIZE; i++)
		bytes[i] = (char)(i / 1000);
	strcpy(folder, "/tmp/mu-inflated.XXXXXX");
	ck_assert_ptr_nonnull(mkdtemp(folder));
	snprintf(path, sizeof(path), "%s/file", folder);
	snprintf(kept, sizeof(kept),
	    "%s/memunreachable/" BUILD_ID ".inflated-1", folder);
	setenv("XDG_CACHE_HOME", folder, 1);
	mu_cache_open(&cache);
	ck_assert(cache.open);
}

static void
tear_down(void)
{
	char command[128];

	mu_cache_close(&cache);
	snprintf(command, sizeof(command), "rm -rf %s", folder);
	ck_assert_int_eq(system(command), 0);
}

static void
add_section(Elf *elf, const char *name, const char *content, size_t size)
{
	Elf_Scn *section = elf_newscn(elf);
	Elf_Data *data = elf_newdata(section);
	Elf64_Shdr *header = elf64_getshdr(section);

	data->d_buf = (void *)(uintptr_t)content;
	data->d_size = size;
	data->d_type = ELF_T_BYTE;
	data->d_align = 1;
	header->sh_type = SHT_PROGBITS;
	while (strcmp(names + header->sh_name, name) != 0)
		header->sh_name++;
	if (size >= 1000)
		ck_assert_int_eq(elf_compress(section, ELFCOMPRESS_ZLIB, 0), 1);
}

/* Write a file with SIZE_ bytes that are compressed. */
static void
write_file(const char *name, size_t size)
{
	int fd = open(path, O_RDWR | O_CREAT | O_TRUNC, 0600);
	Elf64_Ehdr *header;
	Elf *elf;

	elf_version(EV_CURRENT);
	elf = elf_begin(fd, ELF_C_WRITE, NULL);
	header = elf64_newehdr(elf);
	header->e_ident[EI_DATA] = ELFDATA2LSB;
	header->e_type = ET_EXEC;
	header->e_shstrndx = 2;
	add_section(elf, name, bytes, size);
	add_section(elf, ".names", names, sizeof(names));
	elf_getscn(elf, 2);
	elf64_getshdr(elf_getscn(elf, 2))->sh_type = SHT_STRTAB;
	ck_assert_int_gt(elf_update(elf, ELF_C_WRITE), 0);
	elf_end(elf);
	close(fd);
}

/* The file, or its inflated form: *OTHER. */
static int
open_inflated(bool *other)
{
	struct stat before, after;
	int fd = open(path, O_RDONLY);

	ck_assert_int_eq(fstat(fd, &before), 0);
	fd = mu_inflated_file(&cache, BUILD_ID, &before, fd);
	ck_assert_int_ge(fd, 0);
	ck_assert_int_eq(fstat(fd, &after), 0);
	*other = before.st_ino != after.st_ino;
	return fd;
}

/* Open it, and let the command name what was made. */
static bool
is_inflated(void)
{
	bool other;

	close(open_inflated(&other));
	mu_cache_close(&cache);
	mu_cache_open(&cache);
	return other;
}

static ino_t
inode_kept(void)
{
	struct stat about;

	return stat(kept, &about) == 0 ? about.st_ino : 0;
}

static void
expect_sections(int fd)
{
	Elf *elf = elf_begin(fd, ELF_C_READ, NULL);
	Elf64_Shdr *header = elf64_getshdr(elf_getscn(elf, 1));
	Elf_Data *data = elf_rawdata(elf_getscn(elf, 1), NULL);
	size_t count, index;

	ck_assert_int_eq(elf_getshdrnum(elf, &count), 0);
	ck_assert_uint_eq(count, 3);
	ck_assert_int_eq(elf_getshdrstrndx(elf, &index), 0);
	ck_assert_uint_eq(index, 2);
	ck_assert_str_eq(
	    elf_strptr(elf, index, header->sh_name), ".debug_info");
	ck_assert_uint_eq(header->sh_flags & SHF_COMPRESSED, 0);
	ck_assert_uint_eq(data->d_size, SIZE);
	ck_assert_mem_eq(data->d_buf, bytes, SIZE);
	elf_end(elf);
}

TEST(sections_are_inflated_once)
{
	bool other;
	ino_t before;
	int i, fd;

	write_file(".debug_info", SIZE);
	for (i = 0; i < 2; i++) {
		fd = open_inflated(&other);
		ck_assert(other);
		expect_sections(fd);
		close(fd);
		ck_assert_uint_eq(cache.num_used, i == 0);
		mu_cache_close(&cache);
		mu_cache_open(&cache);
		if (i == 0)
			before = inode_kept();
		ck_assert_uint_ne(before, 0);
		ck_assert_uint_eq(inode_kept(), before);
	}
}

TEST(what_is_not_worth_it_stays)
{
	struct stat about;
	int fd;

	write_file(".debug_info", SIZE / 4);
	ck_assert(!is_inflated());
	write_file(".debug_addr", SIZE);
	ck_assert(!is_inflated());
	write_file(".debug_info", SIZE);
	fd = open(path, O_RDONLY);
	ck_assert_int_eq(fstat(fd, &about), 0);
	ck_assert_int_eq(mu_inflated_file(&cache, "", &about, fd), fd);
	ck_assert_int_eq(mu_inflated_file(NULL, BUILD_ID, &about, fd), fd);
	close(fd);
	ck_assert_uint_eq(inode_kept(), 0);
}

/* What a hostile section holds may be the end of a file that is not complete.
 */
TEST(an_end_that_was_copied)
{
	struct stat about;
	char *copy;
	int fd;

	write_file(".debug_info", SIZE);
	ck_assert(is_inflated());
	fd = open(kept, O_RDONLY);
	ck_assert_int_eq(fstat(fd, &about), 0);
	copy = malloc((size_t)about.st_size);
	ck_assert_int_eq(read(fd, copy, (size_t)about.st_size), about.st_size);
	close(fd);
	ck_assert_int_eq(unlink(kept), 0);
	fd = mu_cache_begin(&cache);
	ck_assert(mu_cache_write(fd, copy, (size_t)about.st_size));
	free(copy);
	mu_cache_close(&cache);
	mu_cache_open(&cache);
	ck_assert_uint_eq(inode_kept(), 0);
}

TEST(another_file_with_its_build_id)
{
	ino_t before;

	write_file(".debug_info", SIZE);
	ck_assert(is_inflated());
	before = inode_kept();
	bytes[0]++;
	write_file(".debug_info", SIZE);
	ck_assert(is_inflated());
	ck_assert_uint_ne(inode_kept(), before);
}

/* A bit of each part: the ELF header, a section, the sum, the size. */
TEST_LOOP(a_damaged_one_is_made_anew, 0, 4)
{
	const off_t at[] = { 5, SIZE / 2, -16, -8 };
	struct stat about;
	ino_t before;
	bool other;
	off_t where;
	char byte;
	int fd;

	write_file(".debug_info", SIZE);
	ck_assert(is_inflated());
	before = inode_kept();
	fd = open(kept, O_RDWR);
	ck_assert_int_eq(fstat(fd, &about), 0);
	where = at[_i] < 0 ? about.st_size + at[_i] : at[_i];
	ck_assert_int_eq(pread(fd, &byte, 1, where), 1);
	byte ^= 4;
	ck_assert_int_eq(pwrite(fd, &byte, 1, where), 1);
	close(fd);
	fd = open_inflated(&other);
	ck_assert(other);
	expect_sections(fd);
	close(fd);
	mu_cache_close(&cache);
	ck_assert_uint_ne(inode_kept(), before);
}

/* Any byte of the compressed file: nothing but a refusal follows. */
TEST(hostile_files)
{
	struct stat about;
	size_t i, made = 0;
	char *whole;
	int fd;

	write_file(".debug_info", SIZE);
	fd = open(path, O_RDONLY);
	ck_assert_int_eq(fstat(fd, &about), 0);
	whole = malloc((size_t)about.st_size);
	ck_assert_int_eq(read(fd, whole, (size_t)about.st_size), about.st_size);
	close(fd);
	for (i = 0; i < (size_t)about.st_size; i += i < 128 ? 1 : 97) {
		whole[i] = (char)~whole[i];
		fd = open(path, O_WRONLY | O_TRUNC);
		ck_assert_int_eq(
		    write(fd, whole, (size_t)about.st_size), about.st_size);
		close(fd);
		whole[i] = (char)~whole[i];
		made += is_inflated();
	}
	free(whole);
	ck_assert_uint_gt(made, 0);
}

SUITE(.setup = set_up, .teardown = tear_down);
