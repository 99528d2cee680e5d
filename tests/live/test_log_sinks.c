/*
 * Where the log goes: stderr, stdout, FILE.<pid>, syslog; and whose orders are
 * not taken.
 *
 * The scenarios are programs of their own: this one, run again.
 */
#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <sys/un.h>
#include <unistd.h>

#include "tests/support/log_scenarios.h"
#include "tests/support/scenario.h"
#include "tests/support/suite.h"

static struct child child;

static char folder[64];

static void
make_folder(void)
{
	strcpy(folder, "/tmp/mu-log-XXXXXX");
	ck_assert_ptr_nonnull(mkdtemp(folder));
}

static void
drop_folder(void)
{
	char command[128];

	snprintf(command, sizeof(command), "rm -rf '%s'", folder);
	ck_assert_int_eq(system(command), 0);
}

TEST(log_path)
{
	char options[128], name[128], text[8192];
	struct stat stat_of;
	int pid, fd;
	ssize_t n;

	snprintf(options, sizeof(options), "log_path=%s/log", folder);
	child_run(&child, "log_one_leak", options);
	child_assert_exit(&child, 0);
	ck_assert_str_eq(child.err_text, "");
	ck_assert_int_eq(sscanf(child.out_text, "%d", &pid), 1);
	snprintf(name, sizeof(name), "%s/log.%d", folder, pid);
	fd = open(name, O_RDONLY);
	ck_assert_int_ge(fd, 0);
	ck_assert_int_eq(fstat(fd, &stat_of), 0);
	ck_assert_uint_eq(stat_of.st_mode & 07777, 0600);
	n = read(fd, text, sizeof(text) - 1);
	ck_assert_int_gt(n, 0);
	text[n] = '\0';
	close(fd);
	ck_assert_int_eq(strncmp(text, PREFIX "24 bytes in 1 allo", 37), 0);
	ck_assert_uint_eq(count_text(text, "\n"), 6);
	ck_assert_uint_eq(count_text(text, "  24 bytes unreachable at "), 1);
}

TEST(log_path_unwritable)
{
	char options[128], words[160];

	snprintf(options, sizeof(options), "log_path=%s/no/log", folder);
	snprintf(words, sizeof(words), "cannot write %s/no/log.", folder);
	child_run(&child, "log_one_leak", options);
	child_assert_exit(&child, 0);
	ck_assert_uint_eq(count_text(child.err_text, words), 1);
	ck_assert_uint_eq(count_text(child.err_text, "unreachable out of"), 1);
	ck_assert_uint_eq(count_text(child.err_text, "unreachable at "), 1);
}

TEST(log_path_special)
{
	child_run(&child, "log_one_leak", "log_path=stdout");
	child_assert_exit(&child, 0);
	ck_assert_str_eq(child.err_text, "");
	ck_assert_uint_eq(count_text(child.out_text, "unreachable at "), 1);
	child_run(&child, "log_one_leak", "log_path=stderr");
	child_assert_exit(&child, 0);
	ck_assert_uint_eq(count_text(child.err_text, "unreachable at "), 1);
	ck_assert_uint_eq(count_text(child.out_text, "unreachable at "), 0);
}

/* A /dev/log of our own, in a mount namespace of our own; or -1. */
static int
fake_syslog(void)
{
	struct sockaddr_un address = { .sun_family = AF_UNIX,
		.sun_path = "/dev/log" };
	int fd;

	if (unshare(CLONE_NEWNS) != 0 ||
	    mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) != 0 ||
	    mount("none", "/dev", "tmpfs", 0, NULL) != 0)
		return -1;
	fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	ck_assert_int_eq(
	    bind(fd, (struct sockaddr *)&address, sizeof(address)), 0);
	return fd;
}

/* A queue of /dev/log is short: a thread must read. */
struct reader {
	int fd;
	char text[32768];
	size_t length, datagrams;
};

static void *
read_datagrams(void *arg)
{
	struct reader *reader = arg;
	ssize_t n;

	for (;;) {
		n = recv(reader->fd, reader->text + reader->length,
		    sizeof(reader->text) - reader->length - 2, 0);
		if (n <= 3) /* "end" */
			return NULL;
		reader->length += (size_t)n;
		reader->text[reader->length++] = '\n';
		reader->datagrams++;
	}
}

