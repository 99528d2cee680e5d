#include "tests/support/stop/blocking_setups.h"

int blocking_fd = -1, blocking_other = -1;
char blocking_buffer[BIG];
pthread_mutex_t blocking_mutex = PTHREAD_MUTEX_INITIALIZER;
sem_t blocking_sem;
int blocking_queue = -1, blocking_count = -1; /* System V */
aio_context_t blocking_aio;

static bool
blocking_got(int result)
{
	return result >= 0;
}

bool
get_nothing(void)
{
	return true;
}

bool
get_pipe(void)
{
	int ends[2];

	if (pipe2(ends, O_CLOEXEC) != 0)
		return false;
	blocking_fd = ends[0];
	blocking_other = ends[1];
	return true;
}

bool
get_full_pipe(void)
{
	bool done = get_pipe();

	fcntl(blocking_other, F_SETFL, O_NONBLOCK);
	while (write(blocking_other, blocking_buffer, 4096) > 0)
		continue;
	fcntl(blocking_other, F_SETFL, 0);
	return done;
}

bool
get_sockets(void)
{
	int ends[2];

	if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) != 0)
		return false;
	blocking_fd = ends[0];
	blocking_other = ends[1];
	return true;
}

bool
get_timed_sockets(void)
{
	struct timeval span = LONG_SPAN;

	return get_sockets() &&
	    setsockopt(
		blocking_fd, SOL_SOCKET, SO_RCVTIMEO, &span, sizeof(span)) == 0;
}

bool
get_started_socket(void)
{
	return get_sockets() && write(blocking_other, "x", 1) == 1;
}

struct sockaddr_un
name_of_socket(void)
{
	struct sockaddr_un name = { .sun_family = AF_UNIX };

	/* In the abstract namespace: nothing is left of it. */
	snprintf(name.sun_path + 1, sizeof(name.sun_path) - 1,
	    "transparency.%d", getpid());
	return name;
}

bool
get_listener(void)
{
	struct sockaddr_un name = name_of_socket();

	blocking_fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
	return bind(blocking_fd, (struct sockaddr *)&name, sizeof(name)) == 0 &&
	    listen(blocking_fd, 0) == 0;
}

bool
get_full_listener(void)
{
	struct sockaddr_un name = name_of_socket();
	int fd;

	if (!get_listener())
		return false;
	do {
		fd = socket(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0);
	} while (connect(fd, (struct sockaddr *)&name, sizeof(name)) == 0);
	blocking_other = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
	return true;
}

bool
get_terminal(void)
{
	blocking_other = posix_openpt(O_RDWR | O_NOCTTY);
	if (blocking_other < 0 || grantpt(blocking_other) != 0 ||
	    unlockpt(blocking_other) != 0)
		return false;
	blocking_fd = open(ptsname(blocking_other), O_RDWR | O_NOCTTY);
	return blocking_got(blocking_fd);
}

bool
get_eventfd(void)
{
	return blocking_got(blocking_fd = eventfd(0, EFD_CLOEXEC));
}

bool
get_inotify(void)
{
	return blocking_got(blocking_fd = inotify_init1(IN_CLOEXEC));
}

bool
get_signalfd(void)
{
	sigset_t set;

	sigemptyset(&set);
	sigaddset(&set, SIGUSR2);
	sigprocmask(SIG_BLOCK, &set, NULL);
	return blocking_got(blocking_fd = signalfd(-1, &set, SFD_CLOEXEC));
}

bool
get_timerfd(void)
{
	struct itimerspec span = { .it_value = LONG_SPAN };

	blocking_fd = timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC);
	return timerfd_settime(blocking_fd, 0, &span, NULL) == 0;
}

bool
get_epoll(void)
{
	struct epoll_event event = { .events = EPOLLIN };

	if (!get_pipe())
		return false;
	blocking_other = epoll_create1(EPOLL_CLOEXEC);
	return epoll_ctl(blocking_other, EPOLL_CTL_ADD, blocking_fd, &event) ==
	    0;
}

bool
get_sem(void)
{
	return sem_init(&blocking_sem, 0, 0) == 0;
}

bool
get_locked_mutex(void)
{
	return pthread_mutex_lock(&blocking_mutex) == 0;
}

bool
get_waited_signal(void)
{
	sigset_t set;

	sigemptyset(&set);
	sigaddset(&set, SIGUSR2);
	return pthread_sigmask(SIG_BLOCK, &set, NULL) == 0;
}

bool
get_child(void)
{
	pid_t pid = fork();

	if (pid == 0) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		for (;;)
			pause();
	}
	return pid > 0;
}

bool
get_flock(void)
{
	char path[64];

	blocking_fd = (int)syscall(SYS_memfd_create, "transparency", 0);
	snprintf(path, sizeof(path), "/proc/self/fd/%d", blocking_fd);
	blocking_other = open(path, O_RDWR | O_CLOEXEC);
	return blocking_got(blocking_other) &&
	    flock(blocking_other, LOCK_EX) == 0;
}

bool
get_setlk(void)
{
	struct flock all = { .l_type = F_WRLCK };
	struct flock look;

	blocking_fd = (int)syscall(SYS_memfd_create, "transparency", 0);
	if (!blocking_got(blocking_fd))
		return false;
	if (fork() == 0) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		fcntl(blocking_fd, F_SETLK, &all);
		for (;;)
			pause();
	}
	do {
		usleep(1000);
		look = all;
		fcntl(blocking_fd, F_GETLK, &look);
	} while (look.l_type == F_UNLCK);
	return true;
}

bool
get_msg(void)
{
	return blocking_got(blocking_queue = msgget(IPC_PRIVATE, 0600));
}

bool
get_full_msg(void)
{
	struct blocking_message message = { .type = 1 };

	if (!get_msg())
		return false;
	while (msgsnd(blocking_queue, &message, sizeof(message.text),
		   IPC_NOWAIT) == 0)
		continue;
	return true;
}

bool
get_semop(void)
{
	return blocking_got(blocking_count = semget(IPC_PRIVATE, 1, 0600));
}

bool
get_mq(void)
{
	char name[64];

	snprintf(name, sizeof(name), "/transparency.%d", getpid());
	blocking_fd = mq_open(name, O_RDWR | O_CREAT | O_CLOEXEC, 0600, NULL);
	mq_unlink(name);
	return blocking_got(blocking_fd);
}

bool
get_fifo(void)
{
	snprintf(blocking_buffer, sizeof(blocking_buffer),
	    "/tmp/transparency.%d", getpid());
	return mkfifo(blocking_buffer, 0600) == 0;
}

bool
get_aio(void)
{
	return syscall(SYS_io_setup, 4, &blocking_aio) == 0;
}

bool
get_ring(void)
{
	struct io_uring_params params = { 0 };

	blocking_fd = (int)syscall(SYS_io_uring_setup, 4, &params);
	return blocking_got(blocking_fd);
}

void
blocking_clean(void)
{
	if (blocking_queue >= 0)
		msgctl(blocking_queue, IPC_RMID, NULL);
	if (blocking_count >= 0)
		semctl(blocking_count, 0, IPC_RMID);
	if (blocking_buffer[0] == '/')
		unlink(blocking_buffer);
}
