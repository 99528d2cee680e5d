/*
 * Roots: registers of threads that spin or were interrupted, the red zone of a
 * leaf function (both written for x86-64), jmp_bufs, and stacks of signal
 * handlers.
 */
#include <semaphore.h>
#include <setjmp.h>
#include <sys/auxv.h>
#include <ucontext.h>

#include "tests/support/environments/environment_filters.h"
#include "tests/support/live.h"
#include "tests/support/pass/live_mappings.h"
#include "tests/support/suite.h"

#if defined(__x86_64__)

/*
 * SPIN(name, set, clear): a leaf function that has the address in one place
 * only. It turns around until *go is 1, empties the place, and again until 2.
 * rdi = hidden, rsi = &ready, rdx = &go.
 */
#define SPIN(name, set, clear)                                             \
	void name(uintptr_t hidden, int *ready, int *go);                  \
	__asm__(".text\n" #name ":\n\t"                                    \
		"pushq %rbx\n\tpushq %rbp\n\tpushq %r12\n\tpushq %r13\n\t" \
		"pushq %r14\n\tpushq %r15\n\t"                             \
		"notq %rdi\n\t" set "\n\t"                                 \
		"xorl %edi, %edi\n\tmovl $1, (%rsi)\n"                     \
		"1:\tpause\n\tcmpl $1, (%rdx)\n\tjb 1b\n\t" clear "\n\t"   \
		"movl $2, (%rsi)\n"                                        \
		"2:\tpause\n\tcmpl $2, (%rdx)\n\tjb 2b\n\t"                \
		"popq %r15\n\tpopq %r14\n\tpopq %r13\n\tpopq %r12\n\t"     \
		"popq %rbp\n\tpopq %rbx\n\tret\n")

