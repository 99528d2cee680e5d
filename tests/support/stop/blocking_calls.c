#include "tests/support/stop/blocking_calls.h"

static pthread_cond_t blocking_cond = PTHREAD_COND_INITIALIZER;
int blocking_word;

static struct timespec
in_a_while(clockid_t clock)
{
	struct timespec at;

	clock_gettime(clock, &at);
	at.tv_sec += 1000;
	return at;
}

#define SIT(name, expression)      \
	long name(void)            \
	{                          \
		return expression; \
	}

SIT(sit_read, read(blocking_fd, blocking_buffer, 4096))
SIT(sit_write, write(blocking_other, blocking_buffer, 1))
SIT(sit_write_much, write(blocking_other, blocking_buffer, BIG))
SIT(sit_send_much, send(blocking_other, blocking_buffer, BIG, 0))
SIT(sit_recv, recv(blocking_fd, blocking_buffer, 100, 0))
SIT(sit_recv_all, recv(blocking_fd, blocking_buffer, 100, MSG_WAITALL))
SIT(sit_accept, accept(blocking_fd, NULL, NULL))
SIT(sit_pause, pause())
SIT(sit_waitpid, waitpid(-1, NULL, 0))
SIT(sit_flock, flock(blocking_fd, LOCK_EX))
SIT(sit_fifo, open(blocking_buffer, O_RDONLY | O_CLOEXEC))
SIT(sit_sem_wait, sem_wait(&blocking_sem))
SIT(sit_mutex, pthread_mutex_lock(&blocking_mutex))
SIT(sit_usleep, usleep(900000000))
SIT(sit_futex,
    syscall(SYS_futex, &blocking_word, 0 /* FUTEX_WAIT */, 0, NULL, NULL, 0))
SIT(sit_mq,
    mq_receive(blocking_fd, blocking_buffer, sizeof(blocking_buffer), NULL))
SIT(sit_ring,
    syscall(
	SYS_io_uring_enter, blocking_fd, 0, 1, IORING_ENTER_GETEVENTS, NULL, 0))
SIT(sit_msgrcv, msgrcv(blocking_queue, blocking_buffer, 100, 0, 0))

long
sit_connect(void)
{
	struct sockaddr_un name = name_of_socket();

	return connect(blocking_other, (struct sockaddr *)&name, sizeof(name));
}

long
sit_poll(void)
{
	struct pollfd one = { blocking_fd, POLLIN, 0 };

	return poll(&one, 1, -1);
}

long
sit_poll_timed(void)
{
	struct pollfd one = { blocking_fd, POLLIN, 0 };

	return poll(&one, 1, 900000);
}

long
sit_ppoll(void)
{
	struct pollfd one = { blocking_fd, POLLIN, 0 };
	struct timespec span = LONG_SPAN;
	sigset_t none;

	sigemptyset(&none);
	return ppoll(&one, 1, &span, &none);
}

long
sit_select(void)
{
	struct timeval span = LONG_SPAN;
	fd_set set;

	FD_ZERO(&set);
	FD_SET(blocking_fd, &set);
	return select(blocking_fd + 1, &set, NULL, NULL, &span);
}

long
sit_pselect(void)
{
	struct timespec span = LONG_SPAN;
	sigset_t none;
	fd_set set;

	sigemptyset(&none);
	FD_ZERO(&set);
	FD_SET(blocking_fd, &set);
	return pselect(blocking_fd + 1, &set, NULL, NULL, &span, &none);
}

long
sit_epoll_wait(void)
{
	struct epoll_event event;

	return epoll_wait(blocking_other, &event, 1, -1);
}

long
sit_epoll_pwait2(void)
{
	struct timespec span = LONG_SPAN;
	struct epoll_event event;

	return syscall(441 /* SYS_epoll_pwait2, since Linux 5.11 */,
	    blocking_other, &event, 1, &span, NULL, 0);
}

long
sit_nanosleep(void)
{
	struct timespec span = LONG_SPAN;

	return nanosleep(&span, NULL);
}

