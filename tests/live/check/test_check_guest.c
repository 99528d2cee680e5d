/*
 * A process that looks like a virtual machine to the kernel: threads start and
 * end, and a large range that a fork leaves out is written all the time. A stop
 * is too short to read it.
 */
#include <stdatomic.h>
#include <sys/syscall.h>

#include "lib/check/check.h"
#include "ptrace/live/asleep.h"
#include "tests/support/clock.h"
#include "tests/support/stop/target_process.h"
#include "tests/support/suite.h"

#define MS (1000 * 1000ull)
#define MIB ((size_t)1 << 20)
#define MUCH (600 * MIB)
#define LITTLE (4 * MIB)
#define AT_ONCE 2048    /* pages that are written between two naps */
#define SHORT (70 * MS) /* a stop for a copy, but not to read MUCH */
#define NUM_HELD 100
#define FEW 1500       /* one of so many pages, in RAM of an odd size */
#define LOST_SIZE 1000 /* no alternate signal stack */

/* Shared with the guest. */
struct shared {
	_Atomic bool ready, sleep, grow;
	_Atomic int sleeps;
};

static struct shared *shared;
static char *ram;
static size_t ram_size;
static pid_t guest;

/*
 * Word 0 of each page, or of few pages, points to a block, so these pages must
 * be kept; word 1 changes all the time.
 */
static void *
compute(void *arg)
{
	size_t i;

	(void)arg;
	for (;; nap_ms(1))
		for (i = 0; i < ram_size; i += 4096) {
			((volatile size_t *)(ram + i))[1]++;
			if (i / 4096 % AT_ONCE == AT_ONCE - 1)
				nap_ms(1);
		}
	return NULL;
}

static void *
come(void *arg)
{
	return arg;
}

static void *
come_and_go(void *arg)
{
	pthread_t thread;

	for (;; nap_ms(1))
		if (pthread_create(&thread, NULL, come, arg) == 0)
			pthread_join(thread, NULL);
	return NULL;
}

/* On demand: sleep uninterruptibly, in more threads than a stop leaves out. */
static void *
sleep_deeply(void *arg)
{
	struct timespec nap = { 60, 0 };

	(void)arg;
	while (!shared->sleep)
		nap_ms(1);
	if (vfork() == 0) {
		shared->sleeps++;
		syscall(SYS_prctl, 1 /* PR_SET_PDEATHSIG */, SIGKILL);
		syscall(SYS_nanosleep, &nap, NULL);
		_exit(0);
	}
	return NULL;
}

/* On demand: shared memory that grows by a page each millisecond. */
static void *
grow(void *arg)
{
	int fd = memfd_create("grows", MFD_CLOEXEC);
	size_t size = 0;
	char *at = NULL;

	(void)arg;
	for (;; nap_ms(1)) {
		if (!shared->grow)
			continue;
		if (ftruncate(fd, (off_t)(size + 4096)) != 0)
			abort();
		at = size == 0 ? mmap(NULL, 4096, PROT_READ | PROT_WRITE,
				     MAP_SHARED, fd, 0)
			       : mremap(at, size, size + 4096, MREMAP_MAYMOVE);
		if (at == MAP_FAILED)
			abort();
		*(void **)(at + size) = calloc(1, 300);
		size += 4096;
	}
	return NULL;
}

static void
boot(void)
{
	size_t i, size = ram_size, step = size % 4096 == 0 ? 1 : FEW;
	void *held[NUM_HELD];
	void *volatile lost;

	ram = mmap(NULL, size, PROT_READ | PROT_WRITE,
	    MAP_PRIVATE | MAP_ANONYMOUS | MAP_POPULATE, -1, 0);
	if (ram == MAP_FAILED || madvise(ram, size, MADV_DONTFORK) != 0)
		abort();
	for (i = 0; i < NUM_HELD; i++)
		held[i] = calloc(1, 200);
	for (i = 0; i < size / 4096; i += step)
		*(void **)(ram + i * 4096) = held[i / step % NUM_HELD];
	memset(held, 0, sizeof(held));
	lost = calloc(1, LOST_SIZE);
	lost = NULL;
	(void)lost;
}

static _Noreturn void
run_guest(char **argv)
{
	static void *(*const bodies[])(
	    void *) = { compute, come_and_go, sleep_deeply, grow };
	pthread_t thread;
	size_t i;

	ram_size = (size_t)atol(argv[1]);
	shared = target_memory(atoi(argv[2]), sizeof(*shared));
	boot();
	for (i = 0; i < sizeof(bodies) / sizeof(bodies[0]); i++)
		pthread_create(&thread, NULL, bodies[i], NULL);
	for (i = 0; i < MU_ASLEEP_MAX; i++)
		pthread_create(&thread, NULL, sleep_deeply, NULL);
	shared->ready = true;
	for (;;)
		pause();
}

static void
start(size_t size)
{
	shared = target_start((long)size, sizeof(*shared), &guest);
	while (!shared->ready)
		nap_ms(1);
}

static void
end(void)
{
	target_end(guest);
	munmap(shared, sizeof(*shared));
}

static void
expect_one_lost(const struct mu_report *answer)
{
	ck_assert_uint_eq(answer->info.num_leaks, 1);
	ck_assert_uint_eq(answer->info.num_reported, 1);
	ck_assert_uint_ge(answer->info.leak_bytes, LOST_SIZE);
}

/* Until the machine lets one in. */
static enum mu_status
look(struct mu_check *check, struct mu_report *answer)
{
	enum mu_status status;
	int tries = 0;

	check->pid = guest;
	check->limit = 10;
	do {
		if (tries > 0)
			mu_check_release(answer);
		status = mu_check_process(check, answer);
	} while (status == MU_ERR_TIMEOUT && ++tries < 5);
	return status;
}

