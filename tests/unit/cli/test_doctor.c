/*
 * Every fact that prevents or hinders a check has a finding, and no other fact
 * has one.
 */
#include "lib/doctor/facts.h"
#include "lib/doctor/findings.h"
#include "mu/sys.h"
#include "tests/support/suite.h"

static struct mu_doctor_machine machine;
static struct mu_doctor_target target;
static struct mu_findings findings;

/* Our own process, with all that one could wish for. */
static void
setup(void)
{
	machine = (struct mu_doctor_machine) {
		.has_proc = true,
		.kernel = { 6, 8 },
		.us = { .uid = 1000, .sys_ptrace = 0, .yama_scope = 0 },
		.available = (uint64_t)1 << 33,
		.core_pattern = "core",
	};
	target = (struct mu_doctor_target) {
		.pid = 4711,
		.process = 4711,
		.is_there = true,
		.name = "server",
		.state = 'S',
		.threads = 4,
		.refusal = { .pid = 4711,
		    .tid = 4711,
		    .uid = 1000,
		    .target_uid = 1000,
		    .dumpable = 1,
		    .yama_scope = 0 },
		.ids = { { 1000, 1000, 1000, 1000 }, { 50, 50, 50, 50 } },
		.our_gid = 50,
		.bits = 64,
		.same_machine = true,
		.libc = "/usr/lib/libc.so.6",
		.glibc = { 2, 36 },
		.resident = (uint64_t)1 << 30,
		.held = (uint64_t)1 << 27,
		.max_pause_ns = 200 * 1000 * 1000,
		.detail = MU_SYMBOLS_LINES,
	};
}

static void
judge(void)
{
	size_t i;

	findings.count = 0;
	mu_doctor_check_machine(&machine, &findings);
	mu_doctor_check_target(&machine, &target, &findings);
	ck_assert_uint_lt(findings.count, MU_FINDINGS_MAX);
	for (i = 0; i < findings.count; i++) /* no sentence was cut */
		ck_assert_uint_lt(strlen(findings.all[i].why.text), 230);
}

/* The one finding above MU_FINE, if GRADE is; none otherwise. */
static void
must_find(enum mu_grade grade, const char *subject, const char *words)
{
	const struct mu_finding *finding, *worst = NULL;

	judge();
	for (finding = findings.all; finding < findings.all + findings.count;
	     finding++) {
		if (finding->grade == MU_FINE)
			continue;
		ck_assert_msg(worst == NULL, "%s and %s", finding->why.text,
		    worst == NULL ? "" : worst->why.text);
		worst = finding;
	}
	if (grade == MU_FINE) {
		ck_assert_msg(
		    worst == NULL, "%s", worst ? worst->why.text : "");
		return;
	}
	ck_assert_msg(worst != NULL, "%s was not found", subject);
	ck_assert_str_eq(worst->subject, subject);
	ck_assert_int_eq(worst->grade, grade);
	ck_assert_msg(strstr(worst->why.text, words) != NULL,
	    "\"%s\" has no \"%s\"", worst->why.text, words);
}

TEST(healthy)
{
	must_find(MU_FINE, NULL, NULL);
	machine.us.uid = 0;
	machine.us.sys_ptrace = 1;
	machine.us.yama_scope = 2;
	machine.debuginfod = true;
	target.detail = MU_SYMBOLS_NONE;
	target.state = 'T';
	target.other_pid_namespace = true;
	must_find(MU_FINE, NULL, NULL);
}

TEST(machines)
{
	machine.has_proc = false;
	must_find(MU_BLOCKER, "proc", "mount -t proc");
	setup();
	strcpy(machine.hidepid, "invisible");
	must_find(MU_WARNING, "proc", "hidepid=invisible");
	setup();
	machine.kernel[0] = 4;
	must_find(MU_WARNING, "kernel", "pidfd");
	setup();
	machine.kernel[1] = 1;
	must_find(MU_FINE, NULL, NULL);
	setup();
	machine.read_error = ENOSYS;
	must_find(MU_WARNING, "read", "process_vm_readv() is refused");
	setup();
	strcpy(machine.label, "docker-default (enforce)");
	must_find(MU_WARNING, "lsm", "docker-default");
	strcpy(machine.label, "unconfined");
	must_find(MU_FINE, NULL, NULL);
	setup();
	machine.core_pattern[0] = '\0';
	must_find(MU_WARNING, "cores", "gcore");
}

