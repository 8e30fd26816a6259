"use strict";
// Sorts tables by a column, up, down, and back to the order of the file; shows the rows with a word.
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
    input.placeholder = "rows with these words";
    bar.append(input, count);
    table.parentElement.before(bar);
    const show = () => {
      const words = input.value.toLowerCase().split(/\s+/).filter(Boolean);
      let shown = 0;
      for (const row of rows) {
        const text = row.textContent.toLowerCase();
        row.hidden = !words.every((word) => text.includes(word));
        if (!row.hidden) shown += 1;
      }
      count.textContent = words.length ? `${shown} of ${rows.length} rows` : `${rows.length} rows`;
    };
    input.addEventListener("input", show);
    show();
  }
}
