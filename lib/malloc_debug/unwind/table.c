/*
 * From an address to the entry of its function, and the data that this entry
 * and its common entry have before their instructions.
 */
#include "lib/malloc_debug/unwind/table.h"

#define PE_OMIT 0xff
#define PE_APPLICATION 0x70
#define PE_PCREL 0x10
#define PE_DATAREL 0x30
#define PE_DATAREL_SDATA4 0x3b
#define PE_INDIRECT 0x80

#define MAX_COMMON 4096 /* bytes of a common entry; real ones have 30 */

/* The bytes from AT to the end of the segment that holds all tables. */
static struct unwind_bytes
bytes_from(const struct unwind_module *module, uintptr_t at)
{
	struct unwind_bytes none = { NULL, NULL, true };

	if (at < (uintptr_t)module->readable ||
	    at >= (uintptr_t)module->readable_end)
		return none;
	return (struct unwind_bytes) { (const uint8_t *)at,
		module->readable_end, false };
}

/* Read a pointer with this encoding. */
static uint64_t
take_encoded(struct unwind_bytes *bytes, uint8_t encoding)
{
	switch (encoding & 0xf) {
	case 0x0: /* absptr */
	case 0x4: /* udata8 */
	case 0xc: /* sdata8 */
		return unwind_take(bytes, 8);
	case 0x1:
		return unwind_take_uleb(bytes);
	case 0x2:
		return unwind_take(bytes, 2);
	case 0x3:
		return unwind_take(bytes, 4);
	case 0x9:
		return (uint64_t)unwind_take_sleb(bytes);
	case 0xa:
		return (uint64_t)(int16_t)unwind_take(bytes, 2);
	case 0xb:
		return (uint64_t)(int32_t)unwind_take(bytes, 4);
	default:
		bytes->bad = true;
		return 0;
	}
}

static uintptr_t
take_pointer(struct unwind_bytes *bytes, uint8_t encoding,
    const struct unwind_module *module)
{
	uintptr_t here = (uintptr_t)bytes->at;
	uint64_t value = take_encoded(bytes, encoding);

	switch (encoding & PE_APPLICATION) {
	case 0:
		break;
	case PE_PCREL:
		value += here;
		break;
	case PE_DATAREL:
		value += (uintptr_t)module->hdr;
		break;
	default:
		bytes->bad = true;
		break;
	}
	if ((encoding & PE_INDIRECT) != 0)
		bytes->bad = true;
	return value;
}

/* Read the augmentation, such as "zRS"; false for an unknown letter. */
static bool
read_augmentation(struct unwind_bytes *bytes, const char *letters,
    struct unwind_entry *entry, uint8_t *encoding)
{
	struct unwind_bytes data;
	uint8_t personality;

	if (*letters == '\0')
		return true;
	if (*letters != 'z')
		return false;
	data = unwind_take_block(bytes, unwind_take_uleb(bytes));
	while (*++letters != '\0') {
		switch (*letters) {
		case 'R':
			*encoding = (uint8_t)unwind_take(&data, 1);
			break;
		case 'P':
			personality = (uint8_t)unwind_take(&data, 1);
			take_encoded(&data, personality);
			break;
		case 'L':
			unwind_take(&data, 1);
			break;
		case 'S':
			entry->signal_frame = true;
			break;
		case 'B': /* aarch64: which key signs; MTE frames */
		case 'G':
			break;
		default:
			return false;
		}
	}
	return !data.bad;
}

/* The bytes of the entry that begins at AT. */
static struct unwind_bytes
take_entry(const struct unwind_module *module, uintptr_t at)
{
	struct unwind_bytes bytes = bytes_from(module, at);
	uint64_t length = unwind_take(&bytes, 4);

	if (length == 0xffffffff) /* 64-bit DWARF */
		length = unwind_take(&bytes, 8);
	if (bytes.bad || length == 0) {
		bytes.bad = true;
		return bytes;
	}
	return unwind_take_block(&bytes, length);
}

