/* The page: reads files, asks which columns are what, runs the program in a worker, shows results.
 * All numbers come from the program; this script only shows them. */
"use strict";

const METHODS = ["temperature", "ets", "platt", "beta", "isotonic", "histogram", "vector", "spline"];
const KINDS = ["probs", "logits", "log-probs", "confidence"];
const NEEDS = "it needs Chrome or Edge 97, Firefox 113, Safari 16.4, or a later version";
const MOST_FOR_INTERVALS = 300000; // numbers; resampling more takes minutes in a browser
const FAULTY_DATA = 3; // exit code of inspect, which describes the file all the same
const MOST_CURVES = 8; // groups in one figure

const element = (id) => document.getElementById(id);
/* program: a promise of the program and of the script of its worker; made: files that the program wrote;
 * asked: what the form said when it was measured; fitted: the method of calibrator.json; cancelled: a
 * promise that fails when the present work is cancelled. */
const state = { engine: null, program: null, files: [], items: [], asked: null, about: null, fitted: null, made: new Map(), commands: [],
  urls: [], titles: null, turn: Promise.resolve(), queued: 0, cancelled: null, stop: () => {} };

// ---- The engine ----

/* Seven bits of compressed bytes in each letter; see tools/make-web. */
function bytesOfText(text) {
  const bytes = new Uint8Array(Math.floor((text.length * 7) / 8)), escapes = { 0xc0: 0, 0xc1: 13, 0xc2: 60 };
  for (let i = 0, at = 0, bits = 0, held = 0; i < text.length && at < bytes.length; i++) {
    const code = text.charCodeAt(i);
    bits = ((bits << 7) | (code < 128 ? code : escapes[code])) & 0x7fff;
    held += 7;
    if (held >= 8) {
      held -= 8;
      bytes[at++] = bits >> held;
    }
  }
  return bytes;
}

const cannotRun = (why) => new Error(`this browser cannot run the program in this page (${why}); ${NEEDS}`);

async function unpack(text) {
  try {
    const stream = new Blob([bytesOfText(text)]).stream().pipeThrough(new DecompressionStream("gzip"));
    return new Uint8Array(await new Response(stream).arrayBuffer());
  } catch (error) {
    throw cannotRun(error.message);
  }
}

class Cancelled extends Error {}

/* A worker with the program.  It is ended by Cancel and by its own failures; the next question starts another. */
class Engine {
  constructor() {
    this.waiting = new Map(); // id: how to settle the promise of a question
    this.next = 1;
    this.ended = false;
    this.ready = this.start();
  }

  async start() {
    try {
      state.program = state.program || Promise.all(["engine", "worker"].map((name) => unpack(element(`${name}-source`).textContent)));
      const [program, script] = await state.program;
      if (this.ended) throw new Cancelled();
      const source = URL.createObjectURL(new Blob([script], { type: "text/javascript" }));
      this.worker = new Worker(source);
      URL.revokeObjectURL(source);
      await new Promise((resolve, reject) => {
        this.waiting.set(0, { resolve, reject });
        this.worker.onmessage = ({ data }) => this.answer(data);
        this.worker.onerror = (event) => this.fail(event.message);
        this.worker.postMessage({ engine: program });
      });
    } catch (error) {
      this.end();
      throw error;
    }
  }

  async ask(words) {
    await this.ready;
    if (this.files !== state.files) this.worker.postMessage({ files: state.files });
    this.files = state.files;
    const id = this.next++;
    return new Promise((resolve, reject) => {
      this.waiting.set(id, { resolve, reject });
      this.worker.postMessage({ run: id, words });
    });
  }

  answer(data) {
    if (data.progress !== undefined) {
      element("progress").textContent = data.progress;
      return;
    }
    if (data.failed) {
      this.fail(data.failed);
      return;
    }
    const settle = this.waiting.get(data.id);
    this.waiting.delete(data.id);
    settle.resolve(data);
  }

  fail(why) {
    for (const { reject } of this.waiting.values()) reject(cannotRun(why));
    this.end();
  }

  end() {
    this.ended = true;
    if (this.worker) this.worker.terminate();
    if (state.engine === this) state.engine = null;
  }
}

/* Whatever a work waits for ends when it is cancelled. */
const unlessCancelled = (promise) => Promise.race([promise, state.cancelled]);

function cancel() {
  if (state.engine) state.engine.end();
  state.stop();
}

function ask(words) {
  state.engine = state.engine || new Engine();
  return unlessCancelled(state.engine.ask(words));
}

