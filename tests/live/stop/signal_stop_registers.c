/*
 * The registers of a thread that was stopped by signal, from the frame that the
 * kernel made for the handler: each word at its place, and the same ones in the
 * same places that ptrace reads.
 */
#include <sys/prctl.h>
#include <ucontext.h>

#include "mu/arch/register_names.h"
#include "tests/support/stop/captured.h"
#include "tests/support/stop/signal_stop.h"
#include "tests/support/suite.h"

#if defined(__x86_64__)

#define PLANT ((uintptr_t)0x7abc12345000) /* + 0x10 a word */
#define VECTOR_WORDS 8                    /* of a zmm register */

/*
 * A thread that holds known words in all of its registers, and not in memory
 * that changes. For the code below:
 */
__attribute__((visibility("hidden"))) int hold_ready, hold_quit;
__attribute__((visibility("hidden"))) uintptr_t hold_general[15];
__attribute__((visibility("hidden"))) uintptr_t hold_vectors[32][VECTOR_WORDS]
    __attribute__((aligned(64)));

void hold_xmm(void);
void hold_ymm(void);
void hold_zmm(void);

#define HOLD(name, load)                                               \
	__asm__(".text\n" name ":\n\t"                                 \
		"push %rbx\n\tpush %rbp\n\tpush %r12\n\tpush %r13\n\t" \
		"push %r14\n\tpush %r15\n\t" load                      \
		"mov hold_general+0(%rip), %r15\n\t"                   \
		"mov hold_general+8(%rip), %r14\n\t"                   \
		"mov hold_general+16(%rip), %r13\n\t"                  \
		"mov hold_general+24(%rip), %r12\n\t"                  \
		"mov hold_general+32(%rip), %rbp\n\t"                  \
		"mov hold_general+40(%rip), %rbx\n\t"                  \
		"mov hold_general+48(%rip), %r11\n\t"                  \
		"mov hold_general+56(%rip), %r10\n\t"                  \
		"mov hold_general+64(%rip), %r9\n\t"                   \
		"mov hold_general+72(%rip), %r8\n\t"                   \
		"mov hold_general+80(%rip), %rax\n\t"                  \
		"mov hold_general+88(%rip), %rcx\n\t"                  \
		"mov hold_general+96(%rip), %rdx\n\t"                  \
		"mov hold_general+104(%rip), %rsi\n\t"                 \
		"mov hold_general+112(%rip), %rdi\n\t"                 \
		"movl $1, hold_ready(%rip)\n"                          \
		"1:\tpause\n\t"                                        \
		"cmpl $0, hold_quit(%rip)\n\t"                         \
		"je 1b\n\t"                                            \
		"pop %r15\n\tpop %r14\n\tpop %r13\n\tpop %r12\n\t"     \
		"pop %rbp\n\tpop %rbx\n\tret\n")

#define SIXTEEN "0,1,2,3,4,5,6,7,8,9,10,11,12,13,14,15"

HOLD("hold_xmm",
    ".irp i," SIXTEEN "\n\t"
    "movdqa hold_vectors+\\i*64(%rip), %xmm\\i\n\t.endr\n\t");
HOLD("hold_ymm",
    ".irp i," SIXTEEN "\n\t"
    "vmovdqa hold_vectors+\\i*64(%rip), %ymm\\i\n\t.endr\n\t");
HOLD("hold_zmm",
    ".irp i," SIXTEEN ",16,17,18,19,20,21,22,23,24,25,26,27,28,29,30,31\n\t"
    "vmovdqa64 hold_vectors+\\i*64(%rip), %zmm\\i\n\t.endr\n\t");

static const struct kind {
	const char *name;
	void (*hold)(void);
	unsigned registers, words;
} kinds[] = {
	{ "sse2", hold_xmm, 16, 2 },
	{ "avx", hold_ymm, 16, 4 },
	{ "avx512f", hold_zmm, 32, 8 },
};

static bool
has(const struct kind *kind)
{
	bool yes = kind->words == 2 ||
	    (kind->words == 4 && __builtin_cpu_supports("avx")) ||
	    (kind->words == 8 && __builtin_cpu_supports("avx512f"));

	if (!yes)
		printf("SKIPPED: the CPU has no %s\n", kind->name);
	return yes;
}

static uintptr_t
vector_plant(unsigned reg, unsigned word)
{
	return PLANT + 0x1000 + 0x10 * (reg * VECTOR_WORDS + word);
}

static int holder_tid;

static void *
holder(void *arg)
{
	const struct kind *kind = arg;

	syscall(SYS_arch_prctl, 0x1001 /* ARCH_SET_GS */, PLANT + 0x800);
	holder_tid = mu_sys_gettid();
	kind->hold();
	syscall(SYS_arch_prctl, 0x1001, 0);
	return NULL;
}

