#include "tests/support/faults/fault_walk.h"

#define WALK_FAR 100000 /* no pass makes that many calls */

const char *const role_names[NUM_ROLES] = { "original", "collector",
	"sweeper" };

static const char *const method_names[NUM_METHODS] = { "by ptrace", "by signal",
	"by signal, ptrace refused" };

static const struct {
	int nr;
	const char *name;
} call_names[] = {
#define CALL(name)                \
	{                         \
		SYS_##name, #name \
	}
	CALL(read),
	CALL(write),
	CALL(close),
	CALL(openat),
	CALL(pread64),
	CALL(getdents64),
	CALL(readlinkat),
	CALL(newfstatat),
	CALL(fstat),
	CALL(fcntl),
	CALL(ioctl),
	CALL(close_range),
	CALL(pipe2),
	CALL(ppoll),
	CALL(mmap),
	CALL(munmap),
	CALL(mprotect),
	CALL(madvise),
	CALL(clone),
	CALL(wait4),
	CALL(waitid),
	CALL(exit),
	CALL(exit_group),
	CALL(kill),
	CALL(tgkill),
	CALL(getpid),
	CALL(getppid),
	CALL(gettid),
	CALL(prctl),
	CALL(ptrace),
	CALL(futex),
	CALL(nanosleep),
	CALL(clock_gettime),
	CALL(rt_sigaction),
	CALL(rt_sigprocmask),
	CALL(rt_sigtimedwait),
	CALL(rt_sigreturn),
	CALL(rt_tgsigqueueinfo),
	CALL(rt_sigpending),
	CALL(sigaltstack),
	CALL(setpriority),
	CALL(getpriority),
	CALL(sched_yield),
	CALL(prlimit64),
	CALL(socket),
	CALL(connect),
	CALL(sendto),
	CALL(process_vm_readv),
	CALL(msync),
	CALL(mincore),
	CALL(sysinfo),
	CALL(memfd_create),
	CALL(statx),
	CALL(getuid),
	CALL(sched_setscheduler),
	CALL(sched_getaffinity),
	CALL(sched_setaffinity),
	CALL(ioprio_set),
	CALL(ftruncate),
	{ SYS_pidfd_open, "pidfd_open" },
#undef CALL
};

static const struct fault *walk_fault; /* what is spoilt now */
static struct fault_record record;

/* walk_leave_out() */
static struct noted_call left_out[MAX_NOTED];
static unsigned num_left_out;

const char *
call_name(int nr)
{
	static char number[16];
	size_t i;

	for (i = 0; i < sizeof(call_names) / sizeof(call_names[0]); i++)
		if (call_names[i].nr == nr)
			return call_names[i].name;
	snprintf(number, sizeof(number), "%d", nr);
	return number;
}

bool
walk_full(void)
{
	const char *full = getenv("FAULTS_FULL");

	return full != NULL && full[0] == '1';
}

#define WALK_SECONDS 500 /* of a program, unless all is walked */

static uint64_t walk_end_ns;

void
walk_limit(void)
{
	if (!walk_full())
		walk_end_ns = mu_sys_now_ns() + WALK_SECONDS * MU_NS_PER_SEC;
}

bool
walk_in_time(struct walk *walk)
{
	if (walk_end_ns == 0 || mu_sys_now_ns() < walk_end_ns)
		return true;
	if (!walk->cut)
		printf("SKIPPED: fault walk: the rest of %s, after %d s\n",
		    role_names[walk->role], WALK_SECONDS);
	walk->cut = true;
	return false;
}

/* A check that fails in the middle of a walk should tell where. */
static void
walk_print_fault(void)
{
	if (walk_fault != NULL)
		printf("at: %s %s %u%s, act %d, error %d\n",
		    role_names[walk_fault->role], call_name(walk_fault->nr),
		    walk_fault->nth, walk_fault->for_ever ? " for ever" : "",
		    walk_fault->act, walk_fault->error);
}

static bool
is_left_out(const struct noted_call *note)
{
	unsigned i;

	for (i = 0; i < num_left_out; i++)
		if (left_out[i].nr == note->nr &&
		    left_out[i].site == note->site)
			return true;
	return false;
}

bool
walk_wants(const struct walk *walk, int nr, unsigned nth)
{
	const struct noted_call *note = walk->noted;
	const struct noted_call *end = note + walk->num_noted, *other;
	unsigned before = 0, after = 0;

	for (; note < end; note++)
		if ((nr == ANY_CALL || note->nr == nr) && --nth == 0)
			break;
	if (walk_full())
		return true;
	/* Later passes make more calls than the first, mostly the same. */
	if (note == end)
		return (nth & (nth - 1)) == 0;
	if (is_left_out(note))
		return false;
	for (other = walk->noted; other < end; other++)
		if (other->nr == note->nr && other->site == note->site) {
			before += other < note;
			after += other > note;
		}
	return after == 0 || (before & (before + 1)) == 0;
}