/* Runs one command; fails with the program's own sentence, unless its exit code is allowed and it printed a result. */
async function run(words, step, allowed = 0) {
  element("step").textContent = step;
  element("progress").textContent = "";
  const result = await ask(words);
  if (result.code !== 0 && !(result.code === allowed && result.out)) throw new Error(result.err.replace(/^propercal: /, "").replace(/\ntry: propercal.*$/, ""));
  for (const file of result.files) state.made.set(file.name, file.bytes);
  state.commands.push(words);
  element("commands").textContent = state.commands.map(commandLine).join("\n");
  return result;
}

const commandLine = (words) =>
  ["propercal", ...words].map((word) => (/^[\w.,:/=+-]+$/.test(word) ? word : `'${word.replaceAll("'", "'\\''")}'`)).join(" ");

/* Shows that something runs, and any error; buttons wait until no work is left, and so does other work. */
function busy(work) {
  const focused = document.activeElement;
  for (const button of document.querySelectorAll("button:not(#cancel)")) button.disabled = true;
  state.queued += 1;
  state.turn = state.turn.then(() => alone(work, focused));
  return state.turn;
}

async function alone(work, focused) {
  state.cancelled = new Promise((resolve, reject) => (state.stop = () => reject(new Cancelled())));
  state.cancelled.catch(() => {}); // that nothing waits for it just now is no error
  element("problem").hidden = true;
  element("work").hidden = false;
  try {
    await work();
  } catch (error) {
    if (error instanceof Cancelled) element("loaded").textContent = "Cancelled.";
    else {
      element("problem").textContent = error.message;
      element("problem").hidden = false;
      element("problem").scrollIntoView({ block: "nearest" });
    }
  }
  element("work").hidden = true;
  state.queued -= 1;
  if (state.queued > 0) return;
  for (const button of document.querySelectorAll("button")) button.disabled = false;
  if (document.activeElement === document.body && focused) focused.focus({ preventScroll: true }); // a disabled button loses it
}

// ---- Files ----

/* A name that needs no quotes, and in which no character selects columns. */
function plainName(name) {
  return name.replace(/[^\p{L}\p{N}._-]/gu, "_").replace(/^-/, "_");
}

/* Gives each file a plain name of its own: "a b.csv" and "a_b.csv" become a_b.csv and a_b-2.csv. */
function withNames(list) {
  const names = new Set();
  return list.map(({ name, bytes }) => {
    const plain = plainName(name), dot = plain.replace(/\.(gz|zst)$/, "").lastIndexOf(".");
    let unique = plain;
    for (let i = 2; names.has(unique); i++) unique = `${plain.slice(0, dot)}-${i}${plain.slice(dot)}`;
    names.add(unique);
    return { name: unique, bytes, title: unique === plain ? unique : `${unique} (${name})` };
  });
}

/* Describes a file, or asks whether its first line has names if only that keeps the program from reading it. */
async function inspect(name) {
  const words = ["inspect", name, ...header(), "--json"], step = `Reading ${name}`;
  try {
    return await run(words, step, FAULTY_DATA);
  } catch (error) {
    if (error instanceof Cancelled || header().length > 0) throw error;
    const { out } = await ask([...words, "--header", "yes"]);
    element("header-part").hidden = !out;
    throw error;
  }
}

/* reading: a promise of names and bytes. */
async function useFiles(reading, again = false) {
  reading.catch(() => {}); // reported below, unless the work before is cancelled first
  await busy(async () => {
    element("step").textContent = "Reading";
    element("progress").textContent = "";
    element("loaded").textContent = "";
    if (!again) {
      element("header-part").hidden = true;
      element("header").value = "";
    }
    state.files = withNames(await unlessCancelled(reading));
    state.made.clear();
    state.commands = [];
    for (const id of ["columns", "result"]) element(id).hidden = true;
    element("downloads").replaceChildren();
    state.items = [];
    const broken = [];
    for (const { name } of state.files) {
      const result = await inspect(name);
      const items = itemsOf(JSON.parse(result.out));
      state.items.push(...items.filter((item) => !item.why));
      broken.push(...items.filter((item) => item.why).map((item) => item.why));
    }
    if (state.items.length === 0) throw new Error(broken.join("\n"));
    element("loaded").textContent = `${state.files.map((file) => file.title).join(", ")}: ${state.items[0].rows || ""} rows`.replace(":  rows", "");
    fillForm(broken);
    element("columns").hidden = false;
    element("columns-title").focus();
  });
}

