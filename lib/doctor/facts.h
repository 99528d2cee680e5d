/*
 * The facts that --doctor reads: about this machine and user, and one process.
 */
#ifndef CLI_DOCTOR_FACTS_H
#define CLI_DOCTOR_FACTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "lib/helpers/copy_pause.h"
#include "lib/symbolize/symbols.h"
#include "mu/status.h"
#include "ptrace/live/refusal.h"

struct mu_doctor_machine {
	bool has_proc;      /* it is mounted and shows our PID namespace */
	char hidepid[16];   /* mount option: "2", "invisible"; "" = off */
	unsigned kernel[2]; /* 6, 7 */
	int read_error; /* positive errno of process_vm_readv() on ourselves */
	enum mu_status call; /* of a ptrace() call that reaches no process */
	struct mu_why call_why;
	struct mu_refusal_facts us; /* uid, sys_ptrace and yama_scope */
	uint64_t available;         /* bytes of memory; 0 = not known */
	uint64_t commit_left;       /* bytes, if the kernel never overcommits */
	bool commit_strict;
	char core_pattern[128]; /* "" = not known */
	char lsm[128];          /* "yama,apparmor"; "" = not known */
	char label[128];        /* ours; "" = none */
	bool debuginfod;        /* DEBUGINFOD_URLS names a server */
};

struct mu_doctor_target {
	pid_t pid;
	bool is_there;
	bool is_hidden; /* not in /proc, but a signal can be sent to it */
	pid_t living;   /* the thread through which /proc shows the memory */
	pid_t process;  /* process of the thread PID; usually PID itself */
	char name[32];
	char program[256]; /* "" = cannot be read */
	char state;        /* as in /proc/PID/stat; 0 = not known */
	bool is_kernel, is_frozen;
	size_t threads, sleeping; /* in uninterruptible sleep for 60 ms */
	size_t ended_calls; /* threads in a call that every stop interrupts */
	struct mu_refusal_facts refusal;
	int mem_error; /* positive errno of opening /proc/PID/mem */
	int ids[2][4]; /* user, group: real, effective, saved, file system */
	int our_gid;
	bool rights_kept; /* we have rights that it does not have */
	bool capable;     /* we have capabilities */
	bool other_pid_namespace, other_user_namespace;
	int seccomp;         /* mode: 1 strict, 2 filters; -1 = not known */
	bool is_libc_silent; /* the file of its libc does not respond */
	bool is_silent; /* its files do not respond, so nothing is known of them
			 */
	int bits;       /* 32, 64; 0 = not known */
	bool same_machine; /* the file is for this kind of CPU */
	bool is_static;
	bool has_musl;     /* and no glibc */
	char libc[128];    /* the path; "" = none is mapped */
	unsigned glibc[2]; /* 2, 36; 0 = the file does not say */
	char allocator[64];
	size_t mappings;         /* 0 = not known */
	uint64_t held;           /* bytes that would have to be read */
	uint64_t max_pause_ns;   /* set by the caller */
	uint64_t copy_ns;        /* how long making a copy would stop it */
	struct mu_forked forked; /* what the copy would have */
	uint64_t resident, data; /* bytes: VmRSS, VmData */
	enum mu_status has_room; /* for a copy, in its memory cgroup */
	struct mu_why room_why;  /* if there is none */
	bool fork_waits;         /* maybe, for a userfaultfd */
	bool tight;              /* a copy may have to be given up */
	uint64_t left, need;     /* bytes; in the worst case */
	enum mu_symbols_detail detail; /* of the main program */
	char label[128];
};

/*
 * Read the facts of this machine, and those of process PID but its files. What
 * cannot be read stays zero.
 */
void mu_doctor_machine_read(struct mu_doctor_machine *machine);
void mu_doctor_target_read(struct mu_doctor_target *target, pid_t pid);

/* Read the files of TARGET; its other facts are known. */
void mu_doctor_files_read(struct mu_doctor_target *target);

#endif