TEST(yama)
{
	machine.us.yama_scope = 1;
	must_find(MU_WARNING, "yama", "ptrace_scope 1");
	machine.us.yama_scope = 2;
	must_find(MU_BLOCKER, "yama", "ptrace_scope 2");
	machine.us.sys_ptrace = 1;
	must_find(MU_FINE, NULL, NULL);
	machine.us.yama_scope = 3;
	must_find(MU_BLOCKER, "yama", "ptrace_scope 3");
}

TEST(call_filtered)
{
	machine.call = MU_ERR_PTRACE_SECCOMP;
	strcpy(machine.call_why.text, "a filter refuses ptrace; allow it");
	must_find(MU_BLOCKER, "ptrace", "a filter refuses");
}

TEST(absent)
{
	target.is_there = false;
	must_find(MU_BLOCKER, "process", "there is no process 4711");
	target.is_hidden = true;
	must_find(MU_BLOCKER, "process", "hidden");
	setup();
	target.state = 'Z';
	must_find(MU_BLOCKER, "process", "has ended");
	setup();
	target.is_kernel = true;
	must_find(MU_BLOCKER, "process", "thread of the kernel");
	setup();
	target.process = 4700;
	must_find(MU_BLOCKER, "process", "thread of process 4700");
}

TEST(traced)
{
	target.refusal.tracer = 4712;
	strcpy(target.refusal.tracer_name, "gdb");
	must_find(MU_BLOCKER, "tracer", "already traced by 4712 (gdb)");
}

TEST(refused)
{
	target.mem_error = target.refusal.error = EACCES;
	target.refusal.target_uid = 33;
	must_find(MU_BLOCKER, "permission", "of user 33, we are user 1000");
	target.refusal.target_uid = 1000;
	target.refusal.dumpable = 0;
	must_find(MU_BLOCKER, "permission", "not dumpable");
	target.refusal.dumpable = 1;
	target.ids[1][2] = 0;
	must_find(MU_BLOCKER, "permission", "groups 50 50 0");
	target.ids[1][2] = 50;
	target.ids[0][0] = 0;
	must_find(MU_BLOCKER, "permission", "users 0 1000 1000");
	target.ids[0][0] = 1000;
	must_find(MU_BLOCKER, "permission", "AppArmor");
	target.refusal.sys_ptrace = 1;
	target.other_user_namespace = true;
	must_find(MU_BLOCKER, "permission", "user namespace");
}

TEST(states)
{
	target.threads = 20;
	target.sleeping = 1;
	must_find(MU_WARNING, "sleep", "1 of 20 threads is in uninterruptible");
	target.sleeping = 16;
	must_find(MU_WARNING, "sleep", "16 of 20 threads are");
	target.sleeping = 17;
	must_find(MU_BLOCKER, "sleep", "17 of 20 threads are");
	target.threads = target.sleeping = 1;
	must_find(MU_BLOCKER, "sleep", "1 of 1 threads is in");
	setup();
	target.ended_calls = 1;
	must_find(MU_FINE, "calls", "1 thread is in epoll_wait(2)");
	target.ended_calls = 2;
	must_find(MU_FINE, "calls", "2 threads are");
	setup();
	target.seccomp = 2;
	must_find(MU_WARNING, "seccomp", "filter");
	target.seccomp = 1;
	must_find(MU_WARNING, "seccomp", "sandbox");
	setup();
	target.tight = true;
	target.left = (uint64_t)100 << 20;
	target.need = (uint64_t)1100 << 20;
	must_find(MU_WARNING, "copy", "100 MiB of memory left");
	must_find(MU_WARNING, "copy", "up to 1100 MiB");
	target.has_room = mu_why(&target.room_why, MU_ERR_NO_MEMORY, "too few");
	must_find(
	    MU_WARNING, "copy", "no copy of process 4711 is made: too few");
	target.has_room = MU_OK;
	target.tight = false;
	machine.available = 0;
	must_find(MU_WARNING, "memory", "not known");
	setup();
	machine.commit_strict = true;
	target.data = 1;
	must_find(MU_WARNING, "copy", "overcommit_memory");
	machine.commit_left = 1;
	must_find(MU_FINE, NULL, NULL);
}