/* What can be chosen: columns of a table, members of an archive, whole arrays. */
function itemsOf(about) {
  const file = about.file;
  if (about.members) {
    const table = about.format === "arrow"; // whose members are columns
    return about.members.map((member, index) => ({ file, name: member.name, columns: member.columns, rows: member.rows, role: member.role, key: member.name,
      index, whole: !(table && member.columns === 1), why: member.why, words: Number(about.format !== "npz"), missing: true, percent: true })); // inspect does not say
  }
  if (about.format === "npy")
    return [{ file, name: null, columns: about.columns.length, rows: about.rows, role: about.columns[0].role, key: null, whole: true,
      missing: about.columns.some((column) => column.missing > 0), percent: about.columns.some((column) => column.max > 1) }];
  const seen = new Set(), twice = new Set(about.columns.map((column) => column.name).filter((name) => seen.has(name) || !seen.add(name)));
  return about.columns.map((column, index) => ({
    file, name: column.name && twice.has(column.name) ? `${column.name} (column ${index})` : column.name, columns: 1, rows: about.rows, role: column.role, index,
    words: column.words, missing: column.missing > 0, percent: column.max > 1,
    key: /^[A-Za-z_]\w*$/.test(column.name || "") && !twice.has(column.name) ? column.name : String(index) }));
}

const itemTitle = (item) =>
  (state.files.length > 1 ? `${item.file}: ` : "") +
  (item.whole ? `${item.name || "whole array"}, ${item.columns} ${item.columns === 1 ? "column" : "columns"}` : item.name || `column ${item.index}`);

// ---- The form ----

const kindOf = (item) => (item.role || "").replace("_", "-");

/* The columns that the program guesses to be scores; else the first array of several columns. */
function guessScores() {
  const first = state.items.find((item) => KINDS.includes(kindOf(item))) || state.items.find((item) => item.columns > 1 && !item.role);
  if (!first || first.whole) return first ? [first] : [];
  return state.items.filter((item) => item.file === first.file && item.role === first.role);
}

function guessLabels(scores) {
  return state.items.find((item) => ["labels", "correct"].includes(item.role)) ||
    (scores.length > 0 && state.items.find((item) => item.whole && item.columns === 1 && !item.role && !scores.includes(item)));
}

function optionsOf(chosen, suggested) {
  return state.items.map((item, index) => {
    const option = new Option(itemTitle(item) + (item.role === suggested ? " (suggested by its name)" : ""), String(index));
    option.selected = chosen.includes(item);
    return option;
  });
}

/* broken: why arrays of a file cannot be read. */
function fillForm(broken) {
  const scores = guessScores(), labels = guessLabels(scores);
  element("guess").textContent = scores.length > 0 && labels ? "This is a guess; please check it." : "Not all of it could be guessed; please choose.";
  element("broken").textContent = broken.join("\n");
  element("scores").replaceChildren(...optionsOf(scores));
  element("scores").size = Math.min(8, Math.max(2, state.items.length));
  element("labels").replaceChildren(...(labels ? [] : [new Option("choose", "")]), ...optionsOf([labels]));
  for (const role of ["weights", "groups"]) {
    element(role).replaceChildren(new Option("none", ""), ...optionsOf([], role));
    element(role).value = "";
  }
  element("skip").checked = element("percent").checked = false;
  element("event").value = "";
  element("kind").value = scores.length > 0 && KINDS.includes(kindOf(scores[0])) ? kindOf(scores[0]) : "logits";
  showLabelKind();
}

const chosen = (id) => [...element(id).selectedOptions].filter((option) => option.value !== "").map((option) => state.items[Number(option.value)]);

/* One column that predicts whether an event occurs. */
function isEvent() {
  const scores = chosen("scores");
  return element("kind").value !== "confidence" && scores.length === 1 && scores[0].columns === 1;
}

function showLabelKind() {
  element("labels-label").textContent = element("kind").value === "confidence"
    ? "Whether the prediction was correct: 1 or 0" : isEvent()
      ? "What really happened: 1 if the event occurred, 0 if not, or words"
      : "What really happened: the true class, counted from 0, or its name";
  element("event-part").hidden = !(isEvent() && chosen("labels").some((item) => item.words > 0));
  element("percent-part").hidden = !(["probs", "confidence"].includes(element("kind").value) && chosen("scores").some((item) => item.percent));
  element("skip-part").hidden = !["scores", "labels", "weights", "groups"].some((id) => chosen(id).some((item) => item.missing));
}

