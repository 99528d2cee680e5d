/*
 * lib/command/environment.c, file.c, reaped.c: the environment of a COMMAND,
 * which files are refused, and whether the kernel has freed its memory.
 */
#include <elf.h>
#include <stddef.h>
#include <sys/stat.h>

#include "lib/command/environment.h"
#include "lib/command/file.h"
#include "lib/command/reaped.h"
#include "lib/state/options.h"
#include "tests/support/folder.h"
#include "tests/support/suite.h"

#define NOBODY 65534
static char folder[FOLDER_SIZE];
static char path[200];
static struct mu_why why;

TEST(preload)
{
	static const char library[] = "/usr/lib/libmemunreachable.so.0";
	char *text;

	text = mu_command_environment_preload(NULL, "", library);
	ck_assert_str_eq(text, library);
	free(text);
	text = mu_command_environment_preload("", "", library);
	ck_assert_str_eq(text, library);
	free(text);
	text = mu_command_environment_preload("/a.so /b.so", "", library);
	ck_assert_str_eq(text, "/a.so /b.so:/usr/lib/libmemunreachable.so.0");
	free(text);
	text = mu_command_environment_preload("/a.so", "/r.so", library);
	ck_assert_str_eq(text, "/a.so:/r.so:/usr/lib/libmemunreachable.so.0");
	free(text);
	text = mu_command_environment_preload(NULL, "/r.so", library);
	ck_assert_str_eq(text, "/r.so:/usr/lib/libmemunreachable.so.0");
	free(text);
}

static void
expect_recorder(const char *earlier, size_t frames, size_t min_size,
    size_t max_size, const char *expected)
{
	struct mu_cli_options options = { .backtrace = true,
		.frames = frames,
		.min_size = min_size,
		.max_size = max_size };
	char *text = mu_command_environment_recorder(earlier, &options);

	ck_assert_str_eq(text, expected);
	free(text);
}

/* The last of equal options counts. */
TEST(recorder_is_told)
{
	expect_recorder(NULL, 0, 0, 0, "backtrace backtrace_python");
	expect_recorder("", 8, 0, 0, "backtrace=8 backtrace_python");
	expect_recorder("leak_track", 8, 24, 4096,
	    "leak_track backtrace=8 backtrace_python backtrace_min_size=24"
	    " backtrace_max_size=4096");
}

TEST(only_what_was_given)
{
	struct mu_cli_options options = {
		.timeout_ms = 30000,
		.limit = 100,
		.library.max_leaks = 100,
	};
	char *text;

	text = mu_command_environment_options(
	    NULL, &options, "/tmp/r", NULL, 1, 4711, 30);
	ck_assert_str_eq(
	    text, "at_exit=1:log_records=1:log_path='/tmp/r':only_pid=4711");
	free(text);
	/* By another option: a baseline has all groups. */
	options.limit = 10000;
	text = mu_command_environment_options(
	    NULL, &options, "/tmp/r", NULL, 1, 4711, 30);
	ck_assert_str_eq(text,
	    "at_exit=1:log_records=1:max_leaks=10000:log_path='/tmp/r':only_pid=4711");
	free(text);
	options.limit = 100;
	text = mu_command_environment_options(
	    "exitcode=99:at_exit=0", &options, "/it's", NULL, 1, 0, 30);
	ck_assert_str_eq(text,
	    "exitcode=99:at_exit=0:at_exit=1:log_records=1:log_path=\"/it's\":only_pid=0");
	free(text);
	ck_assert_ptr_null(mu_command_environment_options(
	    NULL, &options, "'\"", NULL, 1, 0, 30));
}

