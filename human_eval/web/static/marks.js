// Marking errors in the words of summaries, by mouse, touch and keyboard. The form field holds the marks as text.

const marking = document.getElementById("marking");
const holder = document.getElementById("marks-field");
const categories = [...marking.querySelectorAll("button[data-category]")];
const texts = [...document.querySelectorAll("[data-place]")];
const LETTERS = "ABCDE";
const MARKS_KEY = "rlsum marks";
let marks = []; // {place, start, end, category}; start and end are 0 for a whole summary
let chosen = null; // {place, from, to, used}: numbers of words; used: marked, so that a click begins anew

const wordsOf = (place) => [...texts[place].querySelectorAll(".word")];
const number = (word, name) => Number(word.dataset[name]);
const isIn = (word, mark) => number(word, "start") < mark.end && number(word, "end") > mark.start;
const isWhole = (category) => categories.find((each) => each.dataset.category === category).hasAttribute("data-whole");
const nameOf = (category) => categories.find((each) => each.dataset.category === category).dataset.label;
const keyOf = (category) => String(categories.findIndex((each) => each.dataset.category === category) + 1);

// ---- the marks as text, and back

const order = (a, b) => a.place - b.place || a.start - b.start || a.end - b.end || (a.category < b.category ? -1 : 1);

function written() {
  const parts = [...marks].sort(order).map(({ place, start, end, category }) =>
    `${LETTERS[place]}:${end ? `${start}-${end}:` : ""}${category}`);
  return parts.join(" ") || "none";
}

function read(text) {
  const parts = text === "none" || !text ? [] : text.split(" ");
  return parts.map((part) => part.match(/^([A-E]):(?:(\d+)-(\d+):)?([a-z0-9-]+)$/)).filter((found) =>
    found && texts[LETTERS.indexOf(found[1])] && categories.some((each) => each.dataset.category === found[4]),
  ).map(([, letter, start, end, category]) =>
    ({ place: LETTERS.indexOf(letter), start: Number(start || 0), end: Number(end || 0), category }));
}

function keepMarks() {
  holder.value = written();
  try {
    localStorage.setItem(MARKS_KEY, JSON.stringify({ id: holder.form.dataset.draft, value: holder.value }));
  } catch { /* not stored */ }
}

function restoreMarks() {
  let draft = null;
  try { draft = JSON.parse(localStorage.getItem(MARKS_KEY)); } catch { /* not a draft */ }
  const kept = draft && draft.id === holder.form.dataset.draft ? String(draft.value) : holder.value;
  marks = read(kept);
  holder.value = written();
}

// ---- what is shown

function draw() {
  texts.forEach((text, place) => {
    for (const [at, word] of wordsOf(place).entries()) {
      const on = marks.filter((mark) => mark.place === place && isIn(word, mark));
      const ends = on.filter((mark) => mark.end <= number(word, "end")).map((mark) => keyOf(mark.category));
      word.classList.toggle("marked", on.length > 0);
      word.dataset.ends = ends.join(" ");
      const within = chosen && chosen.place === place && at >= Math.min(chosen.from, chosen.to) && at <= Math.max(chosen.from, chosen.to);
      word.setAttribute("aria-selected", within ? "true" : "false");
      const told = on.map((mark) => nameOf(mark.category)).join(", ");
      if (told) word.setAttribute("aria-label", `${word.textContent} (${told})`);
      else word.removeAttribute("aria-label");
    }
    const list = document.getElementById(`marks-${place}`);
    list.replaceChildren(...marks.filter((mark) => mark.place === place).sort(order).map(entry));
  });
  for (const button of categories) button.disabled = !chosen;
  marking.querySelector(".kinds").classList.toggle("ready", Boolean(chosen && !chosen.used)); // on a phone they come to the words
}

// Not the characters from start to end: a browser reads a line end of two characters as one.
function wordsIn(mark) {
  const words = wordsOf(mark.place).filter((word) => isIn(word, mark));
  if (!words.length) return "";
  const range = document.createRange();
  range.setStartBefore(words[0]);
  range.setEndAfter(words.at(-1));
  return range.toString();
}