const ticked = (id) => element(id).checked && !element(`${id}-part`).hidden;

/* Whether the first line of a table has names, where the person said so. */
const header = () => (element("header").value && !element("header-part").hidden ? ["--header", element("header").value] : []);

/* FILE, FILE:ARRAY or FILE:COLUMNS. */
function selection(items) {
  const { file } = items[0];
  if (items[0].whole) return items[0].key === null ? file : `${file}:${items[0].key}`;
  const follow = items.every((item, i) => i === 0 || item.index === items[i - 1].index + 1);
  if (items.length > 2 && follow) return `${file}:${items[0].key}..${items[items.length - 1].key}`;
  return `${file}:${items.map((item) => item.key).join(",")}`;
}

/* What is measured: words of commands, and what the page must know of it. */
function readForm() {
  const scores = chosen("scores"), labels = chosen("labels"), groups = chosen("groups"), weights = chosen("weights");
  if (scores.length === 0) throw new Error("choose at least one column of predictions");
  if (labels.length === 0) throw new Error("choose the column of what really happened");
  if (scores.includes(labels[0])) throw new Error("choose different columns for the predictions and for what really happened");
  const kind = element("kind").value, event = element("event").value.trim();
  const rows = scores[0].rows || 0;
  return {
    inputs: [`--${kind}`, selection(scores), ...(ticked("percent") ? ["--scale", "percent"] : []), kind === "confidence" ? "--correct" : "--labels", selection(labels),
      ...(event && !element("event-part").hidden ? ["--positive", event] : []),
      ...(weights.length > 0 ? ["--weights", selection(weights)] : []),
      ...(ticked("skip") ? ["--skip-missing"] : []), ...header()],
    groups: groups.length > 0 ? ["--groups", selection(groups)] : [],
    used: [...weights.map((item) => `Rows are weighted by ${itemTitle(item)}.`), ...groups.map((item) => `Groups are those of ${itemTitle(item)}.`)].join(" "),
    event: isEvent(),
    intervals: rows * scores.reduce((sum, item) => sum + item.columns, 0) <= MOST_FOR_INTERVALS,
  };
}

// ---- Results ----

const dark = () => matchMedia("(prefers-color-scheme: dark)").matches;
const theme = () => (dark() ? ["--theme", "dark"] : []);
const narrow = () => (innerWidth < 500 ? ["--width", "380"] : []); // the size of its text does not depend on it

function show(value) {
  if (value === null || value === undefined) return "";
  if (typeof value !== "number") return String(value);
  return value === 0 ? "0" : Math.abs(value) >= 1000 || Math.abs(value) < 1e-4 ? value.toExponential(2) : value.toPrecision(3);
}

const showInterval = (interval) => (interval ? `${show(interval.low)} to ${show(interval.high)}` : "");

function fillTable(id, rows) {
  const body = element(id).tBodies[0];
  body.replaceChildren(...rows.map((cells) => {
    const row = document.createElement("tr");
    cells.forEach((text, i) => {
      const cell = document.createElement(i === 0 ? "th" : "td");
      if (i === 0) cell.scope = "row";
      cell.textContent = text;
      if (i === 0 && state.titles.has(text)) {
        const title = document.createElement("span");
        title.className = "hint";
        title.textContent = state.titles.get(text);
        cell.append(" ", title);
      }
      row.append(cell);
    });
    return row;
  }));
}

function showFigure(id, name, text) {
  const url = URL.createObjectURL(new Blob([state.made.get(name)], { type: "image/svg+xml" }));
  state.urls.push(url);
  const image = new Image();
  image.src = url;
  image.alt = text;
  const caption = document.createElement("figcaption");
  caption.textContent = text;
  element(id).replaceChildren(image, caption);
}

function offer(name, text) {
  const url = URL.createObjectURL(new Blob([state.made.get(name)]));
  state.urls.push(url);
  const item = document.createElement("li"), link = document.createElement("a");
  link.href = url;
  link.download = name;
  link.textContent = name;
  item.dataset.name = name;
  item.append(link, `: ${text}`);
  const old = element("downloads").querySelector(`[data-name="${name}"]`);
  if (old) old.replaceWith(item);
  else element("downloads").append(item);
}

/* What metrics of classes are called in full; some names are those of metrics of predicted numbers too. */
async function learnTitles() {
  const result = await ask(["list", "metrics", "--json"]);
  state.titles = new Map(JSON.parse(result.out).rows.filter((row) => row.task !== "regression").map((row) => [row.name, row.title]));
}

