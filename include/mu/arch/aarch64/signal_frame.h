#ifndef MU_ARCH_AARCH64_SIGNAL_FRAME_H
#define MU_ARCH_AARCH64_SIGNAL_FRAME_H

#define MU_FRAME_FPSIMD_MAGIC 0x46508001u
#define MU_FRAME_RECORDS 4096

static inline void
mu_frame_bases(uintptr_t bases[MU_FRAME_BASES])
{
	bases[0] = mu_arch_tp();
	bases[1] = 0;
}

static inline void
mu_frame_general(const ucontext_t *frame, const uintptr_t bases[MU_FRAME_BASES],
    uintptr_t out[MU_PRSTATUS_WORDS])
{
	(void)bases;
	memcpy(out, frame->uc_mcontext.regs, MU_REG_SP * sizeof(*out));
	out[MU_REG_SP] = frame->uc_mcontext.sp;
	out[MU_REG_PC] = frame->uc_mcontext.pc;
	out[MU_REG_PSTATE] = frame->uc_mcontext.pstate;
}

struct mu_frame_layout {
	char none;
};

static inline void
mu_frame_layout_read(struct mu_frame_layout *layout)
{
	layout->none = 0;
}

/* struct fpsimd_context: magic, size, fpsr, fpcr, v0..v31. */
static inline size_t
mu_frame_vector(const ucontext_t *frame, const struct mu_frame_layout *layout,
    void *out, size_t max)
{
	const unsigned char *at = frame->uc_mcontext.__reserved;
	const unsigned char *end = at + MU_FRAME_RECORDS;
	uint32_t magic, size;

	(void)layout;
	for (; end - at >= 16 + 512 && max >= 512; at += size) {
		memcpy(&magic, at, sizeof(magic));
		memcpy(&size, at + 4, sizeof(size));
		if (magic == MU_FRAME_FPSIMD_MAGIC) {
			memcpy(out, at + 16, 512);
			return 512;
		}
		if (magic == 0 || size < 8 || size > (size_t)(end - at))
			break;
	}
	return 0;
}

#endif
