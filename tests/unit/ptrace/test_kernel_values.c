/*
 * The parsers of epoll's fdinfo and of /proc/PID/timers.
 */
#include <sys/epoll.h>

#include "mu/arch/cpu.h"
#include "ptrace/live/kernel_values.h"
#include "tests/support/suite.h"

static struct mu_arena arena;
static struct mu_words words;

static void
setup(void)
{
	mu_arena_open(&arena, (size_t)16 << 20);
	words = (struct mu_words) { .arena = &arena };
}

static void
teardown(void)
{
	mu_arena_close(&arena);
}

typedef bool parser(const char *, size_t, struct mu_words *);

/*
 * Parse a buffer that ends with the text, so that sanitizers see a read beyond
 * it.
 */
static void
parse(parser *parse_text, const char *text, size_t length)
{
	char *exact = malloc(length + (length == 0));

	memcpy(exact, text, length);
	words.count = 0;
	ck_assert(parse_text(exact, length, &words));
	free(exact);
}

static void
epoll(const char *text)
{
	parse(mu_kernel_values_parse_epoll, text, strlen(text));
}

static void
timers(const char *text)
{
	parse(mu_kernel_values_parse_timers, text, strlen(text));
}

TEST(epoll_lines)
{
	/* Linux 6.1; the last line as Linux 3.8 has it. */
	epoll("pos:\t0\nflags:\t02\nmnt_id:\t15\nino:\t1057\n"
	      "tfd:        5 events:       19 data:     55d0c8a012a0  pos:0"
	      " ino:b sdev:d\n"
	      "tfd:        6 events:       19 data: 7f1c2a5d5010  pos:0"
	      " ino:b sdev:d\n"
	      "tfd:        7 events:       19 data:     55d0c8a012b0\n");
	ck_assert_uint_eq(words.count, 3);
	ck_assert_uint_eq(words.words[0], 0x55d0c8a012a0);
	ck_assert_uint_eq(words.words[1], 0x7f1c2a5d5010);
	ck_assert_uint_eq(words.words[2], 0x55d0c8a012b0);
}

TEST(epoll_no_addresses)
{
	/* data.fd, data.u64 of two numbers, all bits */
	epoll("tfd: 5 events: 19 data:                5  pos:0\n"
	      "tfd: 5 events: 19 data:             ffff  pos:0\n"
	      "tfd: 5 events: 19 data: ffffffffffffffff  pos:0\n");
#if MU_NOT_USER != 0
	ck_assert_uint_eq(words.count, 0);
#endif
}

TEST(epoll_hostile)
{
	epoll("");
	ck_assert_uint_eq(words.count, 0);
	epoll("tfd:\n"
	      "tfd: 5\n"
	      "tfd: 5 data:\n"
	      "tfd: 5 data: \n"
	      "tfd: 5 data:     x\n"
	      "tfd: 5 data: 55d0c8a012a0x\n"
	      "tfd: 5 data: 155d0c8a012a055d0\n"
	      "tfd: 5 data: -55d0c8a012a0\n"
	      "xtfd: 5 data: 55d0c8a012a0\n"
	      " tfd: 5 data: 55d0c8a012a0\n"
	      "data: 55d0c8a012a0\n"
	      "\n\n\n");
	ck_assert_uint_eq(words.count, 0);
	/* A cut last line is left out, whole ones before it are not. */
	epoll("tfd: 5 data: 55d0c8a012a0\ntfd: 6 data: 55d0c8a01");
	ck_assert_uint_eq(words.count, 1);
	parse(
	    mu_kernel_values_parse_epoll, "tfd: 5 data: 55d0c8a\000012\n", 25);
	ck_assert_uint_eq(words.count, 0);
}

TEST(timer_lines)
{
	timers("ID: 0\nsignal: 60/000055d0c8a012a0\n"
	       "notify: signal/pid.2634\nClockID: 0\n"
	       "ID: 1\nsignal: 0/0000000000000000\n"
	       "notify: none/pid.2634\nClockID: 1\n"
	       "ID: 2\nsignal: 32/00007f1c2a5d5010\n"
	       "notify: signal/tid.2635\nClockID: 1\n");
	ck_assert_uint_eq(words.count, 2);
	ck_assert_uint_eq(words.words[0], 0x55d0c8a012a0);
	ck_assert_uint_eq(words.words[1], 0x7f1c2a5d5010);
}