function showMeasure(about) {
  const [first, ...rest] = about.verdict.split("\n");
  element("verdict-first").textContent = first;
  element("verdict-rest").replaceChildren(...rest.map((sentence) => {
    const line = document.createElement("p");
    line.textContent = sentence;
    return line;
  }));
  fillTable("metrics", about.results.map((result) => [result.metric, show(result.value), showInterval(result.interval)]));
  const advice = about.judgement && about.judgement.advice;
  const suggested = advice && advice.method ? advice.method : "temperature";
  const names = METHODS.includes(suggested) ? METHODS : [suggested, ...METHODS];
  element("method").replaceChildren(...names.map((name) => new Option(name === suggested ? `${name} (suggested)` : name, name)));
  element("method").value = suggested;
}

/* The metric chosen, of each group. */
function showGroups() {
  const result = state.about.results.find((each) => each.metric === element("by-metric").value);
  fillTable("by-group", Object.entries(result.groups).map(([name, group]) => [name, show(group.weight), show(group.value), showInterval(group.interval)]));
}

function fillGroups() {
  const about = state.about, names = about.results.filter((result) => result.groups).map((result) => result.metric);
  element("groups-part").hidden = names.length === 0;
  if (names.length === 0) return;
  const before = element("by-metric").value;
  element("by-metric").replaceChildren(...names.map((name) => new Option(state.titles.has(name) ? `${name}: ${state.titles.get(name)}` : name, name)));
  element("by-metric").value = [before, "ece"].find((name) => names.includes(name)) || names[0];
  element("group-size").textContent = about.data.weighted ? "weight" : "rows";
  showGroups();
}

const figure = (...words) => ["plot", "reliability", ...state.asked.inputs, ...words, ...(state.asked.intervals ? [] : ["--interval", "0"]), ...narrow(), ...theme()];

/* Measures and draws, with intervals or without. */
async function results(intervals) {
  const { inputs, groups, event } = state.asked, metrics = event ? ["--metric", "clinical", "--metric", "default"] : [];
  const result = await run(["measure", ...inputs, ...groups, ...metrics, ...(intervals ? ["--interval", "0.95"] : []), "--json"],
    intervals ? "Measuring, with intervals" : "Measuring");
  state.asked.intervals = intervals;
  state.about = JSON.parse(result.out);
  showMeasure(state.about);
  fillGroups();
  element("no-intervals").hidden = intervals;
  await run([...figure(), "-o", "reliability.svg"], "Drawing");
  showFigure("before", "reliability.svg", "Reliability diagram before repair: how often predictions of each confidence are right");
  offer("reliability.svg", "the figure above");
  element("group-figure").replaceChildren();
  if (groups.length > 0 && (state.about.data.group_names || []).length <= MOST_CURVES) {
    await run([...figure(...groups), "-o", "groups.svg"], "Drawing");
    showFigure("group-figure", "groups.svg", "Reliability diagram of each group");
    offer("groups.svg", "the figure of the groups");
  }
}

async function measure() {
  await busy(async () => {
    const asked = readForm();
    state.asked = asked;
    state.fitted = null;
    state.urls.splice(0).forEach((url) => URL.revokeObjectURL(url));
    element("result").hidden = true;
    element("repaired").hidden = true;
    element("downloads").replaceChildren();
    if (!state.titles) await learnTitles();
    element("clinical-part").hidden = !asked.event;
    element("used").textContent = asked.used;
    await results(asked.intervals);
    element("result").hidden = false;
    element("result-title").focus();
  });
}

async function addIntervals() {
  await busy(async () => {
    await results(true);
    element("metrics-region").focus();
  });
}

/* A figure does not skip rows with missing values, as the other commands do. */
async function drawRepaired(method) {
  try {
    await run([...figure("--calibrator", "calibrator.json"), "-o", "repaired.svg"], "Drawing");
    showFigure("after", "repaired.svg", `Reliability diagram after ${method}, on the rows it was fitted to`);
  } catch (error) {
    if (error instanceof Cancelled) throw error;
    element("after").textContent = `There is no diagram after ${method}: ${error.message}`;
  }
}