/* *HAS_DATA: its entries begin with augmentation data, with a length. */
static bool
read_common(struct unwind_entry *entry, const struct unwind_module *module,
    uintptr_t at, uint8_t *encoding, bool *has_data)
{
	struct unwind_bytes bytes = take_entry(module, at);
	const char *letters;
	uint64_t version;

	if (bytes.end - bytes.at > MAX_COMMON ||
	    unwind_take(&bytes, 4) != 0) /* not 0: it is no common entry */
		return false;
	version = unwind_take(&bytes, 1);
	letters = (const char *)bytes.at;
	while (unwind_take(&bytes, 1) != 0)
		continue;
	if (bytes.bad)
		return false;
	entry->code_align = unwind_take_uleb(&bytes);
	entry->data_align = unwind_take_sleb(&bytes);
	entry->return_column =
	    version == 1 ? unwind_take(&bytes, 1) : unwind_take_uleb(&bytes);
	*has_data = *letters == 'z';
	if ((version != 1 && version != 3) ||
	    !read_augmentation(&bytes, letters, entry, encoding))
		return false;
	entry->initial = bytes;
	return !bytes.bad;
}

static bool
read_entry(struct unwind_entry *entry, const struct unwind_module *module,
    uintptr_t at)
{
	struct unwind_bytes bytes = take_entry(module, at);
	uintptr_t here = (uintptr_t)bytes.at;
	uint32_t back = (uint32_t)unwind_take(&bytes, 4);
	uint8_t encoding = 0;
	bool has_data;

	/* Distance back to the common entry; 0: this is one. */
	if (bytes.bad || back == 0 ||
	    !read_common(entry, module, here - back, &encoding, &has_data))
		return false;
	entry->begin = take_pointer(&bytes, encoding, module);
	entry->end = entry->begin + take_encoded(&bytes, encoding & 0xf);
	if (has_data)
		unwind_take_block(&bytes, unwind_take_uleb(&bytes));
	entry->program = bytes;
	return !bytes.bad;
}

/* Search a sorted table of COUNT pairs for the entry that may contain PC. */
static uintptr_t
search_table(const struct unwind_module *module, const uint8_t *table,
    uint64_t count, uintptr_t pc)
{
	intptr_t wanted = (intptr_t)(pc - (uintptr_t)module->hdr);
	struct unwind_bytes pair = { NULL, NULL, false };
	uint64_t low = 0, high = count, middle;

	while (low < high) {
		middle = low + (high - low) / 2;
		pair.at = table + middle * 8;
		pair.end = pair.at + 8;
		if ((int32_t)unwind_take(&pair, 4) <= wanted)
			low = middle + 1;
		else
			high = middle;
	}
	if (low == 0)
		return 0;
	pair.at = table + (low - 1) * 8 + 4;
	pair.end = pair.at + 4;
	return (uintptr_t)module->hdr +
	    (uintptr_t)(intptr_t)(int32_t)unwind_take(&pair, 4);
}

bool
unwind_entry_find(struct unwind_entry *entry,
    const struct unwind_module *module, uintptr_t pc)
{
	struct unwind_bytes bytes = bytes_from(module, (uintptr_t)module->hdr);
	uint64_t version = unwind_take(&bytes, 1), count;
	uint8_t frame = (uint8_t)unwind_take(&bytes, 1);
	uint8_t counting = (uint8_t)unwind_take(&bytes, 1);
	uint8_t table = (uint8_t)unwind_take(&bytes, 1);

	*entry = (struct unwind_entry) { .begin = 0 };
	/* All linkers write this format; other formats may have no table. */
	if (bytes.bad || version != 1 || table != PE_DATAREL_SDATA4 ||
	    counting == PE_OMIT)
		return false;
	take_pointer(&bytes, frame, module);
	count = take_pointer(&bytes, counting, module);
	if (bytes.bad || count > (uint64_t)(bytes.end - bytes.at) / 8)
		return false;
	return read_entry(
		   entry, module, search_table(module, bytes.at, count, pc)) &&
	    pc >= entry->begin && pc < entry->end;
}
