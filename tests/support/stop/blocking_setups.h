/*
 * Set-ups for system calls that are to block: one at a time, in a separate
 * process. False: the kernel does not support it.
 */
#ifndef TESTS_SUPPORT_STOP_BLOCKING_SETUPS_H
#define TESTS_SUPPORT_STOP_BLOCKING_SETUPS_H

#include <linux/aio_abi.h>
#include <linux/io_uring.h>
#include <mqueue.h>
#include <semaphore.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/file.h>
#include <sys/inotify.h>
#include <sys/ipc.h>
#include <sys/msg.h>
#include <sys/sem.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/timerfd.h>
#include <sys/un.h>
#include <time.h>

#include "tests/support/faults/transparency.h"

#define LONG_SPAN       \
	{               \
		1000, 0 \
	}
#define BIG ((size_t)1 << 20)

extern int blocking_fd, blocking_other;
extern char blocking_buffer[BIG];
extern pthread_mutex_t blocking_mutex;
extern sem_t blocking_sem;
extern int blocking_queue, blocking_count; /* System V */
extern aio_context_t blocking_aio;

bool get_nothing(void);
bool get_pipe(void);
bool get_full_pipe(void);
bool get_sockets(void);
bool get_timed_sockets(void);

/* Of a message of 100 bytes one has come. */
bool get_started_socket(void);

struct sockaddr_un name_of_socket(void);
bool get_listener(void);
bool get_full_listener(void);
bool get_terminal(void);
bool get_eventfd(void);
bool get_inotify(void);
bool get_signalfd(void);
bool get_timerfd(void);
bool get_epoll(void);
bool get_sem(void);
bool get_locked_mutex(void);
bool get_waited_signal(void);
bool get_child(void);

/* Two descriptions of one file, the other one locked. */
bool get_flock(void);

/* Locked by a child: a process does not wait for itself. */
bool get_setlk(void);

bool get_msg(void);

struct blocking_message {
	long type;
	char text[1024];
};

bool get_full_msg(void);
bool get_semop(void);
bool get_mq(void);
bool get_fifo(void);
bool get_aio(void);
bool get_ring(void);

/* What would outlive the process. */
void blocking_clean(void);

#endif
