// The item page: keys, search in the article, unanswered questions. The form also works without this script.
"use strict";

const $ = (id) => document.getElementById(id);
const form = $("answers");
const article = $("article");
const dialog = $("keys");
const questions = [...document.querySelectorAll(".part")]; // each a group of radio buttons
const radios = (question) => [...question.querySelectorAll("input")];
const isAnswered = (question) => radios(question).some((radio) => radio.checked);

// ---- choices stored in this browser, which may refuse to store them

const memory = {
  get(name) { try { return localStorage.getItem(name); } catch { return null; } },
  set(name, value) { try { localStorage.setItem(name, value); } catch { /* not stored */ } },
};

// ---- a draft: what is chosen and written but not yet sent, kept over a reload

function keepDraft() {
  const chosen = questions.flatMap(radios).filter((radio) => radio.checked).map((radio) => [radio.name, radio.value]);
  const comment = $("comment-field").value;
  memory.set("rlsum draft", JSON.stringify({ id: form.dataset.draft, chosen, comment }));
}

function restoreDraft() {
  let draft = null;
  try { draft = JSON.parse(memory.get("rlsum draft")); } catch { /* not a draft */ }
  if (!draft || draft.id !== form.dataset.draft || !Array.isArray(draft.chosen)) return;
  for (const [name, value] of draft.chosen) {
    const radio = questions.flatMap(radios).find((each) => each.name === name && each.value === value);
    if (radio) radio.checked = true;
  }
  if (draft.comment) { $("comment-field").value = draft.comment; $("comment").open = true; }
}

restoreDraft();

// ---- questions

let current = Math.max(0, questions.findIndex((question) => !isAnswered(question)));

function mark(index) {
  current = index;
  questions.forEach((question, number) => question.classList.toggle("current", number === index));
}

function go(index) {
  if (index < 0 || index >= questions.length) return;
  mark(index);
  const choices = radios(questions[index]);
  (choices.find((radio) => radio.checked) || choices[0]).focus();
  questions[index].scrollIntoView({ block: "nearest" });
}

// The best and the worst cannot be the same: the newer choice counts.
function keepDistinct(radio) {
  const parts = radio.closest("[data-distinct]");
  if (!parts) return;
  for (const other of parts.querySelectorAll("input")) {
    if (other !== radio && other.name !== radio.name && other.value === radio.value) other.checked = false;
  }
}

function answer(radio) {
  radio.checked = true;
  keepDistinct(radio);
  count();
  keepDraft();
  if (current + 1 < questions.length) go(current + 1);
  else { mark(current); form.querySelector("button[type=submit]").focus(); }
}

function count() {
  const open = questions.filter((question) => !isAnswered(question)).length;
  questions.filter(isAnswered).forEach((question) => question.removeAttribute("aria-invalid"));
  if (open === 0) document.querySelectorAll(".unanswered").forEach((told) => told.remove());
  $("left").textContent = open === 0 ? "" : form.dataset.left.replace("#", open);
}

questions.forEach((question, index) => question.addEventListener("focusin", () => mark(index)));
form.addEventListener("change", (event) => {
  if (event.target.type === "radio") keepDistinct(event.target);
  count();
  keepDraft();
});
form.addEventListener("input", keepDraft);
form.noValidate = true; // the browser's own message would cover the next question
form.addEventListener("submit", (event) => {
  const open = questions.findIndex((question) => !isAnswered(question));
  if (open >= 0) {
    event.preventDefault();
    questions.forEach((question) => question.toggleAttribute("aria-invalid", !isAnswered(question)));
    document.querySelectorAll(".unanswered").forEach((old) => old.remove());
    const told = Object.assign(document.createElement("p"), { className: "notice problem unanswered", role: "alert" });
    told.textContent = form.dataset.open;
    questions[open].closest(".question").before(told);
    go(open);
    told.scrollIntoView({ block: "start" });
    return;
  }
  if (form.dataset.sent) event.preventDefault(); // the server ignores a repeated post too
  form.dataset.sent = "yes";
});
window.addEventListener("pageshow", () => { delete form.dataset.sent; count(); });

