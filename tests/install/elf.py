"""A small reader of 64-bit ELF files and archives of them: headers, dynamic section, symbols."""

import struct

PT_DYNAMIC, PT_INTERP, PT_GNU_STACK, PT_GNU_RELRO = 2, 3, 0x6474E551, 0x6474E552
DT_BIND_NOW, DT_FLAGS, DT_FLAGS_1 = 24, 30, 0x6FFFFFFB
DF_BIND_NOW, DF_1_NOW, DF_1_PIE = 8, 1, 0x8000000
SHT_SYMTAB, SHT_DYNSYM = 2, 11
ET_DYN = 3
EM_X86_64 = 62
PT_LOAD, PF_X = 1, 1
STB_LOCAL = 0


class Elf:
    def __init__(self, data):
        if data[:4] != b"\x7fELF" or data[4] != 2:
            raise ValueError("not a 64-bit ELF file")
        self.data = data
        self.order = "<" if data[5] == 1 else ">"
        head = self.unpack("HHIQQQIHHHHHH", 16)
        self.type, self.machine, self.program_at, self.section_at = head[0], head[1], head[4], head[5]
        self.program_size, self.program_count = head[8], head[9]
        self.section_size, self.section_count = head[10], head[11]

    def unpack(self, form, at):
        return struct.unpack_from(self.order + form, self.data, at)

    def segments(self):
        """Type, flags, offset and size of each program header."""
        for i in range(self.program_count):
            kind, flags, at, _, _, size = self.unpack(
                "IIQQQQ", self.program_at + i * self.program_size
            )
            yield kind, flags, at, size

    def segment(self, wanted):
        return next((s for s in self.segments() if s[0] == wanted), None)

    def code(self):
        """The bytes of each segment that can be executed."""
        for kind, flags, at, size in self.segments():
            if kind == PT_LOAD and flags & PF_X:
                yield self.data[at : at + size]

    def dynamic(self):
        found = self.segment(PT_DYNAMIC)
        entries = {}
        for at in range(found[2], found[2] + found[3], 16) if found else ():
            tag, value = self.unpack("QQ", at)
            if tag == 0:
                break
            entries[tag] = value
        return entries

    def sections(self):
        for i in range(self.section_count):
            _, kind, _, _, at, size, link, _, _, entry = self.unpack(
                "IIQQQQIIQQ", self.section_at + i * self.section_size
            )
            yield kind, at, size, link, entry

    def symbols(self, table):
        """Name, is it global, is it defined here, of each symbol of a table."""
        sections = list(self.sections())
        for kind, at, size, link, entry in sections:
            if kind != table or entry == 0:
                continue
            names = sections[link][1]
            for place in range(at, at + size, entry):
                name, info, _, where = self.unpack("IBBH", place)
                end = self.data.index(b"\0", names + name)
                text = self.data[names + name : end].decode()
                if text:
                    yield text, info >> 4 != STB_LOCAL, where != 0


def members(data):
    """The object files in an archive."""
    if data[:8] != b"!<arch>\n":
        raise ValueError("not an archive with its members inside")
    at = 8
    while at + 60 <= len(data):
        size = int(data[at + 48 : at + 58])
        if data[at + 60 : at + 64] == b"\x7fELF":
            yield Elf(data[at + 60 : at + 60 + size])
        at += 60 + size + size % 2
