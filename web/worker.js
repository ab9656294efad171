/* Runs the program, compiled to WebAssembly, on files in memory.
 *
 * Messages in:   {engine: bytes}                     the compiled program, once
 *                {files: [{name, bytes}]}            files for the commands that follow
 *                {run: id, words: [...]}             one command, without the name of the program
 * Messages out:  {id: 0}                             the program is compiled
 *                {failed: reason}                    it cannot be
 *                {id, progress: text}                what the program draws while it works
 *                {id, code, out, err, files}         exit code, both streams, files it wrote
 *
 * The system interface is WASI (snapshot preview 1), as far as the program uses it: one directory,
 * descriptor 3, whose files are kept in a map. */
"use strict";

const OK = 0, BADF = 8, EXIST = 20, INVAL = 28, NOENT = 44, NOSYS = 52;
const CHARACTER_DEVICE = 2, DIRECTORY = 3, REGULAR = 4;
const CREATE = 1, EXCLUSIVE = 4, TRUNCATE = 8;
const ROOT = 3;

let engine = null;
const files = new Map(); // name: {bytes, length, number}
let numbers = 1;

class Exit extends Error {
  constructor(code) {
    super("exit");
    this.code = code;
  }
}

function newFile(bytes) {
  return { bytes, length: bytes.length, number: numbers++ };
}

function reserve(file, length) {
  if (length > file.bytes.length) {
    const grown = new Uint8Array(Math.max(length, 2 * file.bytes.length, 65536));
    grown.set(file.bytes.subarray(0, file.length));
    file.bytes = grown;
  }
}

/* One run of the program. */
class Run {
  constructor(id, words) {
    this.id = id;
    this.words = ["propercal", ...words].map((word) => new TextEncoder().encode(word + "\0"));
    this.open = new Map(); // descriptor: {file, at}
    this.next = ROOT + 1;
    this.out = [];
    this.err = [];
    this.written = new Set();
    this.memory = null;
  }

  get view() {
    return new DataView(this.memory.buffer);
  }

  bytes(at, count) {
    return new Uint8Array(this.memory.buffer, at, count);
  }

  name(at, count) {
    return new TextDecoder().decode(this.bytes(at, count)).replace(/^(\.?\/)+/, "");
  }

  /* Calls take(address, count) for each part of a vector of buffers, until it returns less. */
  vectors(list, count, take) {
    let sum = 0;
    for (let i = 0; i < count; i++) {
      const at = this.view.getUint32(list + 8 * i, true), size = this.view.getUint32(list + 8 * i + 4, true);
      const done = take(at, size);
      sum += done;
      if (done < size) break;
    }
    return sum;
  }

  stat(at, kind, file) {
    this.bytes(at, 64).fill(0);
    this.view.setBigUint64(at + 8, BigInt(file ? file.number : 0), true);
    this.view.setUint8(at + 16, kind);
    this.view.setBigUint64(at + 24, 1n, true);
    this.view.setBigUint64(at + 32, BigInt(file ? file.length : 0), true);
    return OK;
  }

  strings(list, pointers, buffer) {
    for (const text of list) {
      this.view.setUint32(pointers, buffer, true);
      this.bytes(buffer, text.length).set(text);
      pointers += 4;
      buffer += text.length;
    }
    return OK;
  }

  sizes(list, count, total) {
    this.view.setUint32(count, list.length, true);
    this.view.setUint32(total, list.reduce((sum, text) => sum + text.length, 0), true);
    return OK;
  }

  write(descriptor, list, count, result) {
    const stream = descriptor === 1 ? this.out : descriptor === 2 ? this.err : null;
    const target = this.open.get(descriptor);
    if (!stream && !target) return BADF;
    const sum = this.vectors(list, count, (at, size) => {
      if (stream) {
        if (size > 0) stream.push(this.bytes(at, size).slice()); // progress() looks at the last text
      } else {
        reserve(target.file, target.at + size);
        target.file.bytes.set(this.bytes(at, size), target.at);
        target.at += size;
        target.file.length = Math.max(target.file.length, target.at);
      }
      return size;
    });
    if (descriptor === 2) this.progress();
    this.view.setUint32(result, sum, true);
    return OK;
  }