/* The library's own parser finds nothing to warn of. */
TEST(library_understands)
{
	struct mu_cli_options options = { .timeout_ms = 1500,
		.timeout_given = true,
		.limit = 7,
		.limit_given = true,
		.contents = true,
		.signal = 40,
		.max_memory = 3 << 20,
		.workers = 2 };
	struct mu_options parsed;
	char words[256] = "";
	struct mu_text warnings = { words, sizeof(words), 0 };
	char *text;

	text = mu_command_environment_options("verbosity=1", &options,
	    "/tmp/a:b c/r", "/tmp/a:b c/a", 4712, 4711, 30);
	mu_options_default(&parsed);
	mu_options_parse(&parsed, text, &warnings);
	ck_assert_str_eq(words, "");
	ck_assert_uint_eq(parsed.verbosity, 1);
	ck_assert_uint_eq(parsed.timeout, 1500);
	ck_assert_uint_eq(parsed.max_leaks, 7);
	ck_assert(parsed.log_contents);
	ck_assert(parsed.at_exit);
	ck_assert_int_eq(parsed.signal, 40);
	ck_assert_uint_eq(parsed.max_memory, 3 << 20);
	ck_assert_uint_eq(parsed.workers, 2);
	ck_assert_str_eq(parsed.log_path, "/tmp/a:b c/r");
	ck_assert_str_eq(parsed.answer_path, "/tmp/a:b c/a");
	ck_assert_uint_eq(parsed.tracer, 4712);
	ck_assert_uint_eq(parsed.only_pid, 4711);
	ck_assert_uint_eq(parsed.preloaded, 30);
	free(text);
}

static void
make_folder(void)
{
	folder_make(folder);
	ck_assert_int_eq(chmod(folder, 0755), 0);
}

static void
remove_folder(void)
{
	folder_remove(folder);
}

/* A file of LENGTH bytes; its path is PATH. */
static const char *
make(const char *name, mode_t mode, const void *bytes, size_t length)
{
	int fd;

	snprintf(path, sizeof(path), "%s/%s", folder, name);
	fd = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0600);
	ck_assert_int_ge(fd, 0);
	ck_assert_int_eq(write(fd, bytes, length), (ssize_t)length);
	ck_assert_int_eq(fchmod(fd, mode), 0);
	close(fd);
	return path;
}

static enum mu_status
find(const char *name, const char *search)
{
	char found[sizeof(path)];
	enum mu_status status;

	why.text[0] = '\0';
	status = mu_command_file_find(name, search, found, sizeof(found), &why);
	if (status == MU_OK)
		memcpy(path, found, sizeof(path));
	return status;
}

CASE(files, make_folder, remove_folder);

TEST(found_as_by_execvp)
{
	char search[256];

	make("prog", 0755, "x", 1);
	snprintf(search, sizeof(search), "/nowhere::%s", folder);
	ck_assert_int_eq(find("prog", search), MU_OK);
	ck_assert_ptr_nonnull(strstr(path, "/prog"));
	ck_assert_int_eq(find(path, NULL), MU_OK);
	ck_assert_int_eq(find("prog", "/nowhere"), MU_ERR_ARGUMENT);
	ck_assert_str_eq(why.text, "cannot run prog: not found in PATH");
	ck_assert_int_eq(find("", "/bin"), MU_ERR_ARGUMENT);
	ck_assert_int_eq(find("sh", NULL), MU_OK);
	ck_assert_int_eq(find("/", NULL), MU_ERR_ARGUMENT);
	ck_assert_str_eq(why.text, "cannot run /: it is not a file");
	ck_assert_int_eq(find("/no/such", NULL), MU_ERR_ARGUMENT);
	ck_assert_str_eq(
	    why.text, "cannot run /no/such: No such file or directory");
	make("data", 0644, "x", 1);
	ck_assert_int_eq(find(path, NULL), MU_ERR_ARGUMENT);
	ck_assert_ptr_nonnull(strstr(why.text, "it may not be executed"));
}

static enum mu_status
check(const char *file)
{
	why.text[0] = '\0';
	return mu_command_file_check(file, &why);
}

