"use strict";
const data = JSON.parse(document.getElementById("data").textContent);
const at = (id) => document.getElementById(id);
const parts = [...document.querySelectorAll("[data-field]")]; // each a group of radio buttons
const sections = [...document.querySelectorAll("section.summary")];
const storageKey = `rlsum human-eval ${data.study} ${data.booklet}`;
let state = kept();
let seen = null; // when the task on the screen was last timed; null while it is hidden

function kept() {
  const fresh = { judge: "", position: 0, shortcuts: true, tasks: {} };
  try {
    const stored = JSON.parse(localStorage.getItem(storageKey) || "null");
    return stored && stored.tasks && typeof stored.tasks === "object" ? { ...fresh, ...stored } : fresh;
  } catch {
    return fresh;
  }
}

function keep() {
  try {
    localStorage.setItem(storageKey, JSON.stringify(state));
    at("unkept").hidden = true;
  } catch {
    at("unkept").hidden = false;
  }
}

const task = () => data.tasks[state.position];
const record = (id) => (state.tasks[id] ??= { answers: {}, comment: "", seconds: 0, submitted: null });
const asked = (each) => data.fields[each.texts.length]; // criterion -> field -> values
const fields = (each) => Object.assign({}, ...Object.values(asked(each)));
const complete = (each) => Object.keys(fields(each)).every((field) => state.tasks[each.task]?.answers[field]);
const answered = () => data.tasks.filter((each) => complete(each) && state.tasks[each.task].submitted);
const lines = (text) => text.replace(/\r\n?/g, "\n"); // as HTML reads them, and so the app; else "\r" is a space
const counted = (number) => `${number} comparison${number === 1 ? "" : "s"}`;
const show = (section) => ["start", "work", "end"].forEach((id) => { at(id).hidden = id !== section; });
const open = () => parts.filter((part) => !part.hidden && !record(task().task).answers[part.dataset.field]);

function clock() {
  const now = Date.now();
  if (seen !== null && task()) record(task().task).seconds += (now - seen) / 1000;
  seen = document.hidden || at("work").hidden ? null : now;
}

function showTask() {
  clock();
  show("work");
  const { article, texts, task: id } = task();
  const { answers, comment } = record(id);
  const shown = fields(task());
  at("article").textContent = lines(article);
  at("article").scrollTop = 0;
  sections.forEach((section, number) => {
    section.hidden = number >= texts.length;
    section.querySelector(".text").textContent = texts[number]?.trim() ? lines(texts[number]) : "(This summary is empty.)";
  });
  for (const part of parts) part.hidden = !(part.dataset.field in shown);
  for (const input of at("answers").querySelectorAll("input")) {
    input.checked = answers[input.name] === input.value;
    input.closest("label").hidden = !shown[input.name]?.includes(input.value);
  }
  at("comment").value = comment;
  at("error").textContent = "";
  for (const part of parts) part.removeAttribute("aria-invalid");
  at("heading").textContent = `Comparison ${state.position + 1} of ${data.tasks.length}`;
  at("previous").disabled = state.position === 0;
  at("progress").max = data.tasks.length;
  at("progress").value = answered().length;
  at("answered").textContent = `${answered().length} answered`;
  mark();
  keep();
  scrollTo(0, 0);
  at("heading").focus({ preventScroll: true });
  seen = Date.now();
}

function mark(chosen) {
  const current = chosen ?? open()[0] ?? null;
  for (const part of parts) part.classList.toggle("current", part === current);
}

function submit(event) {
  event.preventDefault();
  const missing = open();
  for (const part of missing) part.setAttribute("aria-invalid", "true");
  if (missing.length) {
    const all = parts.filter((part) => !part.hidden).length;
    at("error").textContent = `Please answer every question: ${missing.length} of ${all} left.`;
    missing[0].querySelector("input").focus();
    return;
  }
  record(task().task).submitted ??= new Date().toISOString();
  if (state.position + 1 < data.tasks.length) go(state.position + 1);
  else showEnd();
}

function showEnd() {
  clock();
  show("end");
  seen = null;
  keep();
  const left = data.tasks.length - answered().length;
  at("summary").textContent = left
    ? `You answered ${answered().length} of ${counted(data.tasks.length)}; ${left} ${left === 1 ? "is" : "are"} unanswered.`
    : `All done: ${counted(data.tasks.length)} answered.`;
  at("open").hidden = left === 0;
  at("file").textContent = fileName();
  at("copy").value = result();
  at("end-title").focus();
}