static pthread_t
start_holder(void *(*body)(void *), const struct kind *kind)
{
	pthread_t thread;
	unsigned i, k;

	for (i = 0; i < 15; i++)
		hold_general[i] = PLANT + 0x10 * i;
	for (i = 0; i < 32; i++)
		for (k = 0; k < VECTOR_WORDS; k++)
			hold_vectors[i][k] = vector_plant(i, k);
	thread = stop_spawn(body, (void *)(uintptr_t)kind);
	stop_await(&hold_ready, 1);
	return thread;
}

static void
end_holder(pthread_t thread)
{
	stop_set(&hold_quit, 1);
	ck_assert_int_eq(pthread_join(thread, NULL), 0);
}

/* The values that another process found, in order. */
struct found {
	size_t count;
	enum mu_status status;
	uintptr_t sp, tp;
	uintptr_t words[4096];
	uint16_t places[4096];
};

/*
 * The thread goes round a loop of three instructions, and XSAVE's header and
 * what software may put before it are no registers.
 */
static bool
is_left_out(unsigned place)
{
	unsigned byte = (place & ~(unsigned)MU_REGNO_SET) * sizeof(uintptr_t);

	if ((place & MU_REGNO_SET) == MU_REGNO_GENERAL)
		return strcmp(mu_general_name(place), "rip") == 0;
	return byte >= 416 && byte < 576;
}

static void
note(struct found *found, pid_t tid)
{
	const struct mu_thread *thread = NULL;
	size_t i, at;

	for (i = 0; i < stop_snap.num_threads; i++)
		if (stop_snap.threads[i].tid == tid)
			thread = &stop_snap.threads[i];
	ck_assert_ptr_nonnull(thread);
	found->sp = thread->sp;
	found->tp = thread->tp;
	for (i = 0; i < thread->num_values; i++) {
		at = thread->first_value + i;
		if (is_left_out(stop_snap.regnos[at]))
			continue;
		found->words[found->count] = stop_snap.values[at];
		found->places[found->count++] = stop_snap.regnos[at];
	}
}

static void
look_by_ptrace(struct found *found, pid_t pid, pid_t tid)
{
	struct mu_threads threads = { 0 };

	memset(&stop_snap, 0, sizeof(stop_snap));
	found->status = stop_threads(&threads, pid, 0, &stop_arena,
	    mu_sys_now_ns() + PATIENCE_NS, NULL, &stop_why);
	if (found->status == MU_OK)
		found->status = mu_snapshot_live(
		    &stop_snap, &threads, NULL, &stop_arena, &stop_why);
	mu_threads_release(&threads);
	if (found->status == MU_OK)
		note(found, tid);
	_exit(0);
}