/* The head of an ELF file of ours with COUNT program headers behind it. */
static Elf64_Ehdr
head(uint16_t count)
{
	Elf64_Ehdr header;
	FILE *own = fopen("/proc/self/exe", "r");

	ck_assert_ptr_nonnull(own);
	ck_assert_uint_eq(fread(&header, sizeof(header), 1, own), 1);
	fclose(own);
	header.e_phoff = sizeof(header);
	header.e_phnum = count;
	header.e_shoff = 0;
	header.e_shnum = header.e_shstrndx = 0;
	return header;
}

TEST(elf_files)
{
	struct {
		Elf64_Ehdr header;
		Elf64_Phdr interpreter;
		char path[32];
	} elf;

	memset(&elf, 0, sizeof(elf));
	/* Not this program: it may have been built with a sanitizer. */
	ck_assert_int_eq(check("/bin/sh"), MU_OK);
	elf.header = head(1);
	elf.interpreter.p_type = PT_INTERP;
	elf.interpreter.p_offset = offsetof(__typeof__(elf), path);
	elf.interpreter.p_filesz = sizeof(elf.path);
	strcpy(elf.path, "/lib64/ld-linux-x86-64.so.2");
	ck_assert_int_eq(check(make("x", 0755, &elf, sizeof(elf))), MU_OK);
	strcpy(elf.path, "/lib/ld-musl-x86_64.so.1");
	ck_assert_int_eq(check(make("x", 0755, &elf, sizeof(elf))),
	    MU_ERR_FOREIGN_ALLOCATOR);
	ck_assert_ptr_nonnull(strstr(why.text, "uses musl"));
	/* Sizes and places that are lies. */
	elf.interpreter.p_filesz = UINT64_MAX;
	check(make("x", 0755, &elf, sizeof(elf)));
	elf.interpreter.p_offset = UINT64_MAX;
	check(make("x", 0755, &elf, sizeof(elf)));
	elf.interpreter.p_type = PT_LOAD;
	ck_assert_int_eq(check(make("x", 0755, &elf, sizeof(elf))), MU_PARTIAL);
	ck_assert_ptr_nonnull(strstr(why.text, "is linked statically"));
	elf.header.e_machine = EM_68K;
	ck_assert_int_eq(
	    check(make("x", 0755, &elf, sizeof(elf))), MU_ERR_ARGUMENT);
	ck_assert_ptr_nonnull(strstr(why.text, "program of another kind"));
	elf.header.e_ident[EI_CLASS] = ELFCLASS32;
	ck_assert_int_eq(
	    check(make("x", 0755, &elf, sizeof(elf))), MU_ERR_ARGUMENT);
	ck_assert_ptr_nonnull(strstr(why.text, "is of 32 bits, a program"));
	check(make("x", 0755, &elf, 20));
	ck_assert_int_eq(check(make("x", 0755, "", 0)), MU_OK);
	ck_assert_int_eq(check("/no/such"), MU_OK);
}

TEST(scripts)
{
	Elf64_Ehdr fixed = head(0);
	char script[256];

	ck_assert_int_eq(check(make("a", 0755, "#! /bin/sh -e\n", 14)), MU_OK);
	make("static", 0755, &fixed, sizeof(fixed));
	snprintf(script, sizeof(script), "#!%s", path);
	ck_assert_int_eq(
	    check(make("b", 0755, script, strlen(script))), MU_PARTIAL);
	ck_assert_ptr_nonnull(strstr(why.text, "/static is linked static"));
	/* It leads to itself. */
	snprintf(script, sizeof(script), "#!%s/c\n", folder);
	check(make("c", 0755, script, strlen(script)));
	ck_assert_int_eq(check(make("d", 0755, "#!", 2)), MU_OK);
	ck_assert_int_eq(check(make("d", 0755, "#!  \n", 5)), MU_OK);
}

