// Searches, sorts and opens what is already on the page. Without it everything is there, in the order of the report.
// It reads texts as texts and writes none of them as HTML.
"use strict";
(() => {
  const all = (selector, root = document) => [...root.querySelectorAll(selector)];
  const one = (id) => document.getElementById(id);
  const cards = one("cards");
  const items = all("[data-find]").map((element) => ({
    element,
    text: element.textContent.toLowerCase(),
    kind: element.dataset.kind,
  }));

  // Search: every word must be there, in any order.
  const find = one("find");
  let kind = "";
  const show = () => {
    const words = find.value.toLowerCase().split(/\s+/).filter(Boolean);
    let shown = 0;
    for (const item of items) {
      const fits = words.every((word) => item.text.includes(word))
        && (!kind || item.kind === undefined || item.kind === kind);
      item.element.hidden = !fits;
      if (fits) shown += 1;
    }
    one("found").textContent = words.length ? `${shown} of ${items.length}` : "";
    const none = one("no-cluster");
    if (none) none.hidden = all(".cluster", cards).some((card) => !card.hidden);
  };
  one("search").hidden = false;
  one("keys").hidden = false;
  one("search").addEventListener("submit", (event) => event.preventDefault());
  find.addEventListener("input", show);
  document.addEventListener("keydown", (event) => {
    const typing = /^(input|textarea|select)$/i.test(event.target.tagName);
    if (event.key === "/" && !typing && !event.ctrlKey && !event.metaKey && !event.altKey) {
      event.preventDefault();
      find.focus();
      find.select();
    } else if (event.key === "Escape" && event.target === find) {
      find.value = "";
      show();
    }
  });

  // Tables: a button in every head that can be sorted by. Numbers begin with the largest, words with the first.
  const value = (row, index, type) => {
    const cell = row.cells[index];
    return type === "number" ? Number(cell.dataset.value ?? 0) : cell.textContent.trim().toLowerCase();
  };
  for (const table of all("table.sortable")) {
    const heads = all("thead th", table);
    heads.forEach((head, index) => {
      const type = head.dataset.sort;
      if (!type) return;
      const button = document.createElement("button");
      button.type = "button";
      button.append(...head.childNodes);
      head.append(button);
      button.addEventListener("click", () => {
        const now = head.getAttribute("aria-sort");
        const first = type === "number" ? "descending" : "ascending";
        const other = first === "ascending" ? "descending" : "ascending";
        const order = now === first ? other : first;
        for (const each of heads) each.removeAttribute("aria-sort");
        head.setAttribute("aria-sort", order);
        const sign = order === "ascending" ? 1 : -1;
        const body = table.tBodies[0];
        const rows = [...body.rows].map((row) => ({ row, value: value(row, index, type) }));
        rows.sort((a, b) => sign * (a.value < b.value ? -1 : a.value > b.value ? 1 : 0));
        body.append(...rows.map(({ row }) => row));
      });
    });
  }

  // Clusters: which kind, in which order, open or not.
  const press = (buttons, pressed) => {
    for (const button of buttons) button.setAttribute("aria-pressed", String(button === pressed));
  };
  if (cards) {
    one("controls").hidden = false;
    const kinds = all("[data-kind]", one("controls"));
    for (const button of kinds) {
      button.addEventListener("click", () => {
        kind = button.dataset.kind;
        press(kinds, button);
        show();
      });
    }
    const orders = all("[data-order]", one("controls"));
    for (const button of orders) {
      button.addEventListener("click", () => {
        press(orders, button);
        const by = button.dataset.order;
        const sorted = all(".cluster", cards).sort((a, b) => by === "tool"
          ? a.dataset.tool.localeCompare(b.dataset.tool) || b.dataset.calls - a.dataset.calls
          : b.dataset[by] - a.dataset[by] || b.dataset.calls - a.dataset.calls);
        cards.append(...sorted);
      });
    }
    const unfold = one("unfold");
    unfold.addEventListener("click", () => {
      const open = unfold.getAttribute("aria-expanded") !== "true";
      for (const card of all(".cluster", cards)) card.open = open;
      unfold.setAttribute("aria-expanded", String(open));
      unfold.textContent = open ? "Close all" : "Open all";
    });
  }

  // A link to a cluster opens it, even if the search hides it.
  const follow = () => {
    const target = location.hash.length > 1 && one(location.hash.slice(1));
    if (!target) return;
    if (target.hidden) {
      find.value = "";
      kind = "";
      press(all("[data-kind]", one("controls")), all('[data-kind=""]')[0]);
      show();
    }
    if (target.matches("details")) {
      target.open = true;
      target.scrollIntoView();
    }
  };
  addEventListener("hashchange", follow);
  follow();

  // On paper: the first twenty clusters that are shown are open, which is about as many pages; the others are a line each.
  let opened = [];
  addEventListener("beforeprint", () => {
    opened = all(".cluster").filter((card) => !card.hidden).slice(0, 20).filter((card) => !card.open);
    for (const card of opened) card.open = true;
  });
  addEventListener("afterprint", () => {
    for (const card of opened) card.open = false;
    opened = [];
  });
})();
