#include "tests/support/command/made_core.h"

void
made_note_of(struct made_core *made, const char *owner, unsigned type,
    const void *data, size_t size)
{
	Elf64_Nhdr note = { (Elf64_Word)strlen(owner) + 1, (Elf64_Word)size,
		type };
	char *to = made->notes + made->notes_size;

	memcpy(to, &note, sizeof(note));
	memcpy(to + sizeof(note), owner, note.n_namesz);
	made->notes_size += sizeof(note) + ((note.n_namesz + 3) & ~3u);
	memcpy(made->notes + made->notes_size, data, size);
	made->notes_size += (size + 3) & ~(size_t)3;
	ck_assert_uint_le(made->notes_size, sizeof(made->notes));
}

void
made_note(struct made_core *made, unsigned type, const void *data, size_t size)
{
	made_note_of(made, "CORE", type, data, size);
}

void
made_segment(struct made_core *made, uintptr_t begin, size_t size,
    unsigned flags, size_t dumped, const char *data)
{
	ck_assert_uint_lt(made->count, MADE_PARTS);
	made->data[made->count] = data;
	made->parts[made->count++] = (Elf64_Phdr) { .p_type = PT_LOAD,
		.p_flags = flags,
		.p_vaddr = begin,
		.p_filesz = dumped,
		.p_memsz = size,
		.p_align = MADE_PAGE };
}

void
made_thread(struct made_core *made, pid_t tid, uintptr_t sp, uintptr_t tp)
{
	struct elf_prstatus status;
	uintptr_t general[MU_PRSTATUS_WORDS] = { 0 };

	memset(&status, 0, sizeof(status));
	status.pr_pid = tid;
	status.pr_cursig = 11;
	general[MU_PRSTATUS_SP] = sp;
	if (MU_PRSTATUS_TP >= 0)
		general[MU_PRSTATUS_TP < 0 ? 0 : MU_PRSTATUS_TP] = tp;
	general[2] = 0x7f0000001234;
	memcpy(&status.pr_reg, general, sizeof(general));
	made_note(made, NT_PRSTATUS, &status, sizeof(status));
}

void
made_files(struct made_core *made, const uintptr_t (*rows)[3], size_t count,
    const char *const *names)
{
	uint64_t note[512] = { count, MADE_PAGE };
	char *at = (char *)&note[2 + 3 * count];
	size_t i;

	memcpy(&note[2], rows, count * sizeof(*rows));
	for (i = 0; i < count; i++) {
		strcpy(at, names[i]);
		at += strlen(names[i]) + 1;
	}
	made_note(made, NT_FILE, note, (size_t)(at - (char *)note));
}

Elf64_Ehdr *
made_header(struct made_core *made)
{
	return (Elf64_Ehdr *)made->bytes;
}

Elf64_Phdr *
made_headers(struct made_core *made)
{
	return (Elf64_Phdr *)(made->bytes + sizeof(Elf64_Ehdr));
}

static void
made_fill(struct made_core *made, size_t i, size_t at)
{
	size_t size = made->parts[i].p_filesz;

	ck_assert_uint_le(at + size, sizeof(made->bytes));
	if (made->data[i] != NULL)
		memcpy(made->bytes + at, made->data[i], size);
	else
		memset(made->bytes + at, (int)i + 1, size);
}

void
made_finish(struct made_core *made)
{
	Elf64_Ehdr header = {
		.e_ident = { ELFMAG0, ELFMAG1, ELFMAG2, ELFMAG3, ELFCLASS64,
		    ELFDATA2LSB, EV_CURRENT },
		.e_type = ET_CORE,
		.e_machine = MU_ELF_MACHINE,
		.e_version = EV_CURRENT,
		.e_phoff = sizeof(header),
		.e_ehsize = sizeof(header),
		.e_phentsize = sizeof(Elf64_Phdr),
		.e_phnum = (Elf64_Half)(made->count + 1),
	};
	Elf64_Phdr *headers = made_headers(made);
	size_t at = sizeof(header) + (made->count + 1) * sizeof(*headers), i;

	memset(made->bytes, 0, sizeof(made->bytes));
	memcpy(made->bytes, &header, sizeof(header));
	headers[0] = (Elf64_Phdr) { .p_type = PT_NOTE,
		.p_offset = at,
		.p_filesz = made->notes_size,
		.p_align = 4 };
	memcpy(made->bytes + at, made->notes, made->notes_size);
	at += made->notes_size;
	at = (at + MADE_PAGE - 1) & ~(size_t)(MADE_PAGE - 1);
	for (i = 0; i < made->count; i++) {
		headers[i + 1] = made->parts[i];
		headers[i + 1].p_offset = at;
		made_fill(made, i, at);
		at += made->parts[i].p_filesz;
	}
	made->size = at;
}