#define SHARED_SIZE 65536

void
walk_pass(
    struct walk *walk, const struct fault *fault, struct failing_pass *failing)
{
	char *shared = NULL;

	*failing = (struct failing_pass) {
		.fault = fault,
		.record = walk->record,
		.no_ptrace = walk->method == METHOD_REFUSED,
	};
	walk_fault = fault;
	if (walk->shares) {
		shared = mmap(NULL, SHARED_SIZE, PROT_READ | PROT_WRITE,
		    MAP_SHARED | MAP_ANONYMOUS, -1, 0);
		ck_assert_ptr_ne(shared, MAP_FAILED);
		*shared = 1;
	}
	walk->possible = failing_pass_run(failing);
	if (shared != NULL)
		munmap(shared, SHARED_SIZE);
}

static void
walk_print(const struct walk *walk)
{
	enum fault_role role = walk->role;
	unsigned kinds = 0, calls = 0;
	int nr;

	printf("%s, %s:", method_names[walk->method], role_names[role]);
	for (nr = 0; nr < MAX_CALL; nr++) {
		if (walk->counts[role][nr] == 0)
			continue;
		printf(" %s %u", call_name(nr), walk->counts[role][nr]);
		kinds++;
		calls += walk->counts[role][nr];
	}
	printf("; %u calls of %u kinds\n", calls, kinds);
}

bool
walk_begin(struct walk *walk, enum walk_method method, enum fault_role role,
    bool shares)
{
	const struct fault none = {
		.role = role,
		.nr = ANY_CALL,
		.act = FAULT_NONE,
		.nth = WALK_FAR,
	};
	struct failing_pass probe;

	memset(walk, 0, sizeof(*walk));
	walk->method = method;
	walk->role = role;
	walk->shares = shares;
	atexit(walk_print_fault);
	mu_library.options.stop = method == METHOD_PTRACE ? MU_STOP_PTRACE
	    : method == METHOD_SIGNAL                     ? MU_STOP_SIGNAL
							  : MU_STOP_AUTO;
	walk->record = &record;
	belongings_begin(&walk->own);
	walk_pass(walk, &none, &probe);
	if (!walk->possible) {
		printf("SKIPPED: fault walk: no seccomp listeners here (%d)\n",
		    probe.listener);
		belongings_end(&walk->own);
		return false;
	}
	ck_assert_msg(probe.checked, "%s", probe.info.reason);
	ck_assert_int_eq(probe.info.stop,
	    method == METHOD_PTRACE ? MEMUNREACHABLE_STOP_PTRACE
				    : MEMUNREACHABLE_STOP_SIGNAL);
	memcpy(walk->counts, walk->record->counts, sizeof(walk->counts));
	memcpy(walk->noted, walk->record->noted, sizeof(walk->noted));
	walk->num_noted = walk->record->num_noted;
	walk_print(walk);
	belongings_check(&walk->own, &probe);
	return true;
}

void
walk_end(struct walk *walk)
{
	unsigned i;

	walk_fault = NULL;
	printf("spoilt %u: complete %u, partial %u, failed %u:", walk->spoilt,
	    walk->complete, walk->partial, walk->failed);
	for (i = MEMUNREACHABLE_PARTIAL + 1; i < 32; i++)
		if (walk->statuses[i] > 0)
			printf(" %s %u;", memunreachable_status_name((int)i),
			    walk->statuses[i]);
	printf("\n");
	belongings_end(&walk->own);
}

void
walk_count(struct walk *walk, const struct failing_pass *failing)
{
	walk->spoilt++;
	if (!failing->checked)
		walk->failed++;
	else if (failing->info.status == MEMUNREACHABLE_COMPLETE)
		walk->complete++;
	else
		walk->partial++;
	walk->statuses[failing->info.status & 31]++;
}

/* In a child, as what is counted there would count here, too. */
void
walk_leave_out(enum walk_method method, enum fault_role role)
{
	static struct walk walk;
	size_t size = sizeof(left_out) + sizeof(num_left_out);
	char *shared = mmap(NULL, size, PROT_READ | PROT_WRITE,
	    MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	int status;
	pid_t pid;

	ck_assert_ptr_ne(shared, MAP_FAILED);
	pid = fork();
	if (pid == 0) {
		if (!walk_begin(&walk, method, role, false))
			_exit(1);
		memcpy(shared, walk.noted, sizeof(left_out));
		memcpy(shared + sizeof(left_out), &walk.num_noted,
		    sizeof(num_left_out));
		_exit(0);
	}
	ck_assert_int_eq(waitpid(pid, &status, 0), pid);
	memcpy(left_out, shared, sizeof(left_out));
	memcpy(&num_left_out, shared + sizeof(left_out), sizeof(num_left_out));
	munmap(shared, size);
	ck_assert_uint_le(num_left_out, MAX_NOTED);
}
