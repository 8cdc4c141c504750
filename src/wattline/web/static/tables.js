/* Tables that are sorted by click or key: upwards, downwards, and back as they were. */
"use strict";
(function (w) {
  const NEXT = { none: "ascending", ascending: "descending", descending: "none" };
  const order = new Intl.Collator("en", { numeric: true });

  function keyOf(cell) {
    const value = cell.dataset.value;
    if (value === undefined) return cell.textContent.trim();
    return value === "" ? null : Number(value);
  }

  /** What is not there comes last, whichever way. */
  function compare(a, b, sign) {
    if (a === null || b === null) return (a === null) - (b === null);
    return sign * (typeof a === "number" ? a - b : order.compare(a, b));
  }

  function sortBy(table, head, rows) {
    const direction = NEXT[head.getAttribute("aria-sort") || "none"];
    for (const other of table.tHead.rows[0].cells) other.removeAttribute("aria-sort");
    let sorted = rows;
    if (direction !== "none") {
      head.setAttribute("aria-sort", direction);
      const sign = direction === "ascending" ? 1 : -1;
      const keyed = rows.map((row) => [keyOf(row.cells[head.cellIndex]), row]);
      sorted = keyed.sort(([a], [b]) => compare(a, b, sign)).map(([, row]) => row);
    }
    table.tBodies[0].append(...sorted);
  }

  function start(table) {
    const rows = [...table.tBodies[0].rows];
    for (const head of table.tHead.querySelectorAll("th[data-sort]")) {
      const button = document.createElement("button");
      button.type = "button";
      button.append(...head.childNodes);
      head.append(button);
      button.addEventListener("click", () => sortBy(table, head, rows));
    }
  }

  w.tables = { start };
})(wattline);