  /* The program draws its progress after a carriage return. */
  progress() {
    const last = new TextDecoder().decode(this.err[this.err.length - 1]);
    const match = /\r(\S[^\r[]*?)\s*(?:\[.*\]\s*)?(\d+%?(?: +\d+ (?:s|min|h) left)?)\s*$/.exec(last);
    if (match) postMessage({ id: this.id, progress: `${match[1].trim()} ${match[2]}` });
  }

  read(descriptor, list, count, result, place) {
    if (descriptor === 0) {
      this.view.setUint32(result, 0, true);
      return OK;
    }
    const source = this.open.get(descriptor);
    if (!source) return BADF;
    let at = place === undefined ? source.at : place;
    const sum = this.vectors(list, count, (to, size) => {
      const some = Math.max(0, Math.min(size, source.file.length - at));
      this.bytes(to, some).set(source.file.bytes.subarray(at, at + some));
      at += some;
      return some;
    });
    if (place === undefined) source.at = at;
    this.view.setUint32(result, sum, true);
    return OK;
  }

  pathOpen(at, count, flags, result) {
    const name = this.name(at, count);
    let file = files.get(name);
    if (name === "" || name === ".") file = null;
    else if (file && flags & EXCLUSIVE) return EXIST;
    else if (!file && !(flags & CREATE)) return NOENT;
    else if (!file || flags & TRUNCATE) {
      file = newFile(new Uint8Array(0));
      files.set(name, file);
      this.written.add(name);
    }
    this.open.set(this.next, { file, at: 0 });
    this.view.setUint32(result, this.next++, true);
    return OK;
  }

  rename(from, to) {
    const file = files.get(from);
    if (!file) return NOENT;
    files.delete(from);
    files.set(to, file);
    this.written.delete(from);
    this.written.add(to);
    return OK;
  }

  seek(descriptor, offset, whence, result) {
    const source = this.open.get(descriptor);
    if (!source) return BADF;
    source.at = Number(offset) + (whence === 1 ? source.at : whence === 2 ? source.file.length : 0);
    this.view.setBigUint64(result, BigInt(source.at), true);
    return OK;
  }

  imports() {
    const kindOf = (fd) =>
      fd <= 2 ? CHARACTER_DEVICE : fd === ROOT ? DIRECTORY : this.open.get(fd).file ? REGULAR : DIRECTORY;
    const known = (fd) => fd <= ROOT || this.open.has(fd);
    const calls = {
      args_sizes_get: (count, total) => this.sizes(this.words, count, total),
      args_get: (pointers, buffer) => this.strings(this.words, pointers, buffer),
      environ_sizes_get: (count, total) => this.sizes(ENVIRONMENT, count, total),
      environ_get: (pointers, buffer) => this.strings(ENVIRONMENT, pointers, buffer),
      clock_time_get: (clock, precision, result) => {
        const now = clock === 0 ? Date.now() : performance.now();
        this.view.setBigUint64(result, BigInt(Math.round(now * 1e6)), true);
        return OK;
      },
      fd_write: (fd, list, count, result) => this.write(fd, list, count, result),
      fd_read: (fd, list, count, result) => this.read(fd, list, count, result),
      fd_pread: (fd, list, count, place, result) => this.read(fd, list, count, result, Number(place)),
      fd_seek: (fd, offset, whence, result) => this.seek(fd, offset, whence, result),
      fd_sync: () => OK,
      fd_close: (fd) => (fd <= 2 || this.open.delete(fd) ? OK : BADF),
      fd_fdstat_get: (fd, at) => {
        if (!known(fd)) return BADF;
        this.bytes(at, 24).fill(0);
        this.view.setUint8(at, kindOf(fd));
        if (fd > 2) this.bytes(at + 8, 16).fill(0xff); // all rights; a terminal cannot seek
        return OK;
      },
      fd_fdstat_set_flags: () => OK,
      fd_filestat_get: (fd, at) => (known(fd) ? this.stat(at, kindOf(fd), fd > ROOT ? this.open.get(fd).file : null) : BADF),
      fd_prestat_get: (fd, at) => {
        if (fd !== ROOT) return BADF;
        this.view.setUint32(at, 0, true);
        this.view.setUint32(at + 4, 1, true);
        return OK;
      },
      fd_prestat_dir_name: (fd, at) => {
        this.bytes(at, 1)[0] = 0x2e; // "."
        return OK;
      },
      path_open: (fd, look, at, count, flags, rights, inherited, fdflags, result) => this.pathOpen(at, count, flags, result),
      path_filestat_get: (fd, flags, at, count, result) => {
        const name = this.name(at, count);
        if (name === "" || name === ".") return this.stat(result, DIRECTORY, null);
        return files.has(name) ? this.stat(result, REGULAR, files.get(name)) : NOENT;
      },
      path_unlink_file: (fd, at, count) => {
        const name = this.name(at, count);
        this.written.delete(name);
        return files.delete(name) ? OK : NOENT;
      },
      path_rename: (fd, from, count, to, at, length) => this.rename(this.name(from, count), this.name(at, length)),
      path_readlink: () => INVAL,
      random_get: (at, count) => {
        crypto.getRandomValues(this.bytes(at, count));
        return OK;
      },
      proc_exit: (code) => {
        throw new Exit(code);
      },
    };
    return calls;
  }

  start() {
    const calls = this.imports(), imports = {};
    for (const { module, name } of WebAssembly.Module.imports(engine)) {
      imports[module] = imports[module] || {};
      imports[module][name] = calls[name] || (() => NOSYS);
    }
    const instance = new WebAssembly.Instance(engine, imports);
    this.memory = instance.exports.memory;
    instance.exports._start();
  }

  execute() {
    try {
      this.start();
      return 0;
    } catch (end) {
      if (end instanceof Exit) return end.code;
      this.err.push(new TextEncoder().encode(tooLarge(end)));
      return MEMORY;
    }
  }
}

const MEMORY = 6; // exit code
const tooLarge = (error) => `propercal: the page failed (${error.message}); the data may need more memory than a browser gives`;

const ENVIRONMENT = [new TextEncoder().encode("NO_COLOR=1\0")];

function join(parts) {
  const whole = new Uint8Array(parts.reduce((sum, part) => sum + part.length, 0));
  let at = 0;
  for (const part of parts) {
    whole.set(part, at);
    at += part.length;
  }
  return whole;
}

/* The text of standard error without the lines that showed progress. */
function sentences(parts) {
  return new TextDecoder().decode(join(parts)).replace(/\r[^\r\n]*(?=\r)/g, "").replace(/\r\s*/g, "").trim();
}

function perform({ run: id, words }) {
  const run = new Run(id, words);
  const code = run.execute();
  const written = [...run.written].filter((name) => files.has(name));
  postMessage({
    id,
    code,
    out: new TextDecoder().decode(join(run.out)),
    err: sentences(run.err),
    files: written.map((name) => ({ name, bytes: files.get(name).bytes.slice(0, files.get(name).length) })),
  });
}

async function compile(bytes) {
  try {
    engine = await WebAssembly.compile(bytes);
    postMessage({ id: 0 });
  } catch (error) {
    postMessage({ failed: error.message });
  }
}

self.onmessage = ({ data }) => {
  if (data.engine) compile(data.engine);
  else if (data.files) {
    files.clear();
    for (const { name, bytes } of data.files) files.set(name, newFile(bytes));
  } else {
    try {
      perform(data);
    } catch (error) {
      postMessage({ id: data.run, code: MEMORY, out: "", err: tooLarge(error), files: [] }); // no room for the answer
    }
  }
};
