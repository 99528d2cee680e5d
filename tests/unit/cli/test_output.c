/*
 * lib/term/output.c: owner and mode of the output file, and its contents after
 * a failure.
 */
#include <sys/stat.h>

#include "lib/term/output.h"
#include "tests/support/folder.h"
#include "tests/support/suite.h"

#define NOBODY 65534

static char folder[FOLDER_SIZE];
static char path[256], other[256];
static struct mu_output output;
static struct mu_why why;

static void
make_folder(void)
{
	folder_make(folder);
	snprintf(path, sizeof(path), "%s/report", folder);
	snprintf(other, sizeof(other), "%s/other", folder);
	why.text[0] = '\0';
}

static void
remove_folder(void)
{
	mu_output_close(&output);
	folder_remove(folder);
}

static void
write_file(const char *name, const char *text, mode_t mode)
{
	FILE *file = fopen(name, "w");

	ck_assert_ptr_nonnull(file);
	fputs(text, file);
	fclose(file);
	ck_assert_int_eq(chmod(name, mode), 0);
}

static const char *
contents(const char *name)
{
	static char text[64];
	FILE *file = fopen(name, "r");

	ck_assert_ptr_nonnull(file);
	text[fread(text, 1, sizeof(text) - 1, file)] = '\0';
	fclose(file);
	return text;
}

static mode_t
mode_of(const char *name)
{
	struct stat st;

	ck_assert_int_eq(stat(name, &st), 0);
	return st.st_mode & 07777;
}

TEST(new_file)
{
	umask(0);
	ck_assert_int_eq(mu_output_open(&output, path, &why), MU_OK);
	ck_assert_uint_eq(mode_of(path), 0600);
	fputs("report", output.text);
	ck_assert_str_eq(contents(path), "");
	ck_assert_int_eq(mu_output_commit(&output, &why), MU_OK);
	ck_assert_str_eq(contents(path), "report");
}

TEST(earlier_report_is_kept_till_the_end)
{
	write_file(path, "the earlier report", 0644);
	ck_assert_int_eq(mu_output_open(&output, path, &why), MU_OK);
	ck_assert_uint_eq(mode_of(path), 0600);
	fputs("report", output.text);
	ck_assert_str_eq(contents(path), "the earlier report");
	mu_output_close(&output);
	ck_assert_str_eq(contents(path), "the earlier report");
	ck_assert_int_eq(mu_output_open(&output, path, &why), MU_OK);
	fputs("report", output.text);
	ck_assert_int_eq(mu_output_commit(&output, &why), MU_OK);
	ck_assert_str_eq(contents(path), "report");
}

/* More than is kept in memory: the rest goes to the file at once. */
TEST(long_report_is_written_as_it_comes)
{
	const size_t lines = MU_OUTPUT_KEPT / 8 + 1000;
	struct stat st;
	size_t i;

	write_file(path, "the earlier report", 0600);
	ck_assert_int_eq(mu_output_open(&output, path, &why), MU_OK);
	for (i = 0; i < lines; i++)
		fprintf(output.text, "%07zu\n", i);
	fflush(output.text);
	ck_assert_int_eq(stat(path, &st), 0);
	ck_assert_int_gt(st.st_size, (off_t)MU_OUTPUT_KEPT);
	ck_assert_int_eq(mu_output_commit(&output, &why), MU_OK);
	ck_assert_int_eq(stat(path, &st), 0);
	ck_assert_int_eq(st.st_size, (off_t)(lines * 8));
	ck_assert_int_eq(strncmp(contents(path), "0000000\n0000001\n", 16), 0);
}

TEST(no_link_is_followed)
{
	write_file(other, "mine", 0644);
	ck_assert_int_eq(symlink(other, path), 0);
	ck_assert_int_eq(mu_output_open(&output, path, &why), MU_ERR_ARGUMENT);
	ck_assert_ptr_nonnull(strstr(why.text, "it is a symbolic link"));
	ck_assert_ptr_null(output.text);
	ck_assert_str_eq(contents(other), "mine");
	ck_assert_uint_eq(mode_of(other), 0644);
}

TEST(file_of_another_user)
{
	write_file(path, "", 0666);
	if (chown(path, NOBODY, (gid_t)-1) != 0) {
		puts("SKIPPED: only root can make a file of another user");
		return;
	}
	ck_assert_int_eq(mu_output_open(&output, path, &why), MU_ERR_ARGUMENT);
	ck_assert_ptr_nonnull(strstr(why.text, "belongs to another user"));
}

TEST(places_that_are_none)
{
	ck_assert_int_eq(
	    mu_output_open(&output, "/no/such/x", &why), MU_ERR_ARGUMENT);
	ck_assert_str_eq(
	    why.text, "cannot write /no/such/x: No such file or directory");
	ck_assert_int_eq(mu_output_open(&output, "/", &why), MU_ERR_ARGUMENT);
	ck_assert_str_eq(why.text, "cannot write /: Is a directory");
}

TEST(devices)
{
	ck_assert_int_eq(mu_output_open(&output, "/dev/null", &why), MU_OK);
	fputs("report", output.text);
	ck_assert_int_eq(mu_output_commit(&output, &why), MU_OK);
	mu_output_close(&output);
	ck_assert_int_eq(mu_output_open(&output, "/dev/full", &why), MU_OK);
	fputs("report", output.text);
	ck_assert_int_eq(mu_output_commit(&output, &why), MU_ERR_ARGUMENT);
	ck_assert_str_eq(
	    why.text, "cannot write /dev/full: No space left on device");
}

TEST(standard_output)
{
	ck_assert_int_eq(mu_output_open(&output, NULL, &why), MU_OK);
	ck_assert_int_eq(output.fd, STDOUT_FILENO);
	ck_assert_ptr_null(output.path);
	mu_output_close(&output);
	ck_assert_int_eq(mu_output_open(&output, "-", &why), MU_OK);
	ck_assert_int_eq(output.fd, STDOUT_FILENO);
	mu_output_close(&output);
	ck_assert_int_ge(fcntl(STDOUT_FILENO, F_GETFD), 0);
	mu_output_close(&output);
}

SUITE(.setup = make_folder, .teardown = remove_folder);
