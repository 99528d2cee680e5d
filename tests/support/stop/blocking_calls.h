/*
 * Calls that block, after a set-up of blocking_setups.h: each returns what the
 * libc function does, or -1 and errno.
 */
#ifndef TESTS_SUPPORT_STOP_BLOCKING_CALLS_H
#define TESTS_SUPPORT_STOP_BLOCKING_CALLS_H

#include <aio.h>
#include <poll.h>
#include <sys/select.h>

#include "tests/support/stop/blocking_setups.h"

extern int blocking_word;

typedef long blocking_call(void);

blocking_call sit_read, sit_write, sit_write_much, sit_send_much, sit_recv,
    sit_recv_all, sit_accept, sit_pause, sit_waitpid, sit_flock, sit_fifo,
    sit_sem_wait, sit_mutex, sit_usleep, sit_futex, sit_mq, sit_ring,
    sit_msgrcv, sit_connect, sit_poll, sit_poll_timed, sit_ppoll, sit_select,
    sit_pselect, sit_epoll_wait, sit_epoll_pwait2, sit_nanosleep,
    sit_clock_relative, sit_clock_absolute, sit_sem_timedwait, sit_cond,
    sit_cond_timed, sit_mutex_timed, sit_futex_timed, sit_sigwaitinfo,
    sit_sigtimedwait, sit_sigwait, sit_sigsuspend, sit_waitid, sit_setlk,
    sit_msgsnd, sit_semop, sit_semtimedop, sit_mq_timed, sit_io_getevents;

/* glibc's own: a thread of its reads, the caller waits for it. */
blocking_call sit_aio_suspend;

#endif
