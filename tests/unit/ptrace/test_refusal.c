/* Every cause of a refused ptrace has a status, a reason and a remedy. */
#include "ptrace/live/refusal.h"
#include "tests/support/suite.h"

/* Same user, dumpable, no capability, nothing known against it. */
static const struct mu_refusal_facts plain = {
	.pid = 4711,
	.tid = 4713,
	.error = EPERM,
	.dumpable = 1,
	.uid = 1000,
	.target_uid = 1000,
	.yama_scope = -1,
};

static void
must_say(const struct mu_refusal_facts *facts, enum mu_status status,
    const char *words)
{
	struct mu_why why = { .text = "" };

	ck_assert_int_eq(mu_refusal_explain(facts, &why), status);
	ck_assert_msg(strstr(why.text, words) != NULL, "\"%s\" has no \"%s\"",
	    why.text, words);
	/* Behind it comes what the other stop method has to say. */
	ck_assert_uint_lt(strlen(why.text), 150);
	ck_assert_int_eq(mu_refusal_explain(facts, NULL), status);
}

TEST(already_traced)
{
	struct mu_refusal_facts facts = plain;

	facts.tracer = 4712;
	must_say(&facts, MU_ERR_ALREADY_TRACED, "already traced by 4712;");
	strcpy(facts.tracer_name, "gdb");
	must_say(&facts, MU_ERR_ALREADY_TRACED,
	    "process 4711 is already traced by 4712 (gdb)");
	facts.sys_ptrace = 1; /* no help */
	facts.yama_scope = 1;
	must_say(&facts, MU_ERR_ALREADY_TRACED, "detach");
}

TEST(yama)
{
	struct mu_refusal_facts facts = plain;

	facts.yama_scope = 1;
	must_say(&facts, MU_ERR_PTRACE_YAMA, "ptrace_scope 1");
	must_say(&facts, MU_ERR_PTRACE_YAMA, "PR_SET_PTRACER");
	facts.yama_scope = 2;
	must_say(&facts, MU_ERR_PTRACE_YAMA, "ptrace_scope 2");
	facts.sys_ptrace = 1; /* then it was not Yama */
	must_say(&facts, MU_ERR_NO_PERMISSION, "SELinux");
	facts.yama_scope = 3;
	must_say(&facts, MU_ERR_PTRACE_YAMA, "ptrace_scope 3");
	facts = plain;
	facts.yama_scope = 0;
	must_say(&facts, MU_ERR_NO_PERMISSION, "SELinux");
	facts.sys_ptrace = -1; /* unknown counts as not there */
	facts.yama_scope = 1;
	must_say(&facts, MU_ERR_PTRACE_YAMA, "ptrace_scope 1");
}

TEST(dumpable)
{
	struct mu_refusal_facts facts = plain;

	facts.dumpable = 0;
	must_say(&facts, MU_ERR_NOT_DUMPABLE, "set it dumpable");
	facts.yama_scope = 1;
	must_say(&facts, MU_ERR_NOT_DUMPABLE, "PR_SET_DUMPABLE 0");
	facts.dumpable = -1;
	must_say(&facts, MU_ERR_PTRACE_YAMA, "ptrace_scope 1");
}

TEST(other_user)
{
	struct mu_refusal_facts facts = plain;

	facts.target_uid = 33;
	facts.dumpable = 0;
	must_say(&facts, MU_ERR_NO_PERMISSION, "is of user 33, we are user");
	facts.sys_ptrace = 1;
	must_say(&facts, MU_ERR_NO_PERMISSION, "SELinux");
}

TEST(rights)
{
	struct mu_refusal_facts facts = plain;

	facts.sys_ptrace = 1;
	facts.target_uid = 33;
	facts.files_refused = 1;
	must_say(&facts, MU_ERR_NO_PERMISSION, "SELinux"); /* it was ptrace */
	facts.error = EACCES;
	must_say(&facts, MU_ERR_NO_PERMISSION, "belong to user 33; give us");
	facts = plain;
	facts.sys_ptrace = 0;
	facts.more_rights = 1;
	must_say(&facts, MU_ERR_NO_PERMISSION, "capabilities that we have not");
	facts.other_groups = 1;
	must_say(&facts, MU_ERR_NO_PERMISSION, "other group ids;");
	facts.sys_ptrace = 1; /* then it was neither */
	must_say(&facts, MU_ERR_NO_PERMISSION, "SELinux");
}

TEST(seccomp)
{
	struct mu_refusal_facts facts = plain;

	facts.call_refused = true;
	facts.probe_error = ENOSYS;
	facts.error = ENOSYS;
	must_say(&facts, MU_ERR_PTRACE_SECCOMP, "seccomp");
	facts.yama_scope = 1;
	facts.dumpable = 0;
	must_say(&facts, MU_ERR_PTRACE_SECCOMP, "error 38");
}

TEST(longest_words)
{
	struct mu_refusal_facts facts = plain;
	int scope;

	facts.pid = facts.tid = facts.tracer = 4194304;
	facts.uid = 2000000000;
	facts.target_uid = 2000000001;
	memset(facts.tracer_name, 'n', 15);
	must_say(&facts, MU_ERR_ALREADY_TRACED, "detach that");
	facts.tracer = 0;
	must_say(&facts, MU_ERR_NO_PERMISSION, "run as that user");
	facts.target_uid = facts.uid;
	for (scope = 1; scope <= 3; scope++) {
		facts.yama_scope = scope;
		must_say(&facts, MU_ERR_PTRACE_YAMA, "ptrace_scope");
	}
	facts.yama_scope = 0;
	must_say(&facts, MU_ERR_NO_PERMISSION, "namespace");
	facts.dumpable = 0;
	must_say(&facts, MU_ERR_NOT_DUMPABLE, "run as root");
}

TEST(deadly)
{
	struct mu_why why = { .text = "" };

	ck_assert_int_eq(mu_refusal_by_sigsys(&why), MU_ERR_PTRACE_SECCOMP);
	ck_assert_ptr_nonnull(strstr(why.text, "kills"));
	ck_assert_uint_lt(strlen(why.text), 150);
}