static void
prevent_second(void *ctx, enum mu_check_step step)
{
	bool *is_checked = ctx;

	if (step == MU_CHECK_STEP_MARK)
		*is_checked = true;
	if (step != MU_CHECK_STEP_STOP || !*is_checked)
		return;
	shared->sleep = true;
	while (shared->sleeps <= MU_ASLEEP_MAX)
		nap_ms(1);
	nap_ms(50);
}

/* _i: whether the first look alone is good for an answer. */
TEST_LOOP(no_second_look, 0, 2)
{
	bool is_checked = false;
	struct mu_check check = {
		.timeout_ns = 120000 * MS,
		.max_pause_ns = _i == 0 ? 5000 * MS : SHORT,
		.confirm = true,
		.progress = prevent_second,
		.progress_ctx = &is_checked,
	};
	struct mu_report answer;
	enum mu_status status;

	start(_i == 0 ? LITTLE : MUCH);
	check.pid = guest;
	check.limit = 10;
	status = mu_check_process(&check, &answer);
	ck_assert(is_checked);
	ck_assert_msg(status == (_i == 0 ? MU_PARTIAL : MU_ERR_TIMEOUT), "%s",
	    answer.info.reason);
	if (_i == 0)
		expect_one_lost(&answer);
	else
		ck_assert_uint_eq(answer.info.num_reported, 0);
	ck_assert_msg(
	    strstr(answer.info.reason,
		_i == 0 ? "another look failed" : "takes another look") != NULL,
	    "%s", answer.info.reason);
	ck_assert(
	    (strstr(answer.info.reason, "--max-pause=") != NULL) == (_i == 1));
	mu_check_release(&answer);
	end();
}

static uint64_t
advised_ns(const char *reason)
{
	const char *at = strstr(reason, "--max-pause=");
	unsigned seconds = 0;

	ck_assert_msg(at != NULL &&
		sscanf(at, "--max-pause=%us", &seconds) == 1 && seconds > 0,
	    "%s", reason);
	return seconds * 1000 * MS;
}

/*
 * With the options that a partial answer advises the check is complete. _i: by
 * a copy; by reading, if there is not enough memory for what a copy leaves out.
 */
TEST_LOOP(advice_suffices, 0, 2)
{
	struct mu_check check = {
		.timeout_ns = 120000 * MS,
		.max_pause_ns = SHORT,
		.max_memory = _i == 0 ? 0 : 1000 * MIB,
	};
	struct mu_report answer;
	unsigned tries;
	bool reads;

	start(MUCH);
	ck_assert_int_eq(look(&check, &answer), MU_PARTIAL);
	/* What a copy takes varies: a slow machine may advise more. */
	for (tries = 0; tries < 3 && answer.info.status == MU_PARTIAL;
	     tries++) {
		expect_one_lost(&answer);
		check.max_pause_ns = advised_ns(answer.info.reason);
		reads = strstr(answer.info.reason, "--stop=read --max") != NULL;
		ck_assert(reads == (_i == 1));
		mu_check_release(&answer);
		if (reads)
			check.stop = MU_CHECK_STOP_READ;
		look(&check, &answer);
	}
	ck_assert_msg(answer.info.status == MU_OK, "%s", answer.info.reason);
	expect_one_lost(&answer);
	ck_assert_uint_le(answer.info.pause_ns, check.max_pause_ns);
	mu_check_release(&answer);
	end();
}

/* Memory suffices for the pages that matter. */
TEST(few_pages_are_kept)
{
	struct mu_check check = {
		.timeout_ns = 120000 * MS,
		.max_pause_ns = 5000 * MS,
		.max_memory = 600 * MIB,
	};
	struct mu_report answer;

	start(MUCH + 1);
	ck_assert_msg(look(&check, &answer) == MU_OK, "%s", answer.info.reason);
	expect_one_lost(&answer);
	mu_check_release(&answer);
	end();
}

/* Memory that was mapped after the listing is read in the stop, too. */
TEST(grows_before_the_stop)
{
	struct mu_check check = {
		.timeout_ns = 120000 * MS,
		.max_pause_ns = 5000 * MS,
	};
	struct mu_report answer;
	int i;

	start(LITTLE);
	shared->grow = true;
	for (i = 0; i < 5; i++) {
		ck_assert_msg(
		    look(&check, &answer) == MU_OK, "%s", answer.info.reason);
		expect_one_lost(&answer);
		mu_check_release(&answer);
	}
	end();
}

/* The time is up before anything is stopped. */
static void
dawdle(void *ctx, enum mu_check_step step)
{
	(void)ctx;
	if (step == MU_CHECK_STEP_STOP)
		nap_ms(200);
}

TEST(no_time_left)
{
	struct mu_check check = {
		.pid = 0,
		.timeout_ns = 100 * MS,
		.progress = dawdle,
	};
	struct mu_report answer;

	start(MUCH);
	check.pid = guest;
	ck_assert_int_eq(mu_check_process(&check, &answer), MU_ERR_TIMEOUT);
	ck_assert_msg(strstr(answer.info.reason, "--timeout") != NULL &&
		strstr(answer.info.reason, "max-pause") == NULL,
	    "%s", answer.info.reason);
	mu_check_release(&answer);
	end();
}

static int
play(int argc, char **argv)
{
	if (argc == TARGET_ARGC)
		run_guest(argv);
	return -1;
}

SUITE(.unfiltered = SUITE_INJECTS, .play = play, .timeout = 400);
