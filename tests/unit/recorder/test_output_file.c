/* Files that appear only when complete: names that are taken, and failures. */
#include <sys/stat.h>

#include "lib/malloc_debug/dumps/output_file.h"
#include "tests/support/captured_stderr.h"
#include "tests/support/folder.h"
#include "tests/support/suite.h"

static char directory[FOLDER_SIZE];
static char name[128];
static struct output_file out;

static void
begin(void)
{
	folder_make(directory);
	snprintf(name, sizeof(name), "%s/file", directory);
}

static void
end(void)
{
	folder_remove(directory);
}

static size_t
entries(void)
{
	char command[256];
	FILE *pipe;
	size_t n;

	snprintf(command, sizeof(command), "ls -A %s | wc -l", directory);
	pipe = popen(command, "r");
	ck_assert_int_eq(fscanf(pipe, "%zu", &n), 1);
	pclose(pipe);
	return n;
}

/* Longer than the buffer, in pieces of every length. */
TEST(all_of_it)
{
	static char got[1 << 20], wanted[1 << 20];
	size_t i, length = 0;
	FILE *in;

	ck_assert_int_eq(output_file_make(&out, name), 0);
	for (i = 0; i < 700; i++) {
		output_file_print(&out, "%lu %s\n", i, "text");
		length += (size_t)sprintf(wanted + length, "%lu text\n", i);
		memset(wanted + length, 'x', i);
		output_file_write(&out, wanted + length, i);
		length += i;
	}
	ck_assert_int_eq(access(name, F_OK), -1);
	ck_assert_int_eq(output_file_end(&out, name), 0);
	in = fopen(name, "r");
	ck_assert_uint_eq(fread(got, 1, sizeof(got), in), length);
	fclose(in);
	ck_assert_int_eq(memcmp(got, wanted, length), 0);
	ck_assert_uint_eq(entries(), 1);
}

TEST(old_one_stays_until_the_end)
{
	struct stat before, after;
	FILE *old = fopen(name, "w");

	fputs("old", old);
	fclose(old);
	stat(name, &before);
	ck_assert_int_eq(output_file_make(&out, name), 0);
	output_file_print(&out, "new");
	stat(name, &after);
	ck_assert_uint_eq(before.st_ino, after.st_ino);
	ck_assert_int_eq(output_file_end(&out, name), 0);
	stat(name, &after);
	ck_assert_uint_ne(before.st_ino, after.st_ino);
}

/*
 * The link is neither followed nor replaced: the file gets the next free name.
 */
TEST(what_is_in_the_way_stays)
{
	char first[140], second[140], words[400];
	struct captured_stderr captured;
	struct stat status;

	snprintf(first, sizeof(first), "%s.1", name);
	snprintf(second, sizeof(second), "%s.2", name);
	ck_assert_int_eq(symlink("nowhere", name), 0);
	ck_assert_int_eq(symlink("nowhere", first), 0);
	captured_stderr_begin(&captured);
	ck_assert_int_eq(output_file_make(&out, name), 0);
	output_file_print(&out, "new");
	ck_assert_int_eq(output_file_end(&out, name), 0);
	snprintf(words, sizeof(words),
	    "malloc_debug: %s: it is a symbolic link, and none is followed;"
	    " name the file itself; written to %s instead\n",
	    name, second);
	ck_assert_str_eq(captured_stderr_end(&captured), words);
	ck_assert_int_eq(stat(second, &status), 0);
	ck_assert_uint_eq(status.st_size, 3);
	ck_assert_uint_eq(status.st_mode & 07777, 0600);
	ck_assert_uint_eq(entries(), 3);
}

TEST(no_name_is_free)
{
	char other[140];
	int i;

	ck_assert_int_eq(mkdir(name, 0700), 0);
	for (i = 1; i <= 9; i++) {
		snprintf(other, sizeof(other), "%s.%d", name, i);
		ck_assert_int_eq(symlink("nowhere", other), 0);
	}
	ck_assert_int_eq(output_file_make(&out, name), 0);
	output_file_print(&out, "new");
	ck_assert_int_eq(output_file_end(&out, name), EEXIST);
	ck_assert_uint_eq(entries(), 10);
}

/* What was laid out where ours is written is removed, and not written to. */
TEST(laid_out_beside)
{
	char beside[256];

	snprintf(beside, sizeof(beside), "%s.%d.new", name, (int)gettid());
	ck_assert_int_eq(symlink("target", beside), 0);
	ck_assert_int_eq(output_file_make(&out, name), 0);
	output_file_print(&out, "new");
	ck_assert_int_eq(output_file_end(&out, name), 0);
	ck_assert_uint_eq(entries(), 1);
}

TEST(devices_and_pipes_stay)
{
	struct stat status;
	char byte = 0;
	int fd;

	ck_assert_int_eq(mkfifo(name, 0600), 0);
	fd = open(name, O_RDONLY | O_NONBLOCK);
	ck_assert_int_eq(output_file_make(&out, name), 0);
	output_file_print(&out, "x");
	ck_assert_int_eq(output_file_end(&out, name), 0);
	ck_assert_int_eq(read(fd, &byte, 1), 1);
	ck_assert_int_eq(byte, 'x');
	stat(name, &status);
	ck_assert(S_ISFIFO(status.st_mode));
	ck_assert_int_eq(output_file_make(&out, "/dev/null"), 0);
	output_file_print(&out, "x");
	ck_assert_int_eq(output_file_end(&out, "/dev/null"), 0);
	stat("/dev/null", &status);
	ck_assert(S_ISCHR(status.st_mode));
	ck_assert_int_eq(output_file_make(&out, "/dev/full"), 0);
	output_file_print(&out, "x");
	ck_assert_int_eq(output_file_end(&out, "/dev/full"), ENOSPC);
	close(fd);
}

TEST(places_that_are_none)
{
	static char long_name[PATH_MAX + 10];

	memset(long_name, 'x', sizeof(long_name) - 1);
	ck_assert_int_eq(output_file_make(&out, "/not/there/file"), ENOENT);
	ck_assert_int_eq(output_file_make(&out, long_name), ENAMETOOLONG);
}

TEST(given)
{
	char got[8] = "";
	int ends[2];

	ck_assert_int_eq(pipe(ends), 0);
	output_file_given(&out, ends[1]);
	output_file_print(&out, "%s", "abc");
	ck_assert_int_eq(output_file_end(&out, ""), 0);
	ck_assert_int_eq(read(ends[0], got, 7), 3);
	ck_assert_str_eq(got, "abc");
	ck_assert_int_eq(write(ends[1], "d", 1), 1); /* still open */
	close(ends[0]);
	close(ends[1]);
	output_file_given(&out, ends[1]);
	output_file_print(&out, "x");
	ck_assert_int_eq(output_file_end(&out, ""), EBADF);
}

SUITE(.setup = begin, .teardown = end);