#define SPIN_GENERAL(register)                          \
	SPIN(spin_##register, "movq %rdi, %" #register, \
	    "xorl %edi, %edi\n\tmovq %rdi, %" #register)

SPIN_GENERAL(rax);
SPIN_GENERAL(rbx);
SPIN_GENERAL(rcx);
SPIN_GENERAL(rbp);
SPIN_GENERAL(r8);
SPIN_GENERAL(r9);
SPIN_GENERAL(r10);
SPIN_GENERAL(r11);
SPIN_GENERAL(r12);
SPIN_GENERAL(r13);
SPIN_GENERAL(r14);
SPIN_GENERAL(r15);
SPIN(spin_rdi,
    "movq %rdi, %rax\n\txorl %edi, %edi\n\tmovl $1, (%rsi)\n\t"
    "movq %rax, %rdi\n\txorl %eax, %eax\n"
    "3:\tpause\n\tcmpl $1, (%rdx)\n\tjb 3b",
    "");
/*
 * The compiler's own use of these registers ends before the address is loaded.
 */
#define AWAIT_BY_RAX "3:\tpause\n\tcmpl $1, (%rax)\n\tjb 3b\n\t"
SPIN(spin_rsi,
    "movq %rsi, %rcx\n\tmovq %rdx, %rax\n\tmovq %rdi, %rsi\n\t"
    "xorl %edi, %edi\n\tmovl $1, (%rcx)\n" AWAIT_BY_RAX
    "movq %rcx, %rsi\n\txorl %ecx, %ecx",
    "");
SPIN(spin_rdx,
    "movq %rdx, %rax\n\tmovq %rdi, %rdx\n\txorl %edi, %edi\n\t"
    "movl $1, (%rsi)\n" AWAIT_BY_RAX "movq %rax, %rdx",
    "");
/* An offset of gs, as some programs keep their own thread data: gs:0 is it. */
SPIN(spin_gs_base, "wrgsbase %rdi", "xorl %edi, %edi\n\twrgsbase %rdi");
SPIN(spin_mm7, "movq %rdi, %mm7", "pxor %mm7, %mm7\n\temms");
SPIN(spin_xmm0, "movq %rdi, %xmm0", "pxor %xmm0, %xmm0");
SPIN(spin_xmm15_low, "movq %rdi, %xmm15", "pxor %xmm15, %xmm15");
SPIN(spin_xmm15_high, "movq %rdi, %xmm15\n\tpslldq $8, %xmm15",
    "pxor %xmm15, %xmm15");
SPIN(spin_ymm14_high,
    "vmovq %rdi, %xmm14\n\tvperm2f128 $0x08, %ymm14, %ymm14, %ymm14",
    "vpxor %xmm14, %xmm14, %xmm14");
SPIN(spin_ymm15_top,
    "vmovq %rdi, %xmm15\n\tvpslldq $8, %xmm15, %xmm15\n\t"
    "vperm2f128 $0x08, %ymm15, %ymm15, %ymm15",
    "vpxor %xmm15, %xmm15, %xmm15");
SPIN(spin_zmm0_top,
    "movl $0x80, %eax\n\tkmovw %eax, %k1\n\txorl %eax, %eax\n\t"
    "vpbroadcastq %rdi, %zmm0{%k1}{z}\n\tkxorw %k1, %k1, %k1",
    "vpxorq %zmm0, %zmm0, %zmm0\n\tvzeroupper");
SPIN(spin_zmm16_low, "vmovq %rdi, %xmm16",
    "vpxorq %zmm16, %zmm16, %zmm16\n\tvzeroupper");
SPIN(spin_zmm31_top,
    "movl $0x80, %eax\n\tkmovw %eax, %k1\n\txorl %eax, %eax\n\t"
    "vpbroadcastq %rdi, %zmm31{%k1}{z}\n\tkxorw %k1, %k1, %k1",
    "vpxorq %zmm31, %zmm31, %zmm31\n\tvzeroupper");
SPIN(spin_k7, "kmovq %rdi, %k7", "kxorq %k7, %k7, %k7");
SPIN(spin_zmm31, "vpbroadcastq %rdi, %zmm31",
    "vpxorq %zmm31, %zmm31, %zmm31\n\tvzeroupper");
/* The chunk's header, which only malloc has; elsewhere it is no reference. */
SPIN(spin_header, "subq $16, %rdi\n\tmovq %rdi, %r12",
    "xorl %edi, %edi\n\tmovq %rdi, %r12");
SPIN(spin_header_in_frame, "subq $16, %rdi\n\tpushq %rdi\n\tsubq $256, %rsp",
    "addq $256, %rsp\n\tpopq %rdi\n\txorl %edi, %edi\n\tpushq %rdi\n\t"
    "popq %rdi");
SPIN(spin_red_zone_first, "movq %rdi, -8(%rsp)", "movq $0, -8(%rsp)");
SPIN(spin_red_zone_last, "movq %rdi, -128(%rsp)", "movq $0, -128(%rsp)");
SPIN(spin_below_red_zone, "movq %rdi, -136(%rsp)", "movq $0, -136(%rsp)");

static const struct spin {
	const char *name;
	void (*spin)(uintptr_t hidden, int *ready, int *go);
	bool dead;         /* no place for a pointer */
	const char *needs; /* of the CPU */
} spins[] = {
	{ "rax", spin_rax, false, NULL },
	{ "rbx", spin_rbx, false, NULL },
	{ "rcx", spin_rcx, false, NULL },
	{ "rdx", spin_rdx, false, NULL },
	{ "rsi", spin_rsi, false, NULL },
	{ "rdi", spin_rdi, false, NULL },
	{ "rbp", spin_rbp, false, NULL },
	{ "r8", spin_r8, false, NULL },
	{ "r9", spin_r9, false, NULL },
	{ "r10", spin_r10, false, NULL },
	{ "r11", spin_r11, false, NULL },
	{ "r12", spin_r12, false, NULL },
	{ "r13", spin_r13, false, NULL },
	{ "r14", spin_r14, false, NULL },
	{ "r15", spin_r15, false, NULL },
	{ "mm7", spin_mm7, false, NULL },
	{ "xmm0", spin_xmm0, false, NULL },
	{ "xmm15, low half", spin_xmm15_low, false, NULL },
	{ "xmm15, high half", spin_xmm15_high, false, NULL },
	{ "ymm14, high half", spin_ymm14_high, false, "avx" },
	{ "ymm15, top word", spin_ymm15_top, false, "avx" },
	{ "zmm0, top word", spin_zmm0_top, false, "avx512f" },
	{ "zmm16, low word", spin_zmm16_low, false, "avx512f" },
	{ "zmm31, top word", spin_zmm31_top, false, "avx512f" },
	{ "zmm31", spin_zmm31, false, "avx512f" },
	{ "k7", spin_k7, false, "avx512bw" },
	{ "gs base", spin_gs_base, false, "fsgsbase" },
	{ "header of its chunk", spin_header, true, NULL },
	{ "header, in a frame", spin_header_in_frame, true, NULL },
	{ "red zone, first word", spin_red_zone_first, false, NULL },
	{ "red zone, last word", spin_red_zone_last, false, NULL },
	{ "below the red zone", spin_below_red_zone, true, NULL },
};

#define NUM_SPINS (sizeof(spins) / sizeof(*spins))

struct spinner {
	const struct spin *spin;
	uintptr_t hidden;
	int ready, go;
};

static bool
cpu_has(const char *feature)
{
	if (feature == NULL)
		return true;
	if (strcmp(feature, "avx") == 0)
		return __builtin_cpu_supports("avx");
	if (strcmp(feature, "avx512bw") == 0)
		return __builtin_cpu_supports("avx512bw");
	/* HWCAP2_FSGSBASE: the kernel allows it, too (Linux 5.9). */
	if (strcmp(feature, "fsgsbase") == 0)
		return (getauxval(AT_HWCAP2) & 2) != 0;
	return __builtin_cpu_supports("avx512f");
}

static void *
spinner_main(void *arg)
{
	struct spinner *spinner = arg;

	scrub();
	spinner->spin->spin(spinner->hidden, &spinner->ready, &spinner->go);
	return NULL;
}

static void
await_ready(struct spinner *spinner, int wanted)
{
	while (__atomic_load_n(&spinner->ready, __ATOMIC_SEQ_CST) < wanted)
		sched_yield();
}

TEST_LOOP(spinning_thread, 0, NUM_SPINS)
{
	static struct spinner spinner;
	const struct spin *spin = &spins[_i];
	pthread_t thread;

	if (!cpu_has(spin->needs)) {
		printf("SKIPPED: %s: the CPU has no %s\n", spin->name,
		    spin->needs);
		return;
	}
	spinner.spin = spin;
	spinner.hidden = block_new(72);
	EXPECT_LEAKS(1);
	ck_assert_int_eq(
	    pthread_create(&thread, NULL, spinner_main, &spinner), 0);
	await_ready(&spinner, 1);
	scrub();
	ck_assert_msg(ask(spin->dead) == spin->dead, "%s, set", spin->name);
	__atomic_store_n(&spinner.go, 1, __ATOMIC_SEQ_CST);
	await_ready(&spinner, 2);
	scrub();
	ck_assert_msg(ask_lost(spinner.hidden), "%s, cleared", spin->name);
	__atomic_store_n(&spinner.go, 2, __ATOMIC_SEQ_CST);
	pthread_join(thread, NULL);
}

static sem_t in_handler, leave_handler;

static void
stay_in_handler(int signo)
{
	(void)signo;
	scrub_registers();
	sem_post(&in_handler);
	while (sem_wait(&leave_handler) != 0)
		continue;
}

/* The registers of interrupted code are in the signal's frame. */
TEST(signal_frame)
{
	static struct spinner spinner;
	static const struct spin spin = { "r8", spin_r8, false, NULL };
	struct sigaction action = { .sa_handler = stay_in_handler };
	pthread_t thread;

	sem_init(&in_handler, 0, 0);
	sem_init(&leave_handler, 0, 0);
	sigaction(SIGUSR1, &action, NULL);
	spinner.spin = &spin;
	spinner.hidden = block_new(72);
	pthread_create(&thread, NULL, spinner_main, &spinner);
	await_ready(&spinner, 1);
	pthread_kill(thread, SIGUSR1);
	sem_wait(&in_handler);
	EXPECT_LEAKS(0);
	__atomic_store_n(&spinner.go, 1, __ATOMIC_SEQ_CST);
	sem_post(&leave_handler);
	await_ready(&spinner, 2);
	EXPECT_LOST(spinner.hidden);
	__atomic_store_n(&spinner.go, 2, __ATOMIC_SEQ_CST);
	pthread_join(thread, NULL);
}

/*
 * Call GetUnreachableMemory(info, 0) with the address in one register that a
 * callee preserves, and nowhere else. rdi = hidden, rsi = info, rdx = call.
 */
#define ASK_WITH(register)                                                                                                 \
	void ask_with_##register(uintptr_t hidden,                                                                         \
	    struct UnreachableMemoryInfo * info,                                                                           \
	    bool (*call)(struct UnreachableMemoryInfo *, size_t));                                                         \
	__asm__(                                                                                                           \
	    ".text\nask_with_" #register ":\n\t"                                                                           \
					 "pushq %" #register "\n\tnotq %rdi\n\t"                                           \
							     "movq %rdi, %" #register "\n\tmovq %rsi, %rdi\n\t"            \
										      "xorl %esi, %esi\n\tcallq *%rdx\n\t" \
										      "popq %" #register "\n\tret\n")

ASK_WITH(rbx);
ASK_WITH(rbp);
ASK_WITH(r12);
ASK_WITH(r13);
ASK_WITH(r14);
ASK_WITH(r15);

TEST_LOOP(callee_saved_register_of_the_caller, 0, 6)
{
	static void (*const asks[])(uintptr_t, struct UnreachableMemoryInfo *,
	    bool (*)(struct UnreachableMemoryInfo *, size_t)) = {
		ask_with_rbx,
		ask_with_rbp,
		ask_with_r12,
		ask_with_r13,
		ask_with_r14,
		ask_with_r15,
	};
	struct UnreachableMemoryInfo info = { 0 };
	uintptr_t block = block_new(72);

	EXPECT_LEAKS(1);
	scrub();
	asks[_i](block, &info, GetUnreachableMemory);
	ck_assert_int_eq(info.status, MEMUNREACHABLE_COMPLETE);
	ck_assert_uint_eq(info.num_leaks, 0);
	EXPECT_LOST(block);
}

#endif /* __x86_64__ */

/*
 * Where pointers live, or hide: what setjmp() saved. glibc encodes the stack
 * pointer, the frame pointer and the return address (PTR_MANGLE in
 * sysdeps/x86_64/setjmp.S: XOR with a random word, then a rotation), so that
 * a pointer which is in rbp only cannot be seen in a jmp_buf, nor can the
 * stack that a jmp_buf leads back to. getcontext() encodes nothing. Written
 * for x86-64.
 */

#if defined(__x86_64__)

/*
 * Call SAVE(place) with the address in one register that a callee preserves.
 * rdi = hidden, rsi = place, rdx = save. The place is never jumped to.
 */
#define SAVE_WITH(register)                                                                                      \
	void save_with_##register(                                                                               \
	    uintptr_t hidden, void *place, int (*save)(void *));                                                 \
	__asm__(                                                                                                 \
	    ".text\nsave_with_" #register ":\n\t"                                                                \
					  "pushq %" #register "\n\tnotq %rdi\n\t"                                \
							      "movq %rdi, %" #register "\n\tmovq %rsi, %rdi\n\t" \
										       "callq *%rdx\n\tpopq %" #register "\n\tret\n")

SAVE_WITH(rbx);
SAVE_WITH(rbp);
SAVE_WITH(r12);
SAVE_WITH(r13);
SAVE_WITH(r14);
SAVE_WITH(r15);

/* The same with rsp in the middle of a block of 8 KiB. */
void save_with_rsp(uintptr_t hidden, void *place, int (*save)(void *));
__asm__(".text\nsave_with_rsp:\n\t"
	"pushq %rbp\n\tmovq %rsp, %rbp\n\tnotq %rdi\n\t"
	"leaq 4096(%rdi), %rsp\n\tmovq %rsi, %rdi\n\tcallq *%rdx\n\t"
	"movq %rbp, %rsp\n\tpopq %rbp\n\tret\n");

static const struct {
	void (*with)(uintptr_t hidden, void *place, int (*save)(void *));
	bool encoded; /* in a jmp_buf */
} saves[] = {
	{ save_with_rbx, false },
	{ save_with_r12, false },
	{ save_with_r13, false },
	{ save_with_r14, false },
	{ save_with_r15, false },
	{ save_with_rbp, true },
	{ save_with_rsp, true },
};

#define NUM_SAVES ((int)(sizeof(saves) / sizeof(saves[0])))

int _setjmp(jmp_buf place);

static ucontext_t context;
static jmp_buf buffer;

/* PLACE, SIZE bytes, is what SAVE fills. */
static void
expect_saved(int i, void *place, size_t size, int (*save)(void *), bool encoded)
{
	uintptr_t block = block_new(8192);

	EXPECT_LOST(block);
	saves[i].with(block, place, save);
	if (encoded)
		EXPECT_LOST(block);
	else
		EXPECT_LEAKS(0);
	memset(place, 0, size);
	EXPECT_LOST(block);
	block_free(block);
	EXPECT_LEAKS(0);
}

TEST_LOOP(jmp_buf_in_data, 0, NUM_SAVES)
{
	expect_saved(_i, buffer, sizeof(buffer), (int (*)(void *))_setjmp,
	    saves[_i].encoded);
}

TEST_LOOP(jmp_buf_in_frame, 0, NUM_SAVES)
{
	jmp_buf local;

	expect_saved(_i, local, sizeof(local), (int (*)(void *))_setjmp,
	    saves[_i].encoded);
}

static void *holder;

TEST_LOOP(jmp_buf_in_block, 0, NUM_SAVES)
{
	holder = calloc(1, sizeof(jmp_buf));
	expect_saved(_i, holder, sizeof(jmp_buf), (int (*)(void *))_setjmp,
	    saves[_i].encoded);
}

/* rdi, its own argument, is saved too: the address of the context. */
TEST_LOOP(ucontext, 0, NUM_SAVES)
{
	expect_saved(
	    _i, &context, sizeof(context), (int (*)(void *))getcontext, false);
}

#endif /* __x86_64__ */

/*
 * Where pointers live: alternate signal stacks, whose only address the kernel
 * may have. The block is in use, and what is written in it counts.
 */

#define STACK 47816

static pthread_barrier_t barrier;

LIVE void
set_alternate(uintptr_t hidden, uintptr_t inside)
{
	stack_t stack = { .ss_size = STACK };

	put((char *)mu_reveal(hidden) + 256, inside);
	put(&stack.ss_sp, hidden);
	ck_assert_int_eq(sigaltstack(&stack, NULL), 0);
	drop(&stack.ss_sp);
}

LIVE void
set_none(void)
{
	stack_t stack = { .ss_flags = SS_DISABLE };

	ck_assert_int_eq(sigaltstack(&stack, NULL), 0);
}

struct player {
	uintptr_t stack, inside;
	bool busy, stop;
	pid_t tid;
	unsigned long woken; /* from a sleep, too early */
	pthread_t thread;
};

#define PLAYERS 5

static struct player players[PLAYERS];
static struct timespec nap = { 0, 1000000 };

/* First with an alternate stack, and then without one. */
static void *
play(void *arg)
{
	struct player *player = arg;

	player->tid = gettid();
	set_alternate(player->stack, player->inside);
	scrub();
	pthread_barrier_wait(&barrier);
	while (!__atomic_load_n(&player->stop, __ATOMIC_ACQUIRE))
		if (!player->busy)
			player->woken += nanosleep(&nap, NULL) != 0;
	set_none();
	scrub();
	pthread_barrier_wait(&barrier);
	pthread_barrier_wait(&barrier);
	return NULL;
}

/* The thread that asks. */
TEST(own)
{
	uintptr_t stack = block_new(STACK), inside = block_new(72);

	set_alternate(stack, inside);
	EXPECT_LEAKS(0);
	set_none();
	EXPECT_LEAKS(2);
}

/* The first BUSY of the threads compute, the others sleep. */
LIVE void
begin_all(size_t busy)
{
	size_t i;

	pthread_barrier_init(&barrier, NULL, PLAYERS + 1);
	for (i = 0; i < PLAYERS; i++) {
		players[i].stack = block_new(STACK);
		players[i].inside = block_new(72);
		players[i].busy = i < busy;
		ck_assert_int_eq(
		    pthread_create(&players[i].thread, NULL, play, &players[i]),
		    0);
	}
	pthread_barrier_wait(&barrier);
}

LIVE void
stop_all(void)
{
	size_t i;

	for (i = 0; i < PLAYERS; i++)
		__atomic_store_n(&players[i].stop, true, __ATOMIC_RELEASE);
	pthread_barrier_wait(&barrier);
}

/* WOKEN: sleeps may end too early. */
LIVE void
join_all(bool woken)
{
	size_t i;

	pthread_barrier_wait(&barrier);
	for (i = 0; i < PLAYERS; i++) {
		pthread_join(players[i].thread, NULL);
		ck_assert_msg(woken || players[i].woken == 0,
		    "%lu sleeps ended too early", players[i].woken);
	}
}

LIVE bool
is_by_signal(void)
{
	const char *stop = getenv("TESTS_STOP");

	return stop != NULL && atoi(stop) == MEMUNREACHABLE_STOP_SIGNAL;
}

LIVE void
play_all(size_t busy)
{
	uintptr_t lost = block_new(STACK);
	int i;

	begin_all(busy);
	for (i = 0; i < 10; i++)
		EXPECT_LOST(lost);
	stop_all();
	EXPECT_LEAKS(1 + 2 * PLAYERS);
	join_all(is_by_signal());
}

/* _i: threads that sleep, threads that compute. */
TEST_LOOP(of_threads, 0, 2)
{
	if (suite_is_filtered()) {
		printf("SKIPPED: of_threads: those that sleep are not asked for"
		       " their alternate stacks under a seccomp filter\n");
		return;
	}
	play_all(_i == 1 ? 2 : 0);
}

LIVE bool
begin_filter(void)
{
	static const int calls[] = { SYS_acct };

	if (getenv("TESTS_STOP") != NULL) {
		printf("SKIPPED: under_seccomp: stopped in one way only\n");
		return false;
	}
	ck_assert(filter_install(calls, 1, SECCOMP_RET_KILL_PROCESS));
	return true;
}

/* A filter could kill a thread that is made to ask: its frame tells it. */
TEST(under_seccomp)
{
	if (begin_filter())
		play_all(PLAYERS);
}

/*
 * Sleeps end early: the filter of a program may kill for restart_syscall(),
 * with which the kernel would continue them.
 */
TEST(asleep_under_seccomp)
{
	struct UnreachableMemoryInfo info = { 0 };
	uintptr_t lost;
	size_t i;

	if (!begin_filter())
		return;
	/*
	 * On a busy machine a thread may be runnable for a long time between
	 * two sleeps.
	 */
	nap = (struct timespec) { .tv_sec = 2 };
	lost = block_new(STACK);
	begin_all(0);
	for (i = 0; i < PLAYERS; i++)
		while (thread_state(players[i].tid) != 'S')
			usleep(1000);
	scrub();
	GetUnreachableMemory(&info, 20);
	ck_assert_int_eq(info.status, MEMUNREACHABLE_PARTIAL);
	ck_assert_ptr_nonnull(strstr(info.reason, "alternate signal stacks"));
	ck_assert_int_eq(info.stop, MEMUNREACHABLE_STOP_PTRACE);
	FreeUnreachableMemoryInfo(&info);
	stop_all();
	join_all(true);
	block_free(lost);
}