/* These return an error number. */
static long
as_errno(int error)
{
	errno = error;
	return error == 0 ? 0 : -1;
}

long
sit_clock_relative(void)
{
	struct timespec span = LONG_SPAN;

	return as_errno(clock_nanosleep(CLOCK_MONOTONIC, 0, &span, NULL));
}

long
sit_clock_absolute(void)
{
	struct timespec at = in_a_while(CLOCK_MONOTONIC);

	return as_errno(
	    clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &at, NULL));
}

long
sit_sem_timedwait(void)
{
	struct timespec at = in_a_while(CLOCK_REALTIME);

	return sem_timedwait(&blocking_sem, &at);
}

long
sit_cond(void)
{
	pthread_mutex_lock(&blocking_mutex);
	return as_errno(pthread_cond_wait(&blocking_cond, &blocking_mutex));
}

long
sit_cond_timed(void)
{
	struct timespec at = in_a_while(CLOCK_REALTIME);

	pthread_mutex_lock(&blocking_mutex);
	return as_errno(
	    pthread_cond_timedwait(&blocking_cond, &blocking_mutex, &at));
}

long
sit_mutex_timed(void)
{
	struct timespec at = in_a_while(CLOCK_REALTIME);

	return as_errno(pthread_mutex_timedlock(&blocking_mutex, &at));
}

long
sit_futex_timed(void)
{
	struct timespec span = LONG_SPAN;

	return syscall(SYS_futex, &blocking_word, 0, 0, &span, NULL, 0);
}

long
sit_sigwaitinfo(void)
{
	sigset_t set;

	sigemptyset(&set);
	sigaddset(&set, SIGUSR2);
	return sigwaitinfo(&set, NULL);
}

long
sit_sigtimedwait(void)
{
	struct timespec span = LONG_SPAN;
	sigset_t set;

	sigemptyset(&set);
	sigaddset(&set, SIGUSR2);
	return sigtimedwait(&set, NULL, &span);
}

long
sit_sigwait(void)
{
	sigset_t set;
	int signo;

	sigemptyset(&set);
	sigaddset(&set, SIGUSR2);
	return as_errno(sigwait(&set, &signo));
}

long
sit_sigsuspend(void)
{
	sigset_t none;

	sigemptyset(&none);
	return sigsuspend(&none);
}

long
sit_waitid(void)
{
	siginfo_t info;

	return waitid(P_ALL, 0, &info, WEXITED | WSTOPPED);
}

long
sit_setlk(void)
{
	struct flock all = { .l_type = F_WRLCK };

	return fcntl(blocking_fd, F_SETLKW, &all);
}

long
sit_msgsnd(void)
{
	struct blocking_message message = { .type = 1 };

	return msgsnd(blocking_queue, &message, sizeof(message.text), 0);
}

long
sit_semop(void)
{
	struct sembuf down = { 0, -1, 0 };

	return semop(blocking_count, &down, 1);
}

long
sit_semtimedop(void)
{
	struct timespec span = LONG_SPAN;
	struct sembuf down = { 0, -1, 0 };

	return semtimedop(blocking_count, &down, 1, &span);
}

long
sit_mq_timed(void)
{
	struct timespec at = in_a_while(CLOCK_REALTIME);

	return mq_timedreceive(
	    blocking_fd, blocking_buffer, sizeof(blocking_buffer), NULL, &at);
}

long
sit_io_getevents(void)
{
	struct io_event event;

	return syscall(SYS_io_getevents, blocking_aio, 1, 1, &event, NULL);
}

long
sit_aio_suspend(void)
{
	static struct aiocb request;
	const struct aiocb *list[] = { &request };

	if (request.aio_buf == NULL) {
		request.aio_fildes = blocking_fd;
		request.aio_buf = blocking_buffer;
		request.aio_nbytes = 100;
		if (aio_read(&request) != 0)
			return -1;
	}
	return aio_suspend(list, 1, NULL);
}