TEST(programs)
{
	target.bits = 32;
	must_find(MU_BLOCKER, "program", "32-bit");
	target.bits = 64;
	target.same_machine = false;
	must_find(MU_BLOCKER, "program", "another kind of CPU");
	setup();
	strcpy(target.allocator, "libjemalloc.so.2");
	must_find(MU_WARNING, "allocator", "libjemalloc.so.2");
	strcpy(target.allocator, "libmimalloc.so.2");
	must_find(MU_WARNING, "allocator", "libmimalloc.so.2");
	strcpy(target.allocator, "libtcmalloc.so.4");
	must_find(MU_WARNING, "allocator", "libtcmalloc.so.4");
	strcpy(target.allocator, "libhoard.so");
	must_find(MU_BLOCKER, "allocator", "libhoard.so");
	setup();
	target.glibc[1] = 99;
	must_find(MU_WARNING, "glibc", "2.99 is not known");
	target.glibc[0] = 0;
	must_find(MU_WARNING, "glibc", "not stated");
	target.libc[0] = '\0';
	must_find(MU_BLOCKER, "glibc", "neither glibc nor musl");
	target.has_musl = true;
	must_find(MU_WARNING, "musl", "1.2.1 to 1.2.5");
	target.has_musl = false;
	target.is_static = true;
	target.glibc[0] = 2;
	target.glibc[1] = 31;
	must_find(MU_FINE, NULL, NULL);
	setup();
	target.detail = MU_SYMBOLS_NAMES;
	must_find(MU_WARNING, "names", "no lines");
	target.detail = MU_SYMBOLS_NONE;
	must_find(MU_WARNING, "names", "stripped");
}

/* Too many threads or mappings to copy in time, or too much to read. */
TEST(long_pauses)
{
	target.held = (uint64_t)1 << 30;
	target.threads = 10000;
	target.copy_ns = mu_copy_pause_ns(10000, 0, 0);
	must_find(MU_BLOCKER, "pause", "10000 threads");
	target.threads = 4;
	target.mappings = 65530;
	target.copy_ns = mu_copy_pause_ns(4, 65530, 0);
	must_find(MU_BLOCKER, "pause", "65530 mappings");
	target.max_pause_ns = 10 * MU_NS_PER_SEC;
	judge();
	must_find(MU_FINE, NULL, NULL);
}

/* A copy takes too long, and reading does not. */
TEST(read_instead)
{
	target.copy_ns = MU_NS_PER_SEC;
	target.held = 1 << 20;
	judge();
	must_find(MU_FINE, NULL, NULL);
}

/* A fork may wait, so nothing is copied. */
TEST(watched_by_a_userfaultfd)
{
	target.fork_waits = true;
	must_find(MU_WARNING, "copy", "userfaultfd");
}

/* As of QEMU: the copy costs nothing, what it does not have does. */
TEST(left_out_of_a_copy)
{
	target.held = (uint64_t)7 << 30;
	target.copy_ns = mu_copy_pause_ns(4, 500, 0);
	target.forked.dontfork = (uint64_t)7 << 30;
	must_find(MU_WARNING, "left out", "7168 MiB of process 4711");
	target.forked.dontfork = (uint64_t)7 << 20;
	judge();
	must_find(MU_FINE, NULL, NULL);
}

/* Whose copy cannot be made: for a filter, or a userfaultfd. */
TEST_LOOP(too_much_to_read, 0, 2)
{
	size_t i, blockers = 0;

	target.seccomp = _i == 0 ? 2 : 0;
	target.fork_waits = _i == 1;
	target.held = (uint64_t)3 << 30;
	judge();
	for (i = 0; i < findings.count; i++)
		if (findings.all[i].grade == MU_BLOCKER) {
			ck_assert_ptr_nonnull(strstr(findings.all[i].why.text,
			    "to read 3072 MiB of process 4711 would stop"
			    " it for about 6.4 s; --max-pause=13s"));
			blockers++;
		}
	ck_assert_uint_eq(blockers, 1);
}

SUITE(.setup = setup);
