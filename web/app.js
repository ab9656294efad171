/* The page: reads files, asks which columns are what, runs the program in a worker, shows results.
 * All numbers come from the program; this script only shows them. */
"use strict";

const METHODS = ["temperature", "ets", "platt", "beta", "isotonic", "histogram", "vector", "spline"];
const LABEL_NAME = /^(labels?|y|y_?true|truth|target|class|outcome|event|died|correct|actual|response)$/i;
const SHARE_NAME = /^(p|q)\d*$|^(prob|risk)/i;
const OTHER_NAME = /^(id|index|row|name|key|date|time|group|weight)s?$|_id$|^(patient|subject|customer|user|sample)(_?(id|no|number))?$/i;

const MOST_FOR_INTERVALS = 300000; // numbers; resampling more takes minutes in a browser

const element = (id) => document.getElementById(id);
const state = { engine: null, worker: null, ready: null, waiting: new Map(), next: 1, files: [], items: [], inputs: [], made: new Map(), commands: [], urls: [], titles: null,
  turn: Promise.resolve(), queued: 0 };

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

async function unpack(text) {
  const stream = new Blob([bytesOfText(text)]).stream().pipeThrough(new DecompressionStream("gzip"));
  return new Uint8Array(await new Response(stream).arrayBuffer());
}

async function startWorker() {
  state.engine = state.engine || (await unpack(element("engine-source").textContent));
  const source = URL.createObjectURL(new Blob([element("worker-source").textContent], { type: "text/javascript" }));
  const worker = new Worker(source);
  URL.revokeObjectURL(source);
  state.worker = worker;
  await new Promise((resolve, reject) => {
    worker.onmessage = ({ data }) => (data.ready ? resolve() : answer(data));
    worker.onerror = (event) => reject(new Error(event.message));
    worker.postMessage({ engine: state.engine });
  });
  worker.postMessage({ files: state.files });
}

function answer(data) {
  if (data.progress !== undefined) {
    element("progress").textContent = data.progress;
    return;
  }
  const settle = state.waiting.get(data.id);
  state.waiting.delete(data.id);
  if (settle) settle.resolve(data);
}

class Cancelled extends Error {}

function cancel() {
  state.worker.terminate();
  for (const { reject } of state.waiting.values()) reject(new Cancelled());
  state.waiting.clear();
  state.ready = startWorker();
}

async function ask(words) {
  await state.ready;
  const id = state.next++;
  return new Promise((resolve, reject) => {
    state.waiting.set(id, { resolve, reject });
    state.worker.postMessage({ run: id, words });
  });
}

/* Runs one command; fails with the program's own sentence. */
async function run(words, step) {
  element("step").textContent = step;
  element("progress").textContent = "";
  const result = await ask(words);
  if (result.code !== 0) throw new Error(result.err.replace(/^propercal: /, "").replace(/\ntry: propercal.*$/, ""));
  for (const file of result.files) state.made.set(file.name, file.bytes);
  state.commands.push(words);
  element("commands").textContent = state.commands.map(commandLine).join("\n");
  return result;
}

const commandLine = (words) =>
  ["propercal", ...words].map((word) => (/^[\w.,:/=+-]+$/.test(word) ? word : `'${word.replaceAll("'", "'\\''")}'`)).join(" ");

/* Shows that something runs, and any error; buttons wait until no work is left, and so does other work. */
function busy(work) {
  for (const button of document.querySelectorAll("button:not(#cancel)")) button.disabled = true;
  state.queued += 1;
  state.turn = state.turn.then(() => alone(work));
  return state.turn;
}

async function alone(work) {
  element("problem").hidden = true;
  element("work").hidden = false;
  try {
    await work();
  } catch (error) {
    if (!(error instanceof Cancelled)) {
      element("problem").textContent = error.message;
      element("problem").hidden = false;
    }
    element("loaded").textContent = error instanceof Cancelled ? "Cancelled." : "";
  }
  element("work").hidden = true;
  state.queued -= 1;
  if (state.queued === 0) for (const button of document.querySelectorAll("button")) button.disabled = false;
}

// ---- Files ----

/* A name that needs no quotes, and in which no character selects columns. */
function plainName(name) {
  return name.replace(/[^\p{L}\p{N}._-]/gu, "_").replace(/^-/, "_");
}

/* reading: a promise of names and bytes. */
async function useFiles(reading) {
  await busy(async () => {
    element("step").textContent = "Reading";
    const list = await reading;
    state.files = list;
    state.made.clear();
    state.commands = [];
    for (const id of ["columns", "result"]) element(id).hidden = true;
    element("downloads").replaceChildren();
    if (!state.ready) state.ready = startWorker();
    else state.ready.then(() => state.worker.postMessage({ files: list }));
    state.items = [];
    for (const file of list) {
      const result = await run(["inspect", file.name, "--json"], `Reading ${file.name}`);
      state.items.push(...itemsOf(JSON.parse(result.out)));
    }
    element("loaded").textContent = `${list.map((file) => file.name).join(", ")}: ${state.items[0].rows || ""} rows`.replace(":  rows", "");
    fillForm();
    element("columns").hidden = false;
    element("columns-title").focus();
  });
}

