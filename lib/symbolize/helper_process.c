/*
 * The helper's process is started and ended: see helper.h.
 */
#include <bsd/unistd.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <unistd.h>

#include "lib/symbolize/helper.h"
#include "mu/sys.h"

#define PATIENCE_NS (100 * 1000 * 1000ull) /* for the end of a killed one */
#define NAP_NS (1000 * 1000ull)

static void
close_all_but(int keep)
{
	int fd;

	closefrom(keep + 1);
	for (fd = 0; fd < keep; fd++)
		close(fd);
	/* Some library may believe in these three. */
	for (fd = 0; fd < 3; fd++)
		open("/dev/null", O_RDWR);
}

static void
become_helper(const struct mu_symbol_helper *helper, int fd, pid_t parent)
{
	sigset_t none;
	int signo;

	prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (getppid() != parent)
		_exit(1);
	prctl(PR_SET_NAME, "mu-names");
	for (signo = 1; signo < NSIG; signo++)
		signal(signo, SIG_DFL);
	sigemptyset(&none);
	sigprocmask(SIG_SETMASK, &none, NULL);
	fd = fcntl(fd, F_DUPFD, 3);
	if (fd < 0)
		_exit(1);
	close_all_but(fd);
	mu_helper_serve(helper, fd);
}

static bool
map_page(struct mu_symbol_helper *helper)
{
	void *page;

	if (helper->page != NULL)
		return true;
	page = mmap(NULL, sizeof(*helper->page), PROT_READ | PROT_WRITE,
	    MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (page != MAP_FAILED)
		helper->page = page;
	return page != MAP_FAILED;
}

bool
mu_helper_start(struct mu_symbol_helper *helper)
{
	pid_t parent = getpid();
	int fds[2];

	if (!map_page(helper) ||
	    socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, fds) != 0)
		return false;
	helper->page->begun = 0;
	helper->asked = 0;
	helper->pid = fork();
	if (helper->pid == 0)
		become_helper(helper, fds[1], parent);
	close(fds[1]);
	if (helper->pid < 0) {
		helper->pid = 0;
		close(fds[0]);
		return false;
	}
	fcntl(fds[0], F_SETFL, O_NONBLOCK);
	helper->fd = fds[0];
	helper->starts++;
	return true;
}

void
mu_helper_kill(pid_t pid)
{
	uint64_t deadline_ns = mu_sys_now_ns() + PATIENCE_NS;

	mu_sys_kill(pid, SIGKILL);
	while (mu_sys_wait(pid, NULL, WNOHANG) == 0 &&
	    mu_sys_now_ns() < deadline_ns)
		mu_sys_sleep_ns(NAP_NS);
}

void
mu_helper_stop(struct mu_symbol_helper *helper)
{
	if (helper->pid == 0)
		return;
	mu_sys_close(&helper->fd);
	mu_helper_kill(helper->pid);
	helper->pid = 0;
	mu_wire_reader_reset(&helper->reader);
}