async function repair() {
  await busy(async () => {
    const method = element("method").value;
    const result = await run(["compare", ...state.asked.inputs, "--method", method, "--json"], `Comparing ${method} by cross-validation`);
    await run(["fit", ...state.asked.inputs, "--method", method, "-o", "calibrator.json"], `Fitting ${method}`);
    state.fitted = method;
    await drawRepaired(method);
    const about = JSON.parse(result.out), [before, after] = ["identity", method].map((name) => about.methods.find((row) => row.name === name));
    fillTable("change", Object.keys(after.metrics).map((name) => [name, show(before.metrics[name]), show(after.metrics[name]),
      `${show(after.improvement[name] && after.improvement[name].value)} (${showInterval(after.improvement[name])})`]));
    element("repair-text").textContent = `Judged on rows that ${method} was not fitted to (${about.folds} folds).`;
    element("repaired").hidden = false;
    offer("calibrator.json", `the calibrator (${method}), for propercal apply and Python`);
    for (const [name, text] of [["calibrator.c", "the same as C source"], ["calibrator.onnx", "the same as an ONNX model"]]) {
      try {
        await run(["export", "calibrator.json", "-o", name], "Exporting");
        offer(name, text);
      } catch (error) {
        if (error instanceof Cancelled) throw error; // a method that cannot be exported has no such file
      }
    }
  });
}

async function makeReport() {
  await busy(async () => {
    const { inputs, groups } = state.asked, calibrator = state.fitted ? ["--method", state.fitted] : [];
    await run(["report", ...inputs, ...groups, ...calibrator, "-o", "report.html"], "Making the report");
    offer("report.html", "all results on one page");
  });
}

/* One sheet of A4 with the text for a paper. */
async function makeSheet() {
  await busy(async () => {
    await run(["report", "--preset", "clinical", ...state.asked.inputs, ...state.asked.groups, "-o", "sheet.html"], "Making the sheet");
    offer("sheet.html", "one sheet with curves, and sentences for a paper");
  });
}

// ---- Events ----

async function bytesOf(list) {
  const known = element("files").accept.split(",");
  return Promise.all([...list].map(async (file) => {
    if (!known.some((extension) => file.name.toLowerCase().endsWith(extension)))
      throw new Error(`${file.name} is none of the files that this page reads (${known.join(" ")}); save its table as CSV, or paste it`);
    try {
      return { name: file.name, bytes: new Uint8Array(await file.arrayBuffer()) };
    } catch (error) {
      throw new Error(`${file.name} cannot be read (${error.message}); choose it again`);
    }
  }));
}

function useDigits() {
  const sources = [...document.querySelectorAll("[data-digits]")];
  useFiles(Promise.all(sources.map(async (part) => ({ name: part.dataset.digits, bytes: await unpack(part.textContent) }))));
}

function usePasted() {
  let text = element("pasted").value.trim();
  if (/(^|\t)0,\d+\s*($|\t)/m.test(text) && !text.includes(";")) text = text.replaceAll("\t", ";"); // cells of a spreadsheet with decimal commas
  const name = text.startsWith("{") ? "pasted.jsonl" : text.includes("\t") ? "pasted.tsv" : "pasted.csv";
  useFiles(Promise.resolve([{ name, bytes: new TextEncoder().encode(text + "\n") }]));
}

function listen() {
  const drop = element("drop");
  element("files").addEventListener("click", (event) => (event.target.value = "")); // a file chosen again, since changed, is read again
  element("files").addEventListener("change", (event) => {
    if (event.target.files.length > 0) useFiles(bytesOf(event.target.files));
  });
  element("header").addEventListener("change", () => useFiles(Promise.resolve(state.files), true));
  element("try-digits").addEventListener("click", useDigits);
  element("use-pasted").addEventListener("click", usePasted);
  for (const id of ["kind", "scores", "labels", "weights", "groups"]) element(id).addEventListener("change", showLabelKind);
  element("form").addEventListener("submit", (event) => {
    event.preventDefault();
    measure();
  });
  element("add-intervals").addEventListener("click", addIntervals);
  element("by-metric").addEventListener("change", showGroups);
  element("repair").addEventListener("click", repair);
  element("make-report").addEventListener("click", makeReport);
  element("make-sheet").addEventListener("click", makeSheet);
  element("cancel").addEventListener("click", cancel);
  for (const name of ["dragover", "dragleave", "drop"])
    document.addEventListener(name, (event) => {
      event.preventDefault();
      drop.classList.toggle("over", name === "dragover");
      if (name === "drop" && event.dataTransfer.files.length > 0) useFiles(bytesOf(event.dataTransfer.files));
    });
}

listen();
