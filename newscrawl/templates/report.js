{
  const value = (row, column) => {
    const cell = row.cells[column];
    const number = parseFloat(cell.dataset.value ?? cell.textContent);
    return Number.isNaN(number) ? cell.textContent.trim().toLowerCase() : number;
  };
  const compare = (a, b) => {
    if (typeof a !== typeof b) return typeof a === "number" ? 1 : -1;
    return a < b ? -1 : a > b ? 1 : 0;
  };
  for (const table of document.querySelectorAll("table[data-sortable]")) {
    const heads = [...table.tHead.rows[0].cells];
    heads.forEach((head, column) => {
      const button = document.createElement("button");
      button.type = "button";
      button.append(...head.childNodes);
      head.append(button);
      button.addEventListener("click", () => {
        const descending = head.getAttribute("aria-sort") !== "descending";
        for (const other of heads) other.removeAttribute("aria-sort");
        head.setAttribute("aria-sort", descending ? "descending" : "ascending");
        const rows = [...table.tBodies[0].rows];
        rows.sort((a, b) => compare(value(a, column), value(b, column)) * (descending ? -1 : 1));
        table.tBodies[0].append(...rows);
      });
    });
  }
  for (const field of document.querySelectorAll("[data-filter]")) {
    const table = document.getElementById(field.dataset.filter);
    const count = document.getElementById(`${field.dataset.filter}-count`);
    field.addEventListener("input", () => {
      const wanted = field.value.trim().toLowerCase();
      const rows = [...table.tBodies[0].rows];
      for (const row of rows) row.hidden = !row.textContent.toLowerCase().includes(wanted);
      count.textContent = `${rows.filter(row => !row.hidden).length} of ${rows.length}`;
    });
  }
}