function entry(mark) {
  const item = document.createElement("li");
  const remove = document.createElement("button");
  const text = wordsIn(mark);
  item.append(`${keyOf(mark.category)} ${nameOf(mark.category)}${text ? `: ${text}` : ""} `);
  remove.type = "button";
  remove.className = "tool";
  remove.textContent = "×";
  remove.setAttribute("aria-label", `${marking.dataset.remove} ${text || nameOf(mark.category)}`);
  remove.addEventListener("click", () => { marks = marks.filter((each) => each !== mark); changed(); });
  item.append(remove);
  return item;
}

function changed() {
  keepMarks();
  draw();
}

// ---- choosing words

function choose(place, at, extend) {
  const words = wordsOf(place);
  if (at < 0 || at >= words.length) return;
  chosen = extend && chosen && chosen.place === place ? { ...chosen, to: at } : { place, from: at, to: at };
  texts.forEach((text, other) => wordsOf(other).forEach((word, n) => { word.tabIndex = other === place ? (n === at ? 0 : -1) : (n === 0 ? 0 : -1); }));
  draw();
}

function markAs(category) {
  if (!chosen) return;
  const { place, from, to } = chosen;
  const words = wordsOf(place);
  const start = isWhole(category) ? 0 : number(words[Math.min(from, to)], "start");
  const end = isWhole(category) ? 0 : number(words[Math.max(from, to)], "end");
  const same = marks.find((mark) => mark.place === place && mark.start === start && mark.end === end && mark.category === category);
  marks = same ? marks.filter((mark) => mark !== same) : [...marks, { place, start, end, category }];
  chosen = { place, from: to, to, used: true };
  changed();
}

function unmark() {
  if (!chosen) return;
  const words = wordsOf(chosen.place);
  const start = number(words[Math.min(chosen.from, chosen.to)], "start");
  const end = number(words[Math.max(chosen.from, chosen.to)], "end");
  marks = marks.filter((mark) => !(mark.place === chosen.place && mark.end && mark.start < end && mark.end > start));
  chosen = { ...chosen, used: true };
  changed();
}

texts.forEach((text, place) => {
  wordsOf(place).forEach((word, at) => { word.tabIndex = at === 0 ? 0 : -1; });
  text.addEventListener("click", (event) => {
    const word = event.target.closest(".word");
    if (!word) return;
    const at = wordsOf(place).indexOf(word);
    // The second click chooses all from the first one; a third one begins again.
    const extend = chosen && chosen.place === place && (event.shiftKey || (!chosen.used && chosen.from === chosen.to && chosen.from !== at));
    choose(place, at, extend);
    word.focus({ preventScroll: true });
  });
  text.addEventListener("focusin", (event) => {
    const at = wordsOf(place).indexOf(event.target);
    if (at >= 0 && !(chosen && chosen.place === place)) choose(place, at, false);
  });
  text.addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    const at = wordsOf(place).indexOf(document.activeElement);
    if (at < 0) return;
    const back = getComputedStyle(text).direction === "rtl" ? "ArrowRight" : "ArrowLeft";
    const steps = { ArrowLeft: back === "ArrowLeft" ? -1 : 1, ArrowRight: back === "ArrowLeft" ? 1 : -1, ArrowUp: -8, ArrowDown: 8, Home: -at, End: wordsOf(place).length - 1 - at };
    const button = categories[Number(event.key) - 1];
    if (event.key in steps) {
      const next = Math.max(0, Math.min(wordsOf(place).length - 1, at + steps[event.key]));
      choose(place, next, event.shiftKey);
      wordsOf(place)[next].focus();
    } else if (button) markAs(button.dataset.category);
    else if (event.key === "Backspace" || event.key === "Delete") unmark();
    else if (event.key === "Escape") { chosen = { place, from: at, to: at }; draw(); }
    else return;
    event.preventDefault();
    event.stopPropagation(); // digits answer questions elsewhere
  });
});

categories.forEach((button) => button.addEventListener("click", () => markAs(button.dataset.category)));
holder.form.addEventListener("submit", keepMarks);
restoreMarks();
draw();
