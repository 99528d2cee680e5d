#ifndef MU_ARCH_X86_64_SIGNAL_FRAME_H
#define MU_ARCH_X86_64_SIGNAL_FRAME_H

#include "mu/arch/registers.h"
#include "mu/cpuid.h"

#define MU_FXSAVE_BYTES 512
#define MU_FXSAVE_USED 416 /* later bytes are reserved or for software */

/*
 * FP_XSTATE_MAGIC1 in the bytes that FXSAVE leaves to software says that an
 * XSAVE area follows (struct _fpx_sw_bytes, asm/sigcontext.h).
 */
#define MU_FRAME_XSAVE_MAGIC 0x46505853u
#define MU_FRAME_XSAVE_AT 464

/*
 * XSTATE_BV, the first word of the header (Intel SDM volume 1, 13.4.2): a
 * component whose bit is clear is in its initial state, whatever its bytes say.
 * The kernel does not write these bytes of a frame, so they hold older contents
 * of the stack: seen where AMX's TILECFG is.
 */
#define MU_FRAME_XSTATE_BV_AT 512

/*
 * Index in a frame of each word of NT_PRSTATUS; -1 if the frame does not have
 * it or the code below reads it elsewhere.
 */
static const signed char mu_frame_from[MU_PRSTATUS_WORDS] = { REG_R15, REG_R14,
	REG_R13, REG_R12, REG_RBP, REG_RBX, REG_R11, REG_R10, REG_R9, REG_R8,
	REG_RAX, REG_RCX, REG_RDX, REG_RSI, REG_RDI, -1, REG_RIP, -1, REG_EFL,
	REG_RSP, -1, -1, -1, -1, -1, -1, -1 };

/*
 * A system call, not a read of tcbhead_t: a task that was started without
 * CLONE_SETTLS and never set an fs base has 0 there.
 */
static inline void
mu_frame_bases(uintptr_t bases[MU_FRAME_BASES])
{
	mu_sys2(SYS_arch_prctl, 0x1003 /* ARCH_GET_FS */, (long)&bases[0]);
	mu_sys2(SYS_arch_prctl, 0x1004 /* ARCH_GET_GS */, (long)&bases[1]);
}

static inline void
mu_frame_general(const ucontext_t *frame, const uintptr_t bases[MU_FRAME_BASES],
    uintptr_t out[MU_PRSTATUS_WORDS])
{
	unsigned i;

	for (i = 0; i < MU_PRSTATUS_WORDS; i++)
		out[i] = mu_frame_from[i] < 0
		    ? 0
		    : (uintptr_t)
			  frame->uc_mcontext.gregs[(int)mu_frame_from[i]];
	out[MU_REG_FS_BASE] = bases[0];
	out[MU_REG_GS_BASE] = bases[1];
}

/*
 * XSAVE's components from the third on. The gaps between them are never
 * written: in a frame they hold older contents of the stack.
 */
#define MU_FRAME_PARTS 32

/*
 * XSAVE writes the first four of PKRU's eight bytes (Intel SDM volume 1,
 * 13.5.7).
 */
#define MU_FRAME_PKRU 9
#define MU_FRAME_PKRU_BYTES 4

struct mu_frame_layout {
	uint32_t at[MU_FRAME_PARTS], size[MU_FRAME_PARTS]; /* by bit of XCR0 */
};

static inline void
mu_frame_layout_read(struct mu_frame_layout *layout)
{
	unsigned i, eax, ebx, ecx, edx;

	memset(layout, 0, sizeof(*layout));
	for (i = 2; i < MU_FRAME_PARTS; i++) {
		if (!__get_cpuid_count(0xd, i, &eax, &ebx, &ecx, &edx))
			break;
		/*
		 * Offset 0: this CPU does not have the component, or only the
		 * kernel uses it.
		 */
		layout->at[i] = ebx;
		layout->size[i] = ebx == 0 ? 0 : eax;
	}
	if (layout->size[MU_FRAME_PKRU] > MU_FRAME_PKRU_BYTES)
		layout->size[MU_FRAME_PKRU] = MU_FRAME_PKRU_BYTES;
}

static inline size_t
mu_frame_vector(const ucontext_t *frame, const struct mu_frame_layout *layout,
    void *out, size_t max)
{
	const char *area = (const char *)frame->uc_mcontext.fpregs;
	size_t bytes = MU_FXSAVE_BYTES;
	uint32_t magic, size, i;
	uint64_t features, used;

	if (area == NULL || max < MU_FXSAVE_BYTES)
		return 0;
	memcpy(&magic, area + MU_FRAME_XSAVE_AT, sizeof(magic));
	memcpy(&features, area + MU_FRAME_XSAVE_AT + 8, sizeof(features));
	memcpy(&size, area + MU_FRAME_XSAVE_AT + 16, sizeof(size));
	if (magic != MU_FRAME_XSAVE_MAGIC)
		features = 0;
	else if (size > MU_FXSAVE_BYTES)
		bytes = size < max ? size : max;
	if (bytes >= MU_FRAME_XSTATE_BV_AT + sizeof(used)) {
		memcpy(&used, area + MU_FRAME_XSTATE_BV_AT, sizeof(used));
		features &= used;
	}
	memset(out, 0, bytes);
	memcpy(out, area, MU_FXSAVE_USED);
	for (i = 2; i < MU_FRAME_PARTS; i++)
		if ((features >> i & 1) != 0 && layout->at[i] < bytes &&
		    layout->size[i] <= bytes - layout->at[i])
			memcpy((char *)out + layout->at[i],
			    area + layout->at[i], layout->size[i]);
	return bytes;
}

#endif
