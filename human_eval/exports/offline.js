"use strict";
const data = JSON.parse(document.getElementById("data").textContent);
const at = (id) => document.getElementById(id);
const fieldsets = [...document.querySelectorAll("fieldset[data-criterion]")];
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
const complete = (id) => data.criteria.every((criterion) => state.tasks[id]?.answers[criterion.id]);
const answered = () => data.tasks.filter((each) => complete(each.task) && state.tasks[each.task].submitted);

function clock() {
  const now = Date.now();
  if (seen !== null && task()) record(task().task).seconds += (now - seen) / 1000;
  seen = document.hidden || at("work").hidden ? null : now;
}

function show(section) {
  for (const id of ["start", "work", "end"]) at(id).hidden = id !== section;
}

function showTask() {
  clock();
  show("work");
  const { article, left, right, task: id } = task();
  const { answers, comment } = record(id);
  at("article").textContent = article;
  at("article").scrollTop = 0;
  at("left").textContent = left.trim() ? left : "(This summary is empty.)";
  at("right").textContent = right.trim() ? right : "(This summary is empty.)";
  for (const input of at("answers").querySelectorAll("input")) input.checked = answers[input.name] === input.value;
  at("comment").value = comment;
  at("error").textContent = "";
  for (const fieldset of fieldsets) fieldset.classList.remove("missing");
  at("heading").textContent = `Comparison ${state.position + 1} of ${data.tasks.length}`;
  at("previous").disabled = state.position === 0;
  mark();
  progress();
  keep();
  scrollTo(0, 0);
  at("heading").focus({ preventScroll: true });
  seen = Date.now();
}

function progress() {
  const done = answered().length;
  at("progress").max = data.tasks.length;
  at("progress").value = done;
  at("answered").textContent = `${done} answered`;
}

function mark(chosen) {
  const open = fieldsets.find((fieldset) => !record(task().task).answers[fieldset.dataset.criterion]);
  const current = chosen ?? open ?? null;
  for (const fieldset of fieldsets) fieldset.classList.toggle("current", fieldset === current);
}

function submit() {
  const { answers } = record(task().task);
  const open = fieldsets.filter((fieldset) => !answers[fieldset.dataset.criterion]);
  for (const fieldset of fieldsets) fieldset.classList.toggle("missing", open.includes(fieldset));
  if (open.length) {
    at("error").textContent = `Please answer every question: ${open.length} of ${fieldsets.length} left.`;
    open[0].querySelector("input").focus();
    return;
  }
  record(task().task).submitted ??= new Date().toISOString();
  clock();
  if (state.position + 1 < data.tasks.length) {
    state.position += 1;
    showTask();
  } else showEnd();
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

function counted(number) {
  return `${number} comparison${number === 1 ? "" : "s"}`;
}

function fileName() {
  const judge = state.judge.normalize("NFKD").replace(/[^A-Za-z0-9]+/g, "-").replace(/^-|-$/g, "").slice(0, 40);
  return `${data.study}-${data.booklet + 1}-${judge || "judge"}.json`;
}

function result() {
  const judgments = answered().map(({ task: id }) => {
    const { answers, comment, seconds, submitted } = state.tasks[id];
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

function previous() {
  if (state.position === 0) return;
  clock();
  state.position -= 1;
  showTask();
}

function answer(fieldset, value) {
  const now = record(task().task);
  now.answers[fieldset.dataset.criterion] = value;
  if (now.submitted) now.submitted = new Date().toISOString(); // a changed answer is submitted again
  fieldset.classList.remove("missing");
  keep();
}

function press(event) {
  const typing = event.target.matches("textarea, input[type=text]");
  const held = event.repeat || event.ctrlKey || event.altKey || event.metaKey;
  if (at("work").hidden || typing || held || !state.shortcuts) return;
  const key = event.key.toLowerCase();
  const current = document.querySelector("fieldset.current");
  const input = current?.querySelector(`input[data-keys~="${CSS.escape(key)}"]`);
  if (input) {
    input.checked = true;
    answer(current, input.value);
    mark();
    (document.querySelector("fieldset.current")?.querySelector("input") ?? input).focus();
  } else if (event.key === "Enter" && !event.target.matches("button, summary")) submit();
  else if (key === "p") previous();
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
at("answers").addEventListener("submit", (event) => {
  event.preventDefault();
  submit();
});
at("answers").addEventListener("change", (event) => {
  if (event.target.type !== "radio") return;
  answer(event.target.closest("fieldset"), event.target.value);
  mark();
});
at("answers").addEventListener("focusin", (event) => {
  const fieldset = event.target.closest("fieldset");
  if (fieldset) mark(fieldset);
});
at("comment").addEventListener("input", () => {
  record(task().task).comment = at("comment").value;
  keep();
});
at("previous").addEventListener("click", previous);
at("back").addEventListener("click", showTask);
at("open").addEventListener("click", () => {
  state.position = data.tasks.findIndex((each) => !answered().includes(each));
  showTask();
});
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