// ---- the article: open or closed as before; initially open

article.open = memory.get("rlsum article") !== "closed";
article.addEventListener("toggle", () => memory.set("rlsum article", article.open ? "open" : "closed"));

// ---- search: each match becomes a mark; texts are set as text, never as HTML

const LIMIT = 2000; // marks
const field = $("search-field");
const text = $("article-text");
const whole = text.textContent;
let marks = [];
let shown = -1;

function search() {
  const wanted = field.value.trim();
  const pattern = new RegExp(wanted.replace(/[.*+?^${}()|[\]\\]/g, "\\$&").replace(/\s+/g, "\\s+"), "giu");
  const pieces = [];
  let end = 0;
  marks = [];
  shown = -1;
  for (const match of wanted ? whole.matchAll(pattern) : []) {
    if (marks.length === LIMIT) break;
    const mark = document.createElement("mark");
    mark.textContent = match[0];
    pieces.push(whole.slice(end, match.index), mark);
    marks.push(mark);
    end = match.index + match[0].length;
  }
  text.replaceChildren(...pieces, whole.slice(end));
  if (marks.length) show(0);
  else $("search-count").textContent = wanted ? form.dataset.missing : "";
}

function show(index) {
  if (!marks.length) return;
  if (marks[shown]) marks[shown].classList.remove("here");
  shown = (index + marks.length) % marks.length;
  marks[shown].classList.add("here");
  const top = marks[shown].getBoundingClientRect().top - text.getBoundingClientRect().top;
  if (text.scrollHeight > text.clientHeight) text.scrollTop += top - text.clientHeight / 3; // the article, not the page
  else marks[shown].scrollIntoView({ block: "center" });
  $("search-count").textContent = `${shown + 1} / ${marks.length}${marks.length === LIMIT ? "+" : ""}`;
}

$("search").hidden = false;
field.addEventListener("input", search);
$("search-next").addEventListener("click", () => show(shown + 1));
$("search-previous").addEventListener("click", () => show(shown - 1));
field.addEventListener("keydown", (event) => {
  if (event.key === "Enter") { event.preventDefault(); show(shown + (event.shiftKey ? -1 : 1)); }
  if (event.key === "Escape") { field.value = ""; search(); go(current); }
});

// ---- keys

const keysOn = $("keys-on");
keysOn.checked = memory.get("rlsum keys") !== "off";
keysOn.addEventListener("change", () => memory.set("rlsum keys", keysOn.checked ? "on" : "off"));
$("keys-button").hidden = false;
$("keys-button").addEventListener("click", () => dialog.showModal());

const KEYS = {
  j: () => go(current + 1), k: () => go(current - 1),
  u: () => $("undo") && $("undo").click(),
  t: () => { article.open = !article.open; },
  c: () => { $("comment").open = true; $("comment-field").focus(); },
  "/": () => { article.open = true; field.focus(); field.select(); },
  "?": () => dialog.showModal(),
};

document.addEventListener("keydown", (event) => {
  if (dialog.open || event.isComposing || event.altKey) return;
  const writing = event.target.matches("textarea, input[type=search]");
  if (event.key === "Enter" && (event.target === document.body || event.target.matches("[role=region]") || (event.ctrlKey && writing))) {
    event.preventDefault();
    form.requestSubmit();
    return;
  }
  if (event.key === "Escape" && event.target === $("comment-field")) go(current);
  if (writing || event.ctrlKey || event.metaKey || !keysOn.checked) return;
  const key = event.key.toLowerCase();
  const radio = radios(questions[current]).find((each) => each.dataset.keys.split(" ").includes(key));
  const action = radio ? () => answer(radio) : KEYS[key];
  if (!action) return;
  event.preventDefault();
  action();
});

count();
mark(current);
if ($("problem")) $("problem").focus();