/* What can be chosen: columns of a table, members of an archive, whole arrays. */
function itemsOf(about) {
  const file = about.file;
  if (about.members)
    return about.members.filter((member) => !member.why).map((member) => ({
      file, name: member.name, columns: member.columns, rows: member.rows, key: member.name, whole: true }));
  if (about.format === "npy")
    return [{ file, name: null, columns: about.columns.length, rows: about.rows, key: null, whole: true, hint: about.hint, range: rangeOf(about.columns) }];
  return about.columns.map((column, index) => ({
    file, name: column.name, columns: 1, rows: about.rows, index, words: column.words, range: rangeOf([column]),
    key: /^[A-Za-z_]\w*$/.test(column.name || "") ? column.name : String(index) }));
}

const rangeOf = (columns) => [Math.min(...columns.map((c) => c.min)), Math.max(...columns.map((c) => c.max))];

const itemTitle = (item) =>
  (state.files.length > 1 ? `${item.file}: ` : "") +
  (item.whole ? `${item.name || "whole array"}, ${item.columns} ${item.columns === 1 ? "column" : "columns"}` : item.name || `column ${item.index}`);

// ---- The guess ----

const isShare = (item) => item.range && item.range[0] >= 0 && item.range[1] <= 1;

function guessLabels() {
  const single = state.items.filter((item) => item.columns === 1);
  return single.find((item) => LABEL_NAME.test(item.name || "")) ||
    single.find((item) => item.hint && /--labels/.test(item.hint)) ||
    single.filter((item) => !OTHER_NAME.test(item.name || "")).pop() || single[single.length - 1] || state.items[0];
}

function guessScores(labels) {
  const left = state.items.filter((item) => item !== labels && !OTHER_NAME.test(item.name || "") && !item.words);
  const named = left.filter((item) => item.whole && /^(logits|probs|log_probs|confidence|scores|predictions)$/.test(item.name || ""));
  if (left.some((item) => item.whole)) return [named[0] || left[0]].filter(Boolean);
  const shares = left.filter(isShare);
  return shares.length > 0 ? shares : left;
}

function guessKind(scores) {
  const name = (scores[0] && scores[0].name) || "";
  if (/^log.?prob/i.test(name)) return "log-probs";
  if (/logit/i.test(name)) return "logits";
  if (/^conf/i.test(name)) return "confidence";
  if (SHARE_NAME.test(name)) return "probs";
  if (scores.some((item) => item.hint && /--logits/.test(item.hint))) return "logits";
  if (scores.every((item) => !item.range || isShare(item))) return "probs";
  return scores.every((item) => item.range[1] <= 0) ? "log-probs" : "logits";
}

function fillForm() {
  const labels = guessLabels(), scores = guessScores(labels);
  const options = (chosen) =>
    state.items.map((item, index) => {
      const option = new Option(itemTitle(item), String(index));
      option.selected = chosen.includes(item);
      return option;
    });
  element("scores").replaceChildren(...options(scores));
  element("scores").size = Math.min(8, Math.max(2, state.items.length));
  element("labels").replaceChildren(...options([labels]));
  element("kind").value = guessKind(scores);
  showLabelKind();
}

const chosenScores = () => [...element("scores").selectedOptions].map((option) => state.items[Number(option.value)]);
const chosenLabels = () => state.items[Number(element("labels").value)];

/* One column that predicts whether an event occurs. */
function isEvent() {
  const scores = chosenScores();
  return element("kind").value !== "confidence" && scores.length === 1 && scores[0].columns === 1;
}

function showLabelKind() {
  element("labels-label").textContent = element("kind").value === "confidence"
    ? "Whether the prediction was correct: 1 or 0" : isEvent()
      ? "What really happened: 1 if the event occurred, 0 if not, or words"
      : "What really happened: the true class, counted from 0, or its name";
  element("event-part").hidden = !(isEvent() && chosenLabels().words > 0);
}

/* FILE, FILE:ARRAY or FILE:COLUMNS. */
function selection(items) {
  const { file } = items[0];
  if (items[0].whole) return items[0].key === null ? file : `${file}:${items[0].key}`;
  const follow = items.every((item, i) => i === 0 || item.index === items[i - 1].index + 1);
  if (items.length > 2 && follow) return `${file}:${items[0].key}..${items[items.length - 1].key}`;
  return `${file}:${items.map((item) => item.key).join(",")}`;
}

