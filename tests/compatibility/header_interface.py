"""What compiled callers depend on in include/propercal.h: values of constants, prototypes of functions, sizes and offsets of structs.

The compiler preprocesses the header; a small program, which is compiled and run, prints the numbers.
"""

import pathlib
import re
import subprocess
import tempfile

HEADER = pathlib.Path(__file__).resolve().parent.parent.parent / "include" / "propercal.h"
INCLUDE = f"#include <stddef.h>\n#include <stdio.h>\n#include \"{HEADER}\"\n"


def compile_text(compiler, text, *words):
    """The compiler's exit code and what it writes."""
    done = subprocess.run([*compiler, "-x", "c", *words, "-"], input=text, capture_output=True, text=True)
    return done.returncode, done.stdout, done.stderr


def declarations(compiler):
    """The header without comments, macros and attributes, with one space between words."""
    code, out, err = compile_text(compiler, f'#include "{HEADER}"\n', "-E", "-P")
    if code != 0:
        raise RuntimeError(err)
    out = re.sub(r'__attribute__\(\(visibility\("default"\)\)\)', "", out)
    return re.sub(r"\s+", " ", out)


def functions(text):
    found = re.findall(r"(?<=[;}] )((?!typedef)[^;{}]*?\b(pcal_\w+)\s*\([^;{}]*\));", text)
    return {name: prototype.strip() + ";" for prototype, name in found}


def constants(text):
    """Names of enumerators, without those that count the others."""
    bodies = re.findall(r"typedef enum pcal_\w+ \{([^}]*)\}", text)
    found = [re.match(r"\w+", part.strip()) for body in bodies for part in body.split(",")]
    return [match.group() for match in found if match and not match.group().endswith("_END")]


def field_names(body):
    """Fields of a struct: plain ones, several of a type, arrays and pointers to functions."""
    for declaration in body.split(";"):
        pointer = re.search(r"\(\*(\w+)\)\(", declaration)
        if pointer:
            yield pointer.group(1)
        elif declaration.strip():
            yield from (re.search(r"(\w+)\s*(?:\[[^\]]*\]\s*)*$", part.strip()).group(1) for part in declaration.split(","))


def structs(text):
    return {name: list(field_names(body)) for name, body in re.findall(r"typedef struct (pcal_\w+) \{([^}]*)\}", text)}


def dump_source(text):
    lines = [f'  printf("constant {name} %lld\\n", (long long){name});' for name in constants(text)]
    lines.append('#define EXIT_CODE(name, code, text) printf("constant exit_code_" #name " %d\\n", code);\n  PCAL_STATUS_LIST(EXIT_CODE)')
    lines.append('  printf("constant pointer_bytes %zu\\n", sizeof(void *));')
    for name, fields in structs(text).items():
        lines.append(f'  printf("struct {name} %zu\\n", sizeof({name}));')
        for field in fields:
            lines.append(f'  printf("field {name}.{field} %zu %zu\\n", offsetof({name}, {field}), sizeof((({name} *)0)->{field}));')
    return INCLUDE + "int main(void) {\n" + "\n".join(lines) + "\n  return 0;\n}\n"


def interface(compiler):
    """{"constants": {name: value}, "functions": {name: prototype}, "structs": {name: {"size", "fields": {name: [offset, size]}}}}"""
    text = declarations(compiler)
    with tempfile.TemporaryDirectory() as folder:
        program = pathlib.Path(folder, "dump")
        code, _, err = compile_text(compiler, dump_source(text), "-o", program)
        if code != 0:
            raise RuntimeError(err)
        lines = subprocess.run([program], capture_output=True, text=True, check=True).stdout.splitlines()
    found = {"constants": {}, "functions": functions(text), "structs": {}}
    for kind, name, *numbers in map(str.split, lines):
        if kind == "constant":
            found["constants"][name] = int(numbers[0])
        elif kind == "struct":
            found["structs"][name] = {"size": int(numbers[0]), "fields": {}}
        else:
            owner, _, field = name.partition(".")
            found["structs"][owner]["fields"][field] = list(map(int, numbers))
    return found


def struct_faults(name, old, new):
    """A struct that begins with its size may grow, by fields behind its end; others stay as they are."""
    for field, place in old["fields"].items():
        if new["fields"].get(field) != place:
            yield f"{name}.{field} was at {place}, offset and size, and is at {new['fields'].get(field)}"
    grows = next(iter(old["fields"])) == "size"
    if new["size"] < old["size"] or (new["size"] > old["size"] and not grows):
        yield f"{name} had {old['size']} bytes and has {new['size']}"
    for field, (offset, _) in new["fields"].items():
        if field not in old["fields"] and offset < old["size"]:
            yield f"{name}.{field} is new and inside the {old['size']} bytes of earlier versions; callers did not set it"


def prototype_faults(compiler, old, new):
    """Functions whose earlier declaration the compiler does not accept beside the present one."""
    for name, prototype in old.items():
        if name in new and new[name] != prototype and compile_text(compiler, INCLUDE + prototype + "\n", "-fsyntax-only")[0] != 0:
            yield f"{name} is now {new[name]}"


def faults(compiler, old):
    """What a program compiled with an earlier header would meet, where pointers have as many bytes as then."""
    new = interface(compiler)
    if new["constants"]["pointer_bytes"] != old["constants"]["pointer_bytes"]:
        return
    for name, value in old["constants"].items():
        if new["constants"].get(name) != value:
            yield f"the constant {name} was {value} and is {new['constants'].get(name)}"
    for name in old["functions"].keys() - new["functions"].keys():
        yield f"the function {name} is gone"
    yield from prototype_faults(compiler, old["functions"], new["functions"])
    for name, struct in old["structs"].items():
        if name not in new["structs"]:
            yield f"the struct {name} is gone"
        else:
            yield from struct_faults(name, struct, new["structs"][name])
