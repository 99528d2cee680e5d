/*
 * What a program may have run out of, on both stop methods: descriptors and
 * address space, from nothing left up to enough; queued signals, file size,
 * disk space, processor time. The call says what is missing or does without it,
 * and the program goes on as if nothing had been; the next pass works.
 */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include "tests/support/failing_pass.h"
#include "tests/support/suite.h"

#define NUM_METHODS 2

static struct belongings own;

static rlim_t
set_soft_limit(__rlimit_resource_t resource, rlim_t value)
{
	struct rlimit limit;
	rlim_t old;

	ck_assert_int_eq(getrlimit(resource, &limit), 0);
	old = limit.rlim_cur;
	limit.rlim_cur = value < limit.rlim_max ? value : limit.rlim_max;
	ck_assert_int_eq(setrlimit(resource, &limit), 0);
	return old;
}

static void
choose_method(int method)
{
	mu_library.options.stop = method == 0 ? MU_STOP_PTRACE : MU_STOP_SIGNAL;
}

/* A pass under the limit: judged, or STATUS. */
static bool
pass_under(__rlimit_resource_t resource, rlim_t value, int status)
{
	struct failing_pass pass = { .call = NULL };
	rlim_t old = set_soft_limit(resource, value);

	ck_assert(failing_pass_run(&pass));
	set_soft_limit(resource, old);
	ck_assert_msg(pass.judged || pass.info.status == status,
	    "limit %lu: status %d, %s", (unsigned long)value, pass.info.status,
	    pass.info.reason);
	assert_at_once(&pass);
	belongings_check(&own, &pass);
	return pass.judged;
}

/* The number of the first descriptor that is free. */
static rlim_t
descriptors_used(void)
{
	int fd = open("/dev/null", O_RDONLY | O_CLOEXEC);

	ck_assert_int_ge(fd, 0);
	close(fd);
	return (rlim_t)fd;
}

TEST_LOOP(descriptors, 0, NUM_METHODS)
{
	rlim_t used;
	unsigned more;

	choose_method(_i);
	belongings_begin(&own);
	used = descriptors_used();
	for (more = 0; more < 64; more++)
		if (pass_under(RLIMIT_NOFILE, used + more,
			MEMUNREACHABLE_NO_RESOURCES))
			break;
	ck_assert_uint_ge(more, 2);
	ck_assert_uint_lt(more, 64);
	printf("descriptors needed: %u\n", more);
	belongings_end(&own);
}

/* Field NUMBER of /proc/self/statm, in bytes. */
static rlim_t
statm_bytes(unsigned number)
{
	FILE *statm = fopen("/proc/self/statm", "re");
	unsigned long pages = 0;
	unsigned i;

	ck_assert_ptr_nonnull(statm);
	for (i = 0; i <= number; i++)
		ck_assert_int_eq(fscanf(statm, "%lu", &pages), 1);
	fclose(statm);
	return (rlim_t)pages * (rlim_t)sysconf(_SC_PAGESIZE);
}

/* statm's fields: 0 the whole size, 5 data and stack. */
static void
starve(__rlimit_resource_t resource, unsigned field)
{
	rlim_t more, failures = 0;

	belongings_begin(&own);
	for (more = (rlim_t)64 << 10; more < (rlim_t)1 << 32; more *= 2) {
		if (pass_under(resource, statm_bytes(field) + more,
			MEMUNREACHABLE_NO_MEMORY))
			break;
		failures++;
	}
	ck_assert_uint_gt(failures, 0);
	ck_assert_uint_lt(more, (rlim_t)1 << 32);
	printf("memory needed: %lu KiB\n", (unsigned long)(more >> 10));
	belongings_end(&own);
}

TEST_LOOP(address_space, 0, NUM_METHODS)
{
	choose_method(_i);
	starve(RLIMIT_AS, 0);
}

TEST_LOOP(data_size, 0, NUM_METHODS)
{
	choose_method(_i);
	starve(RLIMIT_DATA, 5);
}

/* A signal that cannot be queued comes all the same, without its value. */
TEST_LOOP(queued_signals, 0, NUM_METHODS)
{
	choose_method(_i);
	belongings_begin(&own);
	ck_assert(pass_under(RLIMIT_SIGPENDING, 0, MEMUNREACHABLE_COMPLETE));
	belongings_end(&own);
}

/* SIGXCPU comes at most to who has used it up. */
TEST_LOOP(processor_time, 0, NUM_METHODS)
{
	struct rusage usage;

	choose_method(_i);
	belongings_begin(&own);
	getrusage(RUSAGE_SELF, &usage);
	ck_assert(pass_under(RLIMIT_CPU,
	    (rlim_t)(usage.ru_utime.tv_sec + usage.ru_stime.tv_sec) + 5,
	    MEMUNREACHABLE_COMPLETE));
	belongings_end(&own);
}

static void
log_to(const char *path)
{
	snprintf(mu_library.options.log_path,
	    sizeof(mu_library.options.log_path), "%s", path);
	mu_library.options.verbosity = 2;
}

/* write(2) sends SIGXFSZ, which kills. */
TEST_LOOP(file_size, 0, NUM_METHODS)
{
	const struct rlimit none = { 0, RLIM_INFINITY };
	struct failing_pass pass = { .files = &none };
	char folder[] = "/tmp/mu-exhaustion-XXXXXX", path[64], name[96];

	choose_method(_i);
	ck_assert_ptr_nonnull(mkdtemp(folder));
	snprintf(path, sizeof(path), "%s/log", folder);
	belongings_begin(&own);
	log_to(path);
	ck_assert(failing_pass_run(&pass));
	mu_library.options.verbosity = 0;
	ck_assert_int_eq(pass.info.status, MEMUNREACHABLE_COMPLETE);
	belongings_check(&own, &pass);
	belongings_end(&own);
	snprintf(name, sizeof(name), "%s.%d", path, getpid());
	ck_assert_int_eq(unlink(name), 0);
	ck_assert_int_eq(rmdir(folder), 0);
}

/* A pass whose log goes to FD. */
static void
pass_with_stderr(int fd)
{
	struct failing_pass pass = { .call = NULL };
	int kept = fcntl(STDERR_FILENO, F_DUPFD_CLOEXEC, 100);

	ck_assert(kept >= 0 && dup2(fd, STDERR_FILENO) == STDERR_FILENO);
	log_to("stderr");
	ck_assert(failing_pass_run(&pass));
	mu_library.options.verbosity = 0;
	ck_assert_int_eq(dup2(kept, STDERR_FILENO), STDERR_FILENO);
	close(kept);
	close(fd);
	ck_assert_msg(pass.judged, "%s", pass.info.reason);
	ck_assert_int_eq(pass.info.status, MEMUNREACHABLE_COMPLETE);
	belongings_check(&own, &pass);
}

TEST_LOOP(disk_full, 0, NUM_METHODS)
{
	choose_method(_i);
	belongings_begin(&own);
	pass_with_stderr(open("/dev/full", O_WRONLY | O_CLOEXEC));
	belongings_end(&own);
}

/* write(2) sends SIGPIPE, which kills. */
TEST_LOOP(reader_gone, 0, NUM_METHODS)
{
	int ends[2];

	choose_method(_i);
	belongings_begin(&own);
	ck_assert_int_eq(pipe2(ends, O_CLOEXEC), 0);
	close(ends[0]);
	pass_with_stderr(ends[1]);
	belongings_end(&own);
}
