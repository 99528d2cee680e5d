#include "tests/support/stop/injected.h"

struct mu_remote_thread injected_remote;
struct mu_remote_call injected_call;

enum mu_status
call_stopped(long nr)
{
	enum mu_status status = mu_remote_thread_pick(
	    &injected_remote, &captured_threads, &captured_why);

	injected_call = (struct mu_remote_call) { .nr = nr };
	if (status == MU_OK)
		status = mu_remote_call_make(&injected_call, &injected_remote,
		    in_patience(), &captured_why);
	return status;
}

void
must_call(pid_t pid)
{
	enum mu_status status = call_stopped(SYS_getpid);

	ck_assert_msg(status == MU_OK, "%s", captured_why.text);
	ck_assert_int_eq(injected_call.result, pid);
}

void
must_refuse(enum mu_status expected, const char *word)
{
	enum mu_status status = call_stopped(SYS_getpid);

	ck_assert_msg(status == expected, "%s: %s", mu_status_name(status),
	    captured_why.text);
	ck_assert_msg(
	    strstr(captured_why.text, word) != NULL, "%s", captured_why.text);
}

void
inject(pid_t pid)
{
	must_stop(pid);
	must_call(pid);
	mu_threads_release(&captured_threads);
}

/*
 * Calls without end in PID, which stands still, until a SIGKILL. No assertion:
 * it would write to check's file of messages, and a SIGKILL cuts a write short
 * at the end of a page.
 */
static _Noreturn void
call_for_ever(pid_t pid)
{
	if (stop_hooked(pid, NULL) == MU_OK)
		for (;;)
			call_stopped(SYS_getpid);
	_exit(1);
}

void
be_killed(pid_t pid)
{
	pid_t tracer = fork();
	int tries;

	if (tracer == 0)
		call_for_ever(pid);
	for (tries = 0; tries < 5000 && threaded_state(pid, pid) != 't';
	     tries++)
		usleep(50);
	usleep((unsigned)rand() % 1500);
	kill(tracer, SIGKILL);
	ck_assert_int_eq(waitpid(tracer, NULL, 0), tracer);
}

struct sat *sat;

static void
sat_handler(int signo)
{
	threaded_add(&sat->handled[signo], 1);
}

static void
sitter_child(const struct sitter *sitter)
{
	struct sigaction action;
	uint64_t begin;

	prctl(PR_SET_PDEATHSIG, SIGKILL);
	memset(&action, 0, sizeof(action));
	action.sa_handler = sat_handler;
	sigaction(SIGUSR1, &action, NULL);
	sigaction(SIGRTMIN, &action, NULL);
	if (sitter->get != NULL && !sitter->get())
		_exit(77);
	begin = mu_sys_now_ns();
	threaded_set(&sat->begun, 1);
	sat->result = sitter->sit();
	sat->error = errno;
	sat->ns = mu_sys_now_ns() - begin;
	sigprocmask(SIG_SETMASK, NULL, (sigset_t *)&sat->mask);
	threaded_set(&sat->ended, 1);
	for (;;)
		pause();
}

bool
sits(pid_t pid, char *text, size_t size)
{
	char path[64];

	snprintf(path, sizeof(path), "/proc/%d/syscall", pid);
	return threaded_state(pid, pid) == 'S' &&
	    transparency_read(path, text, size) > 0 && text[0] != 'r';
}

void
must_sit(pid_t pid, char *text, size_t size)
{
	int i;

	for (i = 0; i < THREADED_PATIENCE && !sits(pid, text, size); i++)
		usleep(1000);
	ck_assert_int_lt(i, THREADED_PATIENCE);
}

pid_t
sitter_start(const struct sitter *sitter)
{
	char text[256];
	pid_t pid;
	int status;

	if (sat == NULL)
		sat = mmap(NULL, sizeof(*sat), PROT_READ | PROT_WRITE,
		    MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	memset(sat, 0, sizeof(*sat));
	pid = fork();
	if (pid == 0)
		sitter_child(sitter);
	while (!threaded_get(&sat->begun)) {
		if (waitpid(pid, &status, WNOHANG) == pid) {
			ck_assert_int_eq(WEXITSTATUS(status), 77);
			return 0;
		}
		usleep(200);
	}
	must_sit(pid, text, sizeof(text));
	return pid;
}

void
sitter_end(pid_t pid)
{
	int status;

	kill(pid, SIGKILL);
	ck_assert_int_eq(waitpid(pid, &status, 0), pid);
	ck_assert(WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL);
}
