"use strict";
// Sorts tables by a column, up, down, and back to the order of the file; filters their rows by words;
// shows figures at full size.
const edges = /^[^\p{L}\p{N}*+\-−]+|[^\p{L}\p{N}*%]+$/gu;
const wordsOf = (text) => text.toLowerCase().split(/\s+/).map((word) => word.replace(edges, "")).filter(Boolean);
const pattern = (word) => {
  const parts = word.split("*").map((part) => part.replace(/[.*+?^${}()|[\]\\]/g, "\\$&"));
  return new RegExp(`^${parts.join(".*")}$`, "u");
};
for (const table of document.querySelectorAll("table")) {
  const body = table.tBodies[0];
  const rows = [...body.rows];
  const heads = [...table.tHead.rows[table.tHead.rows.length - 1].cells];

  const key = (row, column) => {
    const cell = row.cells[column];
    return "value" in cell.dataset ? Number(cell.dataset.value) : cell.textContent.trim();
  };
  const compare = (a, b, sign) => {
    const kinds = [a, b].map((each) => (typeof each === "number" ? 0 : each === "" ? 2 : 1));
    if (kinds[0] !== kinds[1]) return kinds[0] - kinds[1]; // what is missing comes last
    if (kinds[0] === 0) return sign * (a - b);
    return sign * a.localeCompare(b, "en", { numeric: true });
  };
  const sort = (column) => {
    const next = { none: "ascending", ascending: "descending", descending: "none" };
    const state = next[heads[column].getAttribute("aria-sort") || "none"];
    for (const head of heads) head.setAttribute("aria-sort", "none");
    heads[column].setAttribute("aria-sort", state);
    let order = rows;
    if (state !== "none") {
      const sign = state === "ascending" ? 1 : -1;
      const keyed = rows.map((row) => [key(row, column), row]);
      order = keyed.sort((a, b) => compare(a[0], b[0], sign)).map((each) => each[1]);
    }
    body.append(...order);
  };
  heads.forEach((head, column) => {
    const button = document.createElement("button");
    button.type = "button";
    button.append(...head.childNodes);
    head.append(button);
    head.setAttribute("aria-sort", "none");
    button.addEventListener("click", () => sort(column));
  });

  if (rows.length > 20) {
    const bar = document.createElement("label");
    const input = document.createElement("input");
    const count = document.createElement("output");
    bar.className = "filter";
    input.type = "search";
    input.placeholder = "whole words, or codel*";
    input.title = "Shows the rows that have all of these words. A word is matched as a whole: codel does not find fq-codel. * stands for any letters: *codel finds both.";
    input.setAttribute("aria-label", "filter: rows with these words");
    bar.append(input, count);
    table.parentElement.before(bar);
    const ofRows = rows.map((row) => [...row.cells].flatMap((cell) => wordsOf(cell.textContent)));
    const show = () => {
      const wanted = wordsOf(input.value).map(pattern);
      let shown = 0;
      rows.forEach((row, place) => {
        row.hidden = !wanted.every((one) => ofRows[place].some((word) => one.test(word)));
        if (!row.hidden) shown += 1;
      });
      count.textContent = wanted.length ? `${shown} of ${rows.length} rows` : `${rows.length} rows`;
    };
    input.addEventListener("input", show);
    show();
  }
}

for (const figure of document.querySelectorAll("figure")) {
  const drawn = figure.querySelector(".drawn");
  const button = document.createElement("button");
  button.type = "button";
  button.className = "size";
  const show = (natural) => {
    drawn.classList.toggle("natural", natural);
    button.textContent = natural ? "fit the page" : "full size";
    button.setAttribute("aria-pressed", String(natural));
  };
  button.addEventListener("click", () => show(!drawn.classList.contains("natural")));
  show(false);
  figure.querySelector("figcaption").append(button);
}
