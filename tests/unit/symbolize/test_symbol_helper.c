/*
 * lib/symbolize/helper*.c: a helper that hangs, crashes or gives wrong answers;
 * its rights and limits.
 *
 * A source's read function runs in the helper, so that it can play all this.
 */
#include <dlfcn.h>
#include <search.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>

#include "lib/symbolize/helper.h"
#include "mu/sys.h"
#include "ptrace/live/proc.h"
#include "tests/support/command/named_symbols.h"
#include "tests/support/suite.h"

#define SECOND MU_NS_PER_SEC
#define COPIES 64
#define COPY_MAX ((size_t)4 << 20)

/* What the helper finds out about itself. */
struct seen {
	unsigned calls;
	uid_t uid;
	gid_t gid;
	int64_t capabilities; /* permitted; -1: unknown */
	int descriptors, write, create, fifo, plain, network, child, kill;
	rlim_t core, file;
};

static struct seen *seen;
static struct mu_symbol_helper helper;
static struct mu_symbol_answer answers[2];
static void (*harm)(void);

/* The contents that the test has read, since the helper may not read them. */
static char *copies[COPIES];

static void
copy_memory(void)
{
	const struct mu_mapping *mapping = named.source.mappings;
	size_t i, size;

	for (i = 0; i < named.source.num_mappings && i < COPIES; i++) {
		size = mu_range_size(mapping[i].range);
		copies[i] = size < COPY_MAX ? malloc(size) : NULL;
		if (copies[i] != NULL &&
		    !named_read(
			&named, mapping[i].range.begin, copies[i], size)) {
			free(copies[i]);
			copies[i] = NULL;
		}
	}
}

static bool
read_badly(void *ctx, uintptr_t address, void *buffer, size_t size)
{
	const struct mu_mapping *mapping = named.source.mappings;
	size_t i;

	(void)ctx;
	for (i = 0; i < named.source.num_mappings && i < COPIES; i++) {
		if (!mu_range_has(mapping[i].range, address))
			continue;
		/* Only where the program itself is read. */
		if (strstr(mapping[i].name, "/program") != NULL) {
			seen->calls++;
			harm();
		}
		if (copies[i] == NULL || size > mapping[i].range.end - address)
			return false;
		memcpy(buffer, copies[i] + (address - mapping[i].range.begin),
		    size);
		return true;
	}
	return false;
}

/* lsearch() of the program's libc, which is ours, too. */
static uintptr_t
in_libc(void)
{
	const struct mu_mapping *mapping = named.source.mappings;
	Dl_info info;
	size_t i;

	ck_assert_int_ne(dladdr((void *)lsearch, &info), 0);
	for (i = 0; i < named.source.num_mappings; i++) {
		if (strstr(mapping[i].name, "/libc") != NULL &&
		    mapping[i].offset == 0)
			return mapping[i].range.begin +
			    ((uintptr_t)lsearch - (uintptr_t)info.dli_fbase);
	}
	ck_abort_msg("no libc");
	return 0;
}