function fileName() {
  const judge = state.judge.normalize("NFKD").replace(/[^A-Za-z0-9]+/g, "-").replace(/^-|-$/g, "").slice(0, 40);
  return `${data.study}-${data.booklet + 1}-${judge || "judge"}.json`;
}

function result() {
  const judgments = answered().map((each) => {
    const id = each.task;
    const { answers: chosen, comment, seconds, submitted } = state.tasks[id];
    const answers = Object.fromEntries(Object.entries(asked(each)).map(
      ([criterion, of]) => [criterion, Object.keys(of).map((field) => chosen[field]).join(" ")]));
    return { task: id, answers, comment, seconds: Math.round(seconds * 10) / 10, submitted };
  });
  return JSON.stringify({ format: data.format, study: data.study, booklet: data.booklet, judge: state.judge, judgments }, null, 1);
}

function save() {
  const link = document.createElement("a");
  link.href = URL.createObjectURL(new Blob([result()], { type: "application/json" }));
  link.download = fileName();
  document.body.append(link);
  link.click();
  link.remove();
  setTimeout(() => URL.revokeObjectURL(link.href), 60000);
}

function go(position) {
  if (position < 0) return;
  clock(); // the time until now is that of the old task
  state.position = position;
  showTask();
}

function answer(part, value) {
  const now = record(task().task);
  const others = [...(part.closest("[data-distinct]")?.querySelectorAll("[data-field]") ?? [])];
  for (const other of others.filter((each) => now.answers[each.dataset.field] === value)) {
    delete now.answers[other.dataset.field]; // the newer choice counts
    other.querySelector("input:checked").checked = false;
  }
  now.answers[part.dataset.field] = value;
  part.querySelector(`input[value="${CSS.escape(value)}"]`).checked = true;
  if (now.submitted) now.submitted = new Date().toISOString(); // a changed answer is submitted again
  part.removeAttribute("aria-invalid");
  keep();
}

function press(event) {
  const typing = event.target.matches("textarea, input[type=text]");
  const held = event.repeat || event.ctrlKey || event.altKey || event.metaKey;
  if (at("work").hidden || typing || held || !state.shortcuts) return;
  const key = event.key.toLowerCase();
  const current = document.querySelector(".part.current");
  const input = current?.querySelector(`label:not([hidden]) input[data-keys~="${CSS.escape(key)}"]`);
  if (input) {
    answer(current, input.value);
    mark();
    (document.querySelector(".part.current")?.querySelector("input") ?? input).focus();
  } else if (event.key === "Enter" && !event.target.matches("button, summary")) submit(event);
  else if (key === "p") go(state.position - 1);
  else if (key === "d") at("article-box").open = !at("article-box").open;
  else if (key === "c") at("comment").focus();
  else return;
  event.preventDefault();
}

at("count").textContent = counted(data.tasks.length);
at("judge").value = state.judge;
at("shortcuts").checked = state.shortcuts;
at("begin").addEventListener("submit", (event) => {
  event.preventDefault();
  const judge = at("judge").value.trim();
  if (!judge) return at("judge").focus();
  const other = state.judge && state.judge !== judge && Object.keys(state.tasks).length;
  if (other && !confirm(`Continue with the answers of ${state.judge}? Cancel discards them and starts again.`)) {
    state = { ...state, position: 0, tasks: {} };
  }
  state.judge = judge;
  state.shortcuts = at("shortcuts").checked;
  state.position = Math.max(0, Math.min(state.position | 0, data.tasks.length - 1));
  showTask();
});
at("answers").addEventListener("submit", submit);
at("answers").addEventListener("change", (event) => {
  if (event.target.type !== "radio") return;
  answer(event.target.closest(".part"), event.target.value);
  mark();
});
at("answers").addEventListener("focusin", (event) => {
  const part = event.target.closest(".part");
  if (part) mark(part);
});
at("comment").addEventListener("input", () => {
  record(task().task).comment = at("comment").value;
  keep();
});
at("previous").addEventListener("click", () => go(state.position - 1));
at("back").addEventListener("click", showTask);
at("open").addEventListener("click", () => go(data.tasks.findIndex((each) => !answered().includes(each))));
at("save").addEventListener("click", save);
document.addEventListener("keydown", press);
// Before Begin there is nothing new to store, and the state read at load may be stale: a browser under load can deliver
// what another page wrote late. Storing the stale state would replace newer answers.
const leave = () => {
  if (!at("start").hidden) return;
  clock();
  keep();
};
document.addEventListener("visibilitychange", leave);
addEventListener("pagehide", leave);