function readForm() {
  const scores = chosenScores();
  if (scores.length === 0) throw new Error("choose at least one column of predictions");
  const kind = element("kind").value, event = element("event").value.trim();
  return [`--${kind}`, selection(scores), kind === "confidence" ? "--correct" : "--labels", selection([chosenLabels()]),
    ...(event && !element("event-part").hidden ? ["--positive", event] : [])];
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

/* What metrics are called in full. */
async function learnTitles() {
  const result = await ask(["list", "metrics", "--json"]);
  state.titles = new Map(JSON.parse(result.out).rows.map((row) => [row.name, row.title]));
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

/* Intervals are resampled; for large files only the values are computed. */
function isLarge() {
  const scores = chosenScores();
  return (scores[0].rows || 0) * scores.reduce((sum, item) => sum + item.columns, 0) > MOST_FOR_INTERVALS;
}

const figure = (...words) => ["plot", "reliability", ...state.inputs, ...words, ...(isLarge() ? ["--interval", "0"] : []), ...narrow(), ...theme()];

async function measure() {
  await busy(async () => {
    state.inputs = readForm();
    state.urls.splice(0).forEach((url) => URL.revokeObjectURL(url));
    element("result").hidden = true;
    element("repaired").hidden = true;
    element("downloads").replaceChildren();
    element("no-intervals").hidden = !isLarge();
    if (!state.titles) await learnTitles();
    const metrics = isEvent() ? ["--metric", "clinical", "--metric", "default"] : [];
    const result = await run(["measure", ...state.inputs, ...metrics, ...(isLarge() ? [] : ["--interval", "0.95"]), "--json"], "Measuring");
    element("clinical-part").hidden = !isEvent();
    showMeasure(JSON.parse(result.out));
    await run([...figure(), "-o", "reliability.svg"], "Drawing");
    showFigure("before", "reliability.svg", "Reliability diagram before repair: how often predictions of each confidence are right");
    offer("reliability.svg", "the figure above");
    element("result").hidden = false;
    element("result-title").focus();
  });
}

async function repair() {
  await busy(async () => {
    const method = element("method").value;
    const result = await run(["compare", ...state.inputs, "--method", method, "--json"], `Comparing ${method} by cross-validation`);
    await run(["fit", ...state.inputs, "--method", method, "-o", "calibrator.json"], `Fitting ${method}`);
    await run([...figure("--calibrator", "calibrator.json"), "-o", "repaired.svg"], "Drawing");
    const about = JSON.parse(result.out), [before, after] = ["identity", method].map((name) => about.methods.find((row) => row.name === name));
    fillTable("change", Object.keys(after.metrics).map((name) => [name, show(before.metrics[name]), show(after.metrics[name]),
      `${show(after.improvement[name] && after.improvement[name].value)} (${showInterval(after.improvement[name])})`]));
    element("repair-text").textContent = `Judged on rows that ${method} was not fitted to (${about.folds} folds).`;
    showFigure("after", "repaired.svg", `Reliability diagram after ${method}, on the rows it was fitted to`);
    element("repaired").hidden = false;
    offer("calibrator.json", "the calibrator, for propercal apply and Python");
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
    const calibrator = state.made.has("calibrator.json") && !element("repaired").hidden ? ["--method", element("method").value] : [];
    await run(["report", ...state.inputs, ...calibrator, "-o", "report.html"], "Making the report");
    offer("report.html", "all results on one page");
  });
}

/* One sheet of A4 with the text for a paper. */
async function makeSheet() {
  await busy(async () => {
    await run(["report", "--preset", "clinical", ...state.inputs, "-o", "sheet.html"], "Making the sheet");
    offer("sheet.html", "one sheet with curves, and sentences for a paper");
  });
}

// ---- Events ----

async function bytesOf(list) {
  return Promise.all([...list].map(async (file) => ({ name: plainName(file.name), bytes: new Uint8Array(await file.arrayBuffer()) })));
}

function useDigits() {
  const sources = [...document.querySelectorAll("[data-digits]")];
  useFiles(Promise.all(sources.map(async (part) => ({ name: part.dataset.digits, bytes: await unpack(part.textContent) }))));
}

function usePasted() {
  const text = element("pasted").value.trim();
  const name = text.startsWith("{") ? "pasted.jsonl" : text.includes("\t") ? "pasted.tsv" : "pasted.csv";
  useFiles([{ name, bytes: new TextEncoder().encode(text + "\n") }]);
}

function listen() {
  const drop = element("drop");
  element("files").addEventListener("change", (event) => useFiles(bytesOf(event.target.files)));
  element("try-digits").addEventListener("click", useDigits);
  element("use-pasted").addEventListener("click", usePasted);
  for (const id of ["kind", "scores", "labels"]) element(id).addEventListener("change", showLabelKind);
  element("form").addEventListener("submit", (event) => {
    event.preventDefault();
    measure();
  });
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