static bool
begin_helper(void (*what)(void))
{
	if (!named_begin("-g -O1"))
		return false;
	seen = mmap(NULL, sizeof(*seen), PROT_READ | PROT_WRITE,
	    MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	harm = what;
	copy_memory();
	named.source.read = read_badly;
	memset(answers, 0, sizeof(answers));
	helper = (struct mu_symbol_helper) { .source = &named.source };
	return true;
}

/* An address of the program, and one of libc. */
static bool
ask(uint64_t seconds)
{
	struct mu_symbol_question questions[2] = {
		{ .address = named.compute, .call = true },
		{ .address = in_libc(), .call = true },
	};

	return mu_symbol_helper_ask(
	    &helper, questions, answers, 2, mu_sys_now_ns() + seconds * SECOND);
}

static void
must_have_libc(void)
{
	ck_assert(answers[1].given);
	ck_assert_ptr_nonnull(strstr(answers[1].symbol.module, "libc"));
	ck_assert_ptr_nonnull(answers[1].symbol.function);
}

static void
do_nothing(void)
{
}

static void
hang(void)
{
	for (;;)
		pause();
}

static void
spin(void)
{
	for (;;)
		__asm__ volatile("");
}

static void
end(void)
{
	_exit(0);
}

/* Without the handlers of mu_guarded(). */
static void
crash(void)
{
	static volatile int *volatile nowhere = (volatile int *)16;

	signal(SIGSEGV, SIG_DFL);
	*nowhere = 1;
}

static void
eat(void)
{
	for (;;) {
		char *room = malloc((size_t)64 << 20);

		if (room == NULL)
			_exit(9);
		*(volatile char *)room = 1;
	}
}

static void
babble(void)
{
	static char noise[1 << 16];
	int fd;

	memset(noise, 'x', sizeof(noise));
	for (fd = 0; fd < 32; fd++)
		mu_sys_write(fd, noise, sizeof(noise));
}

static void (*const harms[])(void) = { hang, spin, end, crash, eat, babble };

TEST(names)
{
	ck_assert(begin_helper(do_nothing));
	ck_assert_msg(ask(60), "%s", helper.why);
	ck_assert_str_eq(
	    answers[0].symbol.function, "named::compute(char const*, int)");
	ck_assert_uint_lt(answers[0].symbol.line - named.line, 4);
	must_have_libc();
	/* Once more, of the same process. */
	memset(answers, 0, sizeof(answers));
	ck_assert(ask(60));
	ck_assert_uint_lt(answers[0].symbol.line - named.line, 4);
	ck_assert_uint_eq(helper.starts, 1);
	mu_symbol_helper_close(&helper);
}

/* Questions for which there is no time start no process. */
TEST(late)
{
	int i;

	ck_assert(begin_helper(do_nothing));
	for (i = 0; i < 20; i++) {
		memset(answers, 0, sizeof(answers));
		ck_assert(!ask(0));
		ck_assert_ptr_nonnull(answers[1].symbol.module);
	}
	ck_assert_uint_eq(helper.starts, 0);
	ck_assert_str_eq(helper.why, "there was no more time");
	memset(answers, 0, sizeof(answers));
	ask(60);
	must_have_libc();
	ck_assert_ptr_nonnull(answers[0].symbol.function);
	mu_symbol_helper_close(&helper);
}

/* The helper is killed when half of the time is over, and begins anew. */
static void
ask_harmed(uint64_t seconds)
{
	uint64_t began = mu_sys_now_ns();

	memset(answers, 0, sizeof(answers));
	helper = (struct mu_symbol_helper) { .source = &named.source };
	ck_assert(!ask(seconds));
	ck_assert_uint_lt(mu_sys_now_ns() - began, (seconds + 52) * SECOND);
	ck_assert_uint_gt(seen->calls, 0);
	ck_assert_ptr_nonnull(strstr(helper.why, "/program"));
	ck_assert_ptr_nonnull(strstr(answers[0].symbol.module, "/program"));
}

/*
 * The others' names are there, module and offset of all. A busy machine needs
 * more time for the names.
 */
TEST_LOOP(harmed, 0, sizeof(harms) / sizeof(*harms))
{
	uint64_t seconds;
	bool given;

	ck_assert(begin_helper(harms[_i]));
	for (seconds = 1, given = false; !given; seconds *= 4) {
		ask_harmed(seconds);
		/* Noise hides what was answered before. */
		given = harms[_i] == babble || answers[1].given;
		if (given && harms[_i] != babble)
			must_have_libc();
		mu_symbol_helper_close(&helper);
		ck_assert(given || seconds < 128);
	}
}

static void
look_around(void)
{
	char status[MU_PROC_STATUS_SIZE];
	struct rlimit limit;
	struct stat about;
	char path[128];
	int fd;

	seen->uid = geteuid();
	seen->gid = getegid();
	/* capget() is not allowed here. */
	mu_proc_own_status(status, sizeof(status));
	seen->capabilities = mu_proc_status_number(status, "\nCapPrm:", 0, 16);
	seen->descriptors = 0;
	for (fd = 3; fd < 1024; fd++) {
		if (fstat(fd, &about) == 0 && S_ISREG(about.st_mode) &&
		    (fcntl(fd, F_GETFL) & O_ACCMODE) != O_RDONLY)
			seen->descriptors++;
	}
	snprintf(path, sizeof(path), "%s/new", named.folder);
	seen->create = open(path, O_WRONLY | O_CREAT, 0600);
	snprintf(path, sizeof(path), "%s/program", named.folder);
	seen->write = open(path, O_RDWR);
	seen->plain = open(path, O_RDONLY);
	snprintf(path, sizeof(path), "%s/fifo", named.folder);
	seen->fifo = open(path, O_RDONLY);
	seen->network = socket(AF_INET, SOCK_STREAM, 0);
	seen->child = fork();
	seen->kill = kill(getppid(), 0);
	getrlimit(RLIMIT_CORE, &limit);
	seen->core = limit.rlim_max;
	getrlimit(RLIMIT_FSIZE, &limit);
	seen->file = limit.rlim_max;
}

static void
must_be_confined(void)
{
	char path[128];
	int fd;

	snprintf(path, sizeof(path), "%s/fifo", named.folder);
	ck_assert_int_eq(mkfifo(path, 0666), 0);
	snprintf(path, sizeof(path), "%s/output", named.folder);
	fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
	ck_assert_int_ge(fd, 0);
	ck_assert_msg(ask(60), "%s", helper.why);
	close(fd);
	ck_assert_uint_gt(seen->calls, 0);
	ck_assert_int_eq(seen->capabilities, 0);
	ck_assert_int_eq(seen->descriptors, 0);
	ck_assert_int_lt(seen->create, 0);
	ck_assert_int_lt(seen->write, 0);
	ck_assert_int_ge(seen->plain, 0);
	ck_assert_int_lt(seen->fifo, 0);
	ck_assert_int_lt(seen->network, 0);
	ck_assert_int_lt(seen->child, 0);
	ck_assert_int_lt(seen->kill, 0);
	ck_assert_uint_le(seen->core, 1);
	ck_assert_uint_eq(seen->file, 0);
}

TEST(confined)
{
	ck_assert(begin_helper(look_around));
	must_be_confined();
	ck_assert_uint_eq(seen->uid, geteuid());
	mu_symbol_helper_close(&helper);
}

/* The subject's files are found all the same, as they may be read by all. */
TEST(rights_of_another)
{
	if (geteuid() != 0) {
		printf("SKIPPED: symbol_helper: not root\n");
		return;
	}
	ck_assert(begin_helper(look_around));
	ck_assert_int_eq(chmod(named.folder, 0755), 0);
	helper.rights =
	    (struct mu_rights) { .known = true, .uid = 65534, .gid = 65534 };
	must_be_confined();
	ck_assert_uint_eq(seen->uid, 65534);
	ck_assert_uint_eq(seen->gid, 65534);
	ck_assert_uint_lt(answers[0].symbol.line - named.line, 4);
	mu_symbol_helper_close(&helper);
}

TEST(rights_of_processes)
{
	struct mu_rights rights = mu_rights_of_process(getpid());

	ck_assert(rights.known);
	ck_assert_uint_eq(rights.uid, geteuid());
	ck_assert_uint_eq(rights.gid, getegid());
	ck_assert(!mu_rights_other(&rights) || rights.uid != 0);
	rights = mu_rights_of_process(0x7ffffff0);
	ck_assert(!rights.known);
}

static void
end_helper(void)
{
	size_t i;

	for (i = 0; i < COPIES; i++) {
		free(copies[i]);
		copies[i] = NULL;
	}
	named_teardown();
}

SUITE(.setup = named_setup, .teardown = end_helper);
