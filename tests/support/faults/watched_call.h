/*
 * A seccomp filter that one thread installs for itself, and which the processes
 * that it starts inherit, passes the chosen call to a supervisor in a separate
 * process (SECCOMP_RET_USER_NOTIF, Linux 5.0). Other threads are not filtered:
 * their passes go on as ever.
 */
#ifndef TESTS_SUPPORT_FAULTS_WATCHED_CALL_H
#define TESTS_SUPPORT_FAULTS_WATCHED_CALL_H

#include <check.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <poll.h>
#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

/* SECCOMP_RET_KILL_THREAD is 0, which as a verdict stands for none. */
#define WATCHED_KILL_THREAD (SECCOMP_RET_KILL_THREAD | 1)

enum watched_act {
	ACT_DENY, /* with ERROR */
	ACT_KILL, /* SIGKILL the caller */
	ACT_STOP, /* SIGSTOP the caller, then let the call go on */
	ACT_HOLD, /* let the call go on after WATCHED_HOLD_US */
};

struct watched_call {
	const char *comm; /* only of this process; NULL = any */
	int nr;
	int argument; /* 0..5: only if (argument & MASK) == VALUE; -1: any */
	uint32_t mask, value;
	enum watched_act act;
	int error;        /* positive errno */
	uint32_t verdict; /* a filter's, instead of ERROR; 0 = none */
	unsigned nth;     /* act on this one, counted from 1; 0 = all */
};

/* 0 or the listener's descriptor, or -errno. For the calling thread only. */
int watched_call_filter(const struct watched_call *call, bool deny_here);

/* The supervisor's life: until no task with the filter is left. */
void supervise(int listener, const struct watched_call *call);

#endif
