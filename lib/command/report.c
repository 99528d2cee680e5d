#include "lib/command/report.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include "lib/state/answer_file.h"
#include "lib/term/safe_text.h"
#include "mu/text.h"

#define NAME "report" /* the library appends ".PID" */
#define ANSWER "answer"
#define FOLDER "/memunreachable-XXXXXX"

/* The socket of lib/command/forked.h lies in the folder. */
#define BELOW_MAX                                   \
	(sizeof((struct sockaddr_un) {}.sun_path) - \
	    sizeof(FOLDER "/" ANSWER MU_ANSWER_ASK))

enum mu_status
mu_command_report_begin(struct mu_command_report *report, struct mu_why *why)
{
	const char *below = secure_getenv("TMPDIR");

	memset(report, 0, sizeof(*report));
	if (below == NULL || below[0] != '/' || strlen(below) > BELOW_MAX)
		below = "/tmp";
	snprintf(report->folder, sizeof(report->folder), "%s" FOLDER, below);
	if (mkdtemp(report->folder) == NULL) {
		report->folder[0] = '\0';
		return mu_why(why, MU_ERR_RESOURCES,
		    "cannot make a folder in %s for the reports (%s)" MU_CURE
		    "set"
		    " TMPDIR to another place",
		    mu_safe_argument(below).text, strerror(errno));
	}
	mu_text_format(
	    report->path, sizeof(report->path), "%s/" NAME, report->folder);
	mu_text_format(report->answers, sizeof(report->answers), "%s/" ANSWER,
	    report->folder);
	return MU_OK;
}

int
mu_command_report_room(const struct mu_command_report *report)
{
	static const char some[4096];
	char path[2 * PATH_MAX];
	ssize_t wrote = 0;
	int fd, error = 0;

	snprintf(path, sizeof(path), "%s/" ANSWER ".room", report->folder);
	fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
	if (fd >= 0)
		wrote = write(fd, some, sizeof(some));
	if (wrote < (ssize_t)sizeof(some))
		error = fd < 0 || wrote < 0 ? errno : ENOSPC;
	if (fd >= 0) {
		close(fd);
		unlink(path);
	}
	return error;
}

/* Copy what was appended to the file NAME, which belongs to one process. */
static void
copy(struct mu_command_report *report, const char *name,
    struct mu_log_reader *reader, FILE *out)
{
	bool damaged = reader->damaged;
	char path[2 * PATH_MAX];
	FILE *in;
	int fd;

	snprintf(path, sizeof(path), "%s/%s", report->folder, name);
	fd = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
	in = fd >= 0 ? fdopen(fd, "r") : NULL;
	if (in == NULL) {
		if (fd >= 0)
			close(fd);
		return;
	}
	mu_log_reader_copy(reader, in, &report->helper, out);
	fclose(in);
	if (reader->damaged && !damaged)
		fprintf(stderr,
		    "memunreachable: the log of process %s is damaged: the"
		    " process, or another version of libmemunreachable, wrote"
		    " to it\n",
		    name + strlen(NAME "."));
}

void
mu_command_report_show(struct mu_command_report *report, pid_t pid, FILE *out)
{
	char name[64];

	snprintf(name, sizeof(name), NAME ".%d", (int)pid);
	copy(report, name, &report->own, out);
}

static int
is_report(const struct dirent *entry)
{
	return strncmp(entry->d_name, NAME ".", strlen(NAME ".")) == 0;
}

bool
mu_command_report_show_all(
    struct mu_command_report *report, pid_t pid, FILE *out)
{
	struct mu_log_reader other;
	struct dirent **entries = NULL;
	char own[64];
	int i, count;

	mu_command_report_show(report, pid, out);
	snprintf(own, sizeof(own), NAME ".%d", (int)pid);
	count = scandir(report->folder, &entries, is_report, versionsort);
	for (i = 0; i < count; i++) {
		other = (struct mu_log_reader) { 0 };
		if (strcmp(entries[i]->d_name, own) != 0)
			copy(report, entries[i]->d_name, &other, out);
		free(entries[i]);
	}
	free(entries);
	return report->own.checked;
}

static int
is_ours(const struct dirent *entry)
{
	return is_report(entry) ||
	    strncmp(entry->d_name, ANSWER ".", strlen(ANSWER ".")) == 0;
}

void
mu_command_report_end(struct mu_command_report *report)
{
	struct dirent **entries = NULL;
	char path[2 * PATH_MAX];
	int i, count;

	mu_symbol_helper_close(&report->helper);
	if (report->folder[0] == '\0')
		return;
	count = scandir(report->folder, &entries, is_ours, NULL);
	for (i = 0; i < count; i++) {
		snprintf(path, sizeof(path), "%s/%s", report->folder,
		    entries[i]->d_name);
		unlink(path);
		free(entries[i]);
	}
	free(entries);
	rmdir(report->folder);
	report->folder[0] = '\0';
}
