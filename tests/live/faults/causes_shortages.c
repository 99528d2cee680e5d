/*
 * Shortages and refusals of the system, with both stop methods: descriptors and
 * address space, from none left up to enough; queued signals, file size, disk
 * space, processor time, processes; /proc. The call says what is missing or
 * works without it, the program continues unchanged, and the next pass works.
 */
#include <poll.h>
#include <sys/mount.h>
#include <sys/ptrace.h>
#include <sys/resource.h>

#include "tests/support/faults/causes.h"
#include "tests/support/faults/failing_pass.h"
#include "tests/support/suite.h"

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

/* A pass under the limit: checked, or STATUS. */
static bool
pass_under(__rlimit_resource_t resource, rlim_t value, int status)
{
	struct failing_pass pass = { .call = NULL };
	rlim_t old = set_soft_limit(resource, value);

	ck_assert(failing_pass_run(&pass));
	set_soft_limit(resource, old);
	ck_assert_msg(pass.checked || pass.info.status == status,
	    "limit %lu: status %d, %s", (unsigned long)value, pass.info.status,
	    pass.info.reason);
	assert_at_once(&pass);
	belongings_check(&own, &pass);
	return pass.checked;
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

TEST_LOOP(descriptors, 0, NUM_STOPS)
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

/* Descriptors run out: none for maps, none for the pipe, one for it. */
TEST_LOOP(no_descriptor, 0, NUM_STOPS)
{
	rlim_t limit;

	choose_method(_i);
	belongings_begin(&own);
	for (limit = 0; limit < 64; limit++)
		if (pass_under(
			RLIMIT_NOFILE, limit, MEMUNREACHABLE_NO_RESOURCES))
			break;
	ck_assert_uint_gt(limit, 2);
	ck_assert_uint_lt(limit, 64);
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

/* Memory runs out at every point there is, in steps of 32 KiB. */
TEST(no_memory)
{
	rlim_t step;

	belongings_begin(&own);
	for (step = 0; step < 1000; step++)
		if (pass_under(RLIMIT_AS, statm_bytes(0) + step * 32768,
			MEMUNREACHABLE_NO_MEMORY))
			break;
	ck_assert_uint_gt(step, 0);
	ck_assert_uint_lt(step, 1000);
	belongings_end(&own);
}

TEST_LOOP(address_space, 0, NUM_STOPS)
{
	choose_method(_i);
	starve(RLIMIT_AS, 0);
}

TEST_LOOP(data_size, 0, NUM_STOPS)
{
	choose_method(_i);
	starve(RLIMIT_DATA, 5);
}

/* A signal that cannot be queued comes all the same, without its value. */
TEST_LOOP(queued_signals, 0, NUM_STOPS)
{
	choose_method(_i);
	belongings_begin(&own);
	ck_assert(pass_under(RLIMIT_SIGPENDING, 0, MEMUNREACHABLE_COMPLETE));
	belongings_end(&own);
}

/* SIGXCPU comes at most to who has used it up. */
TEST_LOOP(processor_time, 0, NUM_STOPS)
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
TEST_LOOP(file_size, 0, NUM_STOPS)
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
	ck_assert_msg(pass.checked, "%s", pass.info.reason);
	ck_assert_int_eq(pass.info.status, MEMUNREACHABLE_COMPLETE);
	belongings_check(&own, &pass);
}

TEST_LOOP(disk_full, 0, NUM_STOPS)
{
	choose_method(_i);
	belongings_begin(&own);
	pass_with_stderr(open("/dev/full", O_WRONLY | O_CLOEXEC));
	belongings_end(&own);
}

/* write(2) sends SIGPIPE, which kills. */
TEST_LOOP(reader_gone, 0, NUM_STOPS)
{
	int ends[2];

	choose_method(_i);
	belongings_begin(&own);
	ck_assert_int_eq(pipe2(ends, O_CLOEXEC), 0);
	close(ends[0]);
	pass_with_stderr(ends[1]);
	belongings_end(&own);
}

/* A block whose memory the sweeper does not have is skipped and counted. */
TEST_LOOP(allocation_not_mapped, 0, NUM_STOPS)
{
	struct UnreachableMemoryInfo info = { 0 };
	size_t size = (size_t)1 << 20;
	char *p = malloc(size), *page;

	choose_method(_i);
	ck_assert_ptr_nonnull(p);
	memset(p, 1, size);
	page = (char *)(((uintptr_t)p + 0xffff) & ~(uintptr_t)0xffff);
	ck_assert_int_eq(madvise(page, 0x10000, MADV_DONTFORK), 0);
	ck_assert(GetUnreachableMemory(&info, 10));
	if (info.status == MEMUNREACHABLE_PARTIAL)
		ck_assert_str_ne(info.reason, "");
	FreeUnreachableMemoryInfo(&info);
	ck_assert_int_eq(mprotect(page, 0x10000, PROT_NONE), 0);
	ck_assert(GetUnreachableMemory(&info, 10));
	FreeUnreachableMemoryInfo(&info);
	mprotect(page, 0x10000, PROT_READ | PROT_WRITE);
	madvise(page, 0x10000, MADV_DOFORK);
	ck_assert(GetUnreachableMemory(&info, 10));
	ck_assert_int_eq(info.status, MEMUNREACHABLE_COMPLETE);
	FreeUnreachableMemoryInfo(&info);
	free(p);
}

static ptrdiff_t
provide(void *ctx, uintptr_t *words, size_t max)
{
	(void)words;
	(void)max;
	return *(ptrdiff_t *)ctx;
}

TEST_LOOP(provider_fails, 0, 2 * NUM_STOPS)
{
	struct failing_pass pass = { .call = NULL };
	static ptrdiff_t answer;

	choose_method(_i / 2);
	answer = _i % 2 == 0 ? -1 : PTRDIFF_MAX;
	ck_assert(memunreachable_register_root_provider(provide, &answer));
	belongings_begin(&own);
	ck_assert(failing_pass_run(&pass));
	ck_assert(pass.checked);
	ck_assert_int_eq(pass.info.status, MEMUNREACHABLE_COMPLETE);
	belongings_check(&own, &pass);
	belongings_end(&own);
	ck_assert(memunreachable_unregister_root_provider(provide, &answer));
}

/*
 * No room for the collector; for it alone; by signal, for the sweeper, which is
 * the only process then.
 */
TEST_LOOP(no_process, 0, 3)
{
	struct failing_pass pass = { .call = NULL };
	rlim_t old;

	if (geteuid() != 0) {
		printf("SKIPPED: no_process needs root: it counts "
		       "the processes of another user\n");
		return;
	}
	become_nobody();
	choose_method(_i == 2);
	belongings_begin(&own);
	/* main, the workers, the pass's thread */
	old = set_soft_limit(RLIMIT_NPROC, 2 + UNHARMED_TASKS + (_i == 1));
	ck_assert(failing_pass_run(&pass));
	set_soft_limit(RLIMIT_NPROC, old);
	ck_assert(!pass.checked);
	ck_assert_int_eq(pass.info.status, MEMUNREACHABLE_NO_RESOURCES);
	assert_at_once(&pass);
	belongings_check(&own, &pass);
	belongings_end(&own);
}

/* With a private procfs in its place, and where that is refused. */
TEST_LOOP(no_proc, 0, 2 * NUM_STOPS)
{
	const struct watched_call fsopen = {
		.nr = 430, .argument = -1, .error = EPERM
	};
	bool refused = _i % 2 == 1;
	struct failing_pass pass = { .call = refused ? &fsopen : NULL,
		.by_filter = true };

	choose_method(_i / 2);
	if (unshare(CLONE_NEWNS) != 0 ||
	    mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) != 0) {
		printf("SKIPPED: no_proc needs a mount namespace\n");
		return;
	}
	belongings_begin(&own);
	ck_assert_int_eq(mount("none", "/proc", "tmpfs", 0, NULL), 0);
	ck_assert(failing_pass_run(&pass));
	ck_assert_int_eq(umount("/proc"), 0);
	ck_assert(!pass.checked || !refused);
	ck_assert(pass.checked || pass.info.status == MEMUNREACHABLE_NO_PROC);
	belongings_check(&own, &pass);
	belongings_end(&own);
}