static void
end_reader(pthread_t thread)
{
	struct sockaddr_un address = { .sun_family = AF_UNIX,
		.sun_path = "/dev/log" };
	int fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);

	ck_assert_int_eq(sendto(fd, "end", 3, 0, (struct sockaddr *)&address,
			     sizeof(address)),
	    3);
	pthread_join(thread, NULL);
	close(fd);
}

TEST(log_to_syslog)
{
	static struct reader reader;
	const char *leak;
	pthread_t thread;

	reader.fd = fake_syslog();
	if (reader.fd < 0) {
		printf("SKIPPED: log_to_syslog needs a mount namespace\n");
		return;
	}
	pthread_create(&thread, NULL, read_datagrams, &reader);
	child_run(&child, "log_one_leak", "log_to_syslog=1");
	end_reader(thread);
	child_assert_exit(&child, 0);
	ck_assert_uint_eq(count_text(child.err_text, "unreachable at "), 1);
	/* A line a datagram, with priority and name, in its own words. */
	ck_assert_uint_eq(reader.datagrams, 6);
	ck_assert_uint_eq(count_text(reader.text, "\n"), 6);
	ck_assert_uint_eq(count_text(reader.text, ">" PREFIX), 6);
	ck_assert_uint_eq(count_text(reader.text, PREFIX), 6);
	ck_assert_uint_eq(count_text(reader.text, "<14>" PREFIX), 1);
	ck_assert_uint_eq(count_text(reader.text, "<11>" PREFIX), 5);
	leak = strstr(reader.text, "  24 bytes unreachable at ");
	ck_assert_ptr_nonnull(leak);
	ck_assert_int_eq(
	    strncmp(reader.text, "<11>" PREFIX "24 bytes in ", 35), 0);
	close(reader.fd);
}

TEST(log_to_no_syslog)
{
	if (access("/dev/log", F_OK) == 0) {
		printf("SKIPPED: log_to_no_syslog: there is a syslog\n");
		return;
	}
	child_run(&child, "log_one_leak", "log_to_syslog=1");
	child_assert_exit(&child, 0);
	ck_assert_uint_eq(count_text(child.err_text, "no syslog"), 1);
	ck_assert_uint_eq(count_text(child.err_text, "unreachable at "), 1);
}

TEST(log_to_full_pipe)
{
	child_run(&child, "log_blocked", "timeout=300ms");
	child_assert_exit(&child, 0);
}

/* A set-uid program takes no orders from the user who runs it. */
TEST(at_secure)
{
	char command[4600], self[4096];
	char *argv[] = { "/bin/sh", "-c", command, NULL };
	struct statvfs place_of;
	ssize_t n = readlink("/proc/self/exe", self, sizeof(self) - 1);

	if (geteuid() != 0 || statvfs(folder, &place_of) != 0 ||
	    (place_of.f_flag & ST_NOSUID) != 0) {
		printf("SKIPPED: at_secure needs root, and a /tmp that is not "
		       "mounted nosuid\n");
		return;
	}
	if (prctl(PR_GET_NO_NEW_PRIVS, 0, 0, 0, 0) != 0) {
		printf("SKIPPED: at_secure: set-uid is without effect here\n");
		return;
	}
	self[n] = '\0';
	for (n = 0; n < 2; n++) {
		snprintf(command, sizeof(command),
		    "cp '%s' %s/victim && chmod 755 %s && "
		    "chmod %s %s/victim && exec setpriv --reuid=54321 "
		    "--clear-groups %s/victim nothing",
		    self, folder, folder, n == 0 ? "755" : "4755", folder,
		    folder);
		child_start_program(&child, argv, "help=1:at_exit=1");
		child_finish(&child);
		child_assert_exit(&child, 0);
		ck_assert_int_eq(
		    strstr(child.err_text, "log_path") != NULL, n == 0);
	}
	ck_assert_str_eq(child.err_text, "");
}

static int
play(int argc, char **argv)
{
	return scenario_run(scenarios, argc, argv);
}

SUITE(.play = play, .setup = make_folder, .teardown = drop_folder);