TEST(set_user_id)
{
	Elf64_Ehdr fixed = head(0);

	make("x", 0755, &fixed, sizeof(fixed));
	if (geteuid() != 0 || chown(path, NOBODY, (gid_t)-1) != 0) {
		puts("SKIPPED: set-user-ID files are made by root only");
		return;
	}
	ck_assert_int_eq(chmod(path, 04755), 0);
	/* We are root, whose tracees keep what the file gives them. */
	ck_assert_int_eq(check(path), MU_PARTIAL);
	ck_assert_ptr_nonnull(strstr(why.text, "changes its user"));
	ck_assert_ptr_nonnull(strstr(why.text, "-p PID as root"));
	/* For root to become root is no change. */
	ck_assert_int_eq(chown(path, 0, (gid_t)-1), 0);
	ck_assert_int_eq(chmod(path, 04755), 0);
	check(path);
	ck_assert_ptr_nonnull(strstr(why.text, "is linked statically"));
	ck_assert_int_eq(chown(path, 0, NOBODY), 0);
	ck_assert_int_eq(chmod(path, 02755), 0);
	check(path);
	ck_assert_ptr_nonnull(strstr(why.text, "changes its user"));
}

/* Of a process with MAPPINGS, one of whose pages is FREED. */
static bool
is_reaped(const struct mu_mapping *mappings, size_t count, char *freed)
{
	size_t page = (size_t)getpagesize();
	int pagemap = open("/proc/self/pagemap", O_RDONLY | O_CLOEXEC);
	struct mu_reaped reaped;
	bool is_gone;

	mu_reaped_open(&reaped, mappings, count, page, pagemap, "/program");
	if (freed != NULL)
		ck_assert_int_eq(madvise(freed, page, MADV_DONTNEED), 0);
	is_gone = mu_is_reaped(&reaped);
	close(pagemap);
	return is_gone;
}

#define PARTS 12

TEST(reaped)
{
	size_t page = (size_t)getpagesize(), i;
	char *memory = mmap(NULL, 2 * PARTS * page, PROT_READ | PROT_WRITE,
	    MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	struct mu_mapping parts[PARTS] = { 0 };

	for (i = 0; i < PARTS; i++) {
		parts[i].range.begin = (uintptr_t)memory + 2 * i * page;
		parts[i].range.end = parts[i].range.begin + 2 * page;
		parts[i].name = i == PARTS - 1 ? "[stack]" : "/a";
		memory[(2 * i + 1) * page] = 1;
	}
	/* Only pages with contents count, and nothing behind the mapping. */
	ck_assert(!is_reaped(parts, PARTS, NULL));
	ck_assert(!is_reaped(parts, PARTS, memory));
	ck_assert(is_reaped(parts, PARTS, memory + page));
	parts[0].range.end -= page;
	ck_assert(is_reaped(parts, 1, NULL));
	/* The lowest and the stack count, whatever lies between. */
	ck_assert(!is_reaped(parts, PARTS, memory + 19 * page));
	ck_assert(is_reaped(parts, PARTS, memory + 23 * page));
	memory[23 * page] = 1;
	/* Of those without a name only the lowest. */
	parts[1].name = parts[2].name = "";
	ck_assert(!is_reaped(parts, PARTS, memory + 5 * page));
	ck_assert(is_reaped(parts, PARTS, memory + 3 * page));
	parts[3].shared = true;
	ck_assert(!is_reaped(parts, PARTS, memory + 7 * page));
	/* It has begun: with the stack, or with the program. */
	parts[4].name = "/program";
	parts[4].inode = 1;
	ck_assert(!is_reaped(parts, PARTS, NULL));
	madvise(memory + 9 * page, page, MADV_DONTNEED);
	ck_assert(is_reaped(parts, PARTS, NULL));
	memory[9 * page] = 1;
	ck_assert(!is_reaped(parts, PARTS, NULL));
	madvise(memory + 23 * page, page, MADV_DONTNEED);
	ck_assert(is_reaped(parts, PARTS, NULL));
	munmap(memory, 2 * PARTS * page);
}