static struct found *
found_by_ptrace(pid_t tid)
{
	struct found *found = mmap(NULL, sizeof(*found), PROT_READ | PROT_WRITE,
	    MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	pid_t pid = getpid(), child;
	int status, go[2];
	char c;

	ck_assert_ptr_ne(found, MAP_FAILED);
	found->status = MU_ERR_HELPER_DIED;
	ck_assert_int_eq(pipe(go), 0);
	child = fork();
	if (child == 0) {
		ck_assert_int_eq(read(go[0], &c, 1), 1);
		look_by_ptrace(found, pid, tid);
	}
	prctl(0x59616d61 /* PR_SET_PTRACER */, child);
	ck_assert_int_eq(write(go[1], "x", 1), 1);
	ck_assert_int_eq(waitpid(child, &status, 0), child);
	ck_assert_int_eq(status, 0);
	return found;
}

/* A busy stack below the thread's: words of it must not show as registers. */
static void
dirty_stack(void)
{
	volatile uintptr_t words[2048];
	size_t i;

	for (i = 0; i < 2048; i++)
		words[i] = PLANT + 0x100000 + 8 * i;
	__asm__ volatile("" : : "r"(words) : "memory");
}

static void *
dirty_holder(void *arg)
{
	dirty_stack();
	return holder(arg);
}

TEST_LOOP(same_as_ptrace, 0, 3)
{
	static struct found ours;
	const struct kind *kind = &kinds[_i];
	struct found *theirs;
	pthread_t thread;
	unsigned i;

	if (!has(kind))
		return;
	thread = start_holder(dirty_holder, kind);
	theirs = found_by_ptrace(holder_tid);
	if (theirs->status != MU_OK) {
		printf("SKIPPED: ptrace is refused here\n");
		end_holder(thread);
		return;
	}
	must_signal_stop();
	take_stopped();
	release_all();
	note(&ours, holder_tid);
	ck_assert_uint_gt(ours.count, 15 + kind->registers * kind->words);
	ck_assert_uint_eq(ours.sp, theirs->sp);
	ck_assert_uint_eq(ours.tp, theirs->tp);
	for (i = 0; i < ours.count && i < theirs->count; i++) {
		ck_assert_uint_eq(ours.places[i], theirs->places[i]);
		ck_assert_uint_eq(ours.words[i], theirs->words[i]);
	}
	ck_assert_uint_eq(ours.count, theirs->count);
	end_holder(thread);
}

/* WORD is in the register called NAME, and in no other place. */
static void
must_be_in(const char *name, uintptr_t word)
{
	char found[64];
	size_t i, count = 0;

	for (i = 0; i < stop_snap.num_values; i++) {
		struct mu_text text = { found, sizeof(found), 0 };

		if (stop_snap.values[i] != word)
			continue;
		count++;
		mu_register_name(&text, stop_snap.regnos[i]);
		ck_assert_str_eq(found, name);
	}
	ck_assert_msg(count == 1, "%s is there %zu times", name, count);
}

TEST_LOOP(planted_words, 0, 3)
{
	const struct kind *kind = &kinds[_i];
	char name[64];
	pthread_t thread;
	unsigned i, k;

	if (!has(kind))
		return;
	thread = start_holder(holder, kind);
	must_signal_stop();
	take_stopped();
	ck_assert_uint_eq(stop_snap.num_threads, 1);
	ck_assert_uint_eq(stop_snap.threads[0].tp, (uintptr_t)thread);
	for (i = 0; i < 15; i++)
		must_be_in(mu_general_name(i), PLANT + 0x10 * i);
	must_be_in("gs_base", PLANT + 0x800);
	for (i = 0; i < kind->registers; i++)
		for (k = 0; k < kind->words; k++) {
			snprintf(name, sizeof(name), "%s%u word %u",
			    i > 15      ? "zmm"
				: k < 2 ? "xmm"
				: k < 4 ? "ymm"
					: "zmm",
			    i, k);
			must_be_in(name, vector_plant(i, k));
		}
	release_all();
	end_holder(thread);
}

/* Frames as kernels without XSAVE make them, and worse ones. */
static size_t
vector_of(ucontext_t *frame, uintptr_t *out, size_t max)
{
	struct mu_frame_layout layout;

	mu_frame_layout_read(&layout);
	memset(out, 0x55, max);
	return mu_frame_vector(frame, &layout, out, max);
}

TEST(odd_frames)
{
	static uintptr_t area[1024], out[1024];
	ucontext_t frame = { 0 };
	uint32_t magic = MU_FRAME_XSAVE_MAGIC, size = sizeof(area);
	uint64_t features = ~0ull;
	size_t i;

	ck_assert_uint_eq(vector_of(&frame, out, sizeof(out)), 0);
	for (i = 0; i < 1024; i++)
		area[i] = PLANT + 0x10 * i;
	frame.uc_mcontext.fpregs = (void *)area;
	/* Without the magic number only the area of FXSAVE counts. */
	ck_assert_uint_eq(vector_of(&frame, out, sizeof(out)), 512);
	ck_assert_int_eq(memcmp(out, area, 416), 0);
	for (i = 416 / 8; i < 512 / 8; i++)
		ck_assert_uint_eq(out[i], 0);
	ck_assert_uint_eq(out[512 / 8], 0x5555555555555555);
	ck_assert_uint_eq(vector_of(&frame, out, 511), 0);
	/* The size in it exceeds the room. */
	memcpy((char *)area + MU_FRAME_XSAVE_AT, &magic, 4);
	memcpy((char *)area + MU_FRAME_XSAVE_AT + 8, &features, 8);
	memcpy((char *)area + MU_FRAME_XSAVE_AT + 16, &size, 4);
	ck_assert_uint_eq(vector_of(&frame, out, 600), 600);
	ck_assert_uint_eq(out[600 / 8], 0x5555555555555555);
	/* The size is smaller than the area of FXSAVE. */
	size = 100;
	memcpy((char *)area + MU_FRAME_XSAVE_AT + 16, &size, 4);
	ck_assert_uint_eq(vector_of(&frame, out, sizeof(out)), 512);
}

/*
 * A register that is as it was at first is not written into the frame, where
 * an old word of the stack may lie: all but opmask here.
 */
TEST(unused_parts)
{
	static uintptr_t area[1024], out[1024];
	ucontext_t frame = { 0 };
	uint32_t magic = MU_FRAME_XSAVE_MAGIC, size = sizeof(area);
	uint64_t features = ~0ull, used = 3 | 1 << 5;
	struct mu_frame_layout layout;
	size_t i, first, end;

	mu_frame_layout_read(&layout);
	for (i = 0; i < 1024; i++)
		area[i] = PLANT + 0x10 * i;
	frame.uc_mcontext.fpregs = (void *)area;
	memcpy((char *)area + MU_FRAME_XSAVE_AT, &magic, 4);
	memcpy((char *)area + MU_FRAME_XSAVE_AT + 8, &features, 8);
	memcpy((char *)area + MU_FRAME_XSAVE_AT + 16, &size, 4);
	memcpy((char *)area + MU_FRAME_XSTATE_BV_AT, &used, 8);
	ck_assert_uint_eq(vector_of(&frame, out, sizeof(out)), sizeof(out));
	ck_assert_int_eq(memcmp(out, area, 416), 0);
	first = layout.at[5] / 8;
	end = first + layout.size[5] / 8;
	for (i = 416 / 8; i < 1024; i++)
		ck_assert_uint_eq(out[i], i >= first && i < end ? area[i] : 0);
}

SUITE(.setup = stop_setup, .teardown = stop_teardown);

#endif