TEST(timer_hostile)
{
	timers("signal:\nsignal: \nsignal: 60\nsignal: 60/\nsignal: 60/x\n"
	       "signal: /55d0c8a012a0\nsignal: 60 55d0c8a012a0\n"
	       "signal: 99999999999999999999999/55d0c8a012a0\n"
	       "signal: 60/55d0c8a012a055d0c8a012a0\n"
	       "signal: 60/(____ptrval____)\n"
	       "ID: signal: 60/55d0c8a012a0\n"
	       "signal: 60/55d0c8a012a0");
	ck_assert_uint_eq(words.count, 0);
}

TEST(truncations)
{
	static const char lines[] =
	    "tfd:        5 events:       19 data:     55d0c8a012a0  pos:0\n";
	static const char timer[] = "signal: 60/000055d0c8a012a0\n";
	size_t length;

	for (length = 0; length < sizeof(lines) - 1; length++) {
		parse(mu_kernel_values_parse_epoll, lines, length);
		ck_assert_uint_eq(words.count, 0);
	}
	for (length = 0; length < sizeof(timer) - 1; length++) {
		parse(mu_kernel_values_parse_timers, timer, length);
		ck_assert_uint_eq(words.count, 0);
	}
}

TEST(no_memory)
{
	static const char line[] = "tfd: 5 data: 55d0c8a012a0\n";
	static const char timer[] = "signal: 60/000055d0c8a012a0\n";

	arena.fail_at = 1;
	ck_assert(!mu_kernel_values_parse_epoll(line, strlen(line), &words));
	arena.fail_at = 1;
	ck_assert(!mu_kernel_values_parse_timers(timer, strlen(timer), &words));
}

static enum mu_status
read_of(pid_t pid, struct mu_why *why)
{
	struct mu_kernel_files files;
	enum mu_status status;

	mu_kernel_files_open(&files, pid);
	status = mu_kernel_values_read(&files, pid, &words, why);
	mu_kernel_files_close(&files);
	return status;
}

/* More targets than one read of fdinfo hands out. */
TEST(read_ourselves)
{
	struct epoll_event event = { .events = EPOLLIN };
	uintptr_t first = 0x55d0c8a00000;
	int fds[400][2], i, epfd = epoll_create1(0);
	struct mu_why why;
	size_t k, found = 0;

	ck_assert_int_ge(epfd, 0);
	for (i = 0; i < 400; i++) {
		ck_assert_int_eq(pipe(fds[i]), 0);
		event.data.u64 = first + (uintptr_t)i;
		ck_assert_int_eq(
		    epoll_ctl(epfd, EPOLL_CTL_ADD, fds[i][0], &event), 0);
	}
	ck_assert_int_eq(read_of(getpid(), &why), MU_OK);
	for (k = 0; k < words.count; k++)
		found += words.words[k] - first < 400;
	ck_assert_uint_eq(found, 400);
	arena.fail_at = 1;
	ck_assert_int_eq(read_of(getpid(), &why), MU_ERR_NO_MEMORY);
	arena.fail_at = 0;
	for (i = 0; i < 400; i++) {
		close(fds[i][0]);
		close(fds[i][1]);
	}
	close(epfd);
}

TEST(read_no_process)
{
	struct mu_why why;

	/* What cannot be read may refer to anything. */
	ck_assert_int_eq(read_of(0x7ffffffe, &why), MU_ERR_NO_PROC);
	ck_assert_uint_eq(words.count, 0);
}

TEST(read_gone)
{
	struct mu_kernel_files files;
	struct mu_why why;
	pid_t pid = fork();

	ck_assert_int_ge(pid, 0);
	if (pid == 0)
		for (;;)
			pause();
	mu_kernel_files_open(&files, pid);
	ck_assert_int_ge(files.folder, 0);
	kill(pid, SIGKILL);
	ck_assert_int_eq(waitpid(pid, NULL, 0), pid);
	ck_assert_int_eq(mu_kernel_values_read(&files, pid, &words, &why),
	    MU_ERR_TARGET_GONE);
	mu_kernel_files_close(&files);
}

SUITE(.setup = setup, .teardown = teardown);
