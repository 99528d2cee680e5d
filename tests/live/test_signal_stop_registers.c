/*
 * The registers of a thread stopped by signal, from the frame that the kernel
 * made for the handler: each word at its place.
 */
#include "tests/support/suite.h"

#if defined(__x86_64__)

#include "tests/support/filled_registers.h"

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
		mu_register_name(&text, stop_snap.places[i]);
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
	/* No magic: what FXSAVE writes, and nothing behind it. */
	ck_assert_uint_eq(vector_of(&frame, out, sizeof(out)), 512);
	ck_assert_int_eq(memcmp(out, area, 416), 0);
	for (i = 416 / 8; i < 512 / 8; i++)
		ck_assert_uint_eq(out[i], 0);
	ck_assert_uint_eq(out[512 / 8], 0x5555555555555555);
	ck_assert_uint_eq(vector_of(&frame, out, 511), 0);
	/* It says more than there is room for. */
	memcpy((char *)area + MU_FRAME_XSAVE_AT, &magic, 4);
	memcpy((char *)area + MU_FRAME_XSAVE_AT + 8, &features, 8);
	memcpy((char *)area + MU_FRAME_XSAVE_AT + 16, &size, 4);
	ck_assert_uint_eq(vector_of(&frame, out, 600), 600);
	ck_assert_uint_eq(out[600 / 8], 0x5555555555555555);
	/* Less than FXSAVE writes. */
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

#else

int
main(void)
{
	printf("SKIPPED: registers are planted on x86-64 only\n");
	return 77;
}

#endif
