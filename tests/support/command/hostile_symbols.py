"""Give an ELF file a table of symbols that is slow to sort.

hostile_symbols.py FILE SYMBOLS BYTES: so many symbols at the first address of
the text, whose names are the ends of one string of so many bytes.
"""
import struct
import sys

path, count, length = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])
data = bytearray(open(path, "rb").read())
offset, = struct.unpack_from("<Q", data, 40)
size, sections = struct.unpack_from("<HH", data, 58)
headers = bytes(data[offset : offset + size * sections])
text = next(
    i for i in range(1, sections)
    if struct.unpack_from("<Q", headers, i * size + 8)[0] & 4
)
address, = struct.unpack_from("<Q", headers, text * size + 16)

data += bytes(-len(data) % 16)
strings = len(data)
data += b"\0" + b"a" * length + b"\0"
data += bytes(-len(data) % 16)
symbols = len(data)
data += bytes(24)
for i in range(count):
    data += struct.pack("<IBBHQQ", 1 + i % (length // 2), 2, 0, text, address, 0)
table = len(data)
data += headers
data += struct.pack(
    "<IIQQQQIIQQ", 0, 2, 0, 0, symbols, 24 * (count + 1), sections + 1,
    count + 1, 8, 24)
data += struct.pack("<IIQQQQIIQQ", 0, 3, 0, 0, strings, length + 2, 0, 0, 1, 0)
struct.pack_into("<Q", data, 40, table)
struct.pack_into("<H", data, 60, sections + 2)
open(path, "wb").write(data)
