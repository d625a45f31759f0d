{
  const frame = document.getElementById("page");
  const status = document.getElementById("status");
  const items = [...document.querySelectorAll("[data-finding]")];
  const shown = () => items.filter(item => !item.closest("section").hidden);
  const inside = () => frame.contentDocument;

  const select = item => {
    for (const other of items) {
      other.setAttribute("aria-pressed", String(other === item));
      other.tabIndex = other === item ? 0 : -1;
    }
    for (const old of inside().querySelectorAll("[data-nc-current]")) old.removeAttribute("data-nc-current");
    const marks = inside().querySelectorAll(`[data-nc~="${item.dataset.finding}"]`);
    for (const mark of marks) mark.setAttribute("data-nc-current", "");
    const visible = [...marks].find(mark => mark.getClientRects().length);
    visible?.scrollIntoView({block: "center"});
    const where = visible ? "shown in the page" : marks.length ? "hidden in the page" : "not in the page";
    status.textContent = `${item.dataset.name}: ${where}.`;
  };

  const reset = () => shown().forEach((item, place) => { item.tabIndex = place ? -1 : 0; });
  const steps = {ArrowDown: 1, ArrowRight: 1, ArrowUp: -1, ArrowLeft: -1, Home: -Infinity, End: Infinity};

  document.getElementById("findings").addEventListener("keydown", event => {
    const item = event.target.closest("[data-finding]");
    const step = steps[event.key];
    if (!item || step === undefined || event.ctrlKey || event.altKey || event.metaKey) return;
    event.preventDefault();
    const list = shown();
    const place = Math.min(Math.max(list.indexOf(item) + step, 0), list.length - 1);
    select(list[place]);
    list[place].focus();
  });
  for (const item of items) item.addEventListener("click", () => select(item));

  for (const box of document.querySelectorAll("[data-kind]")) {
    box.addEventListener("change", () => {
      document.getElementById(box.dataset.kind).hidden = !box.checked;
      const hidden = [...document.querySelectorAll("[data-kind]:not(:checked)")].map(other => other.dataset.kind);
      inside().documentElement.setAttribute("data-nc-hide", hidden.join(" "));
      reset();
    });
  }

  const watch = () => inside().addEventListener("click", event => {
    const mark = event.target.closest?.("[data-nc]");
    const item = mark && items.find(one => one.dataset.finding === mark.dataset.nc.split(" ")[0]);
    if (!item || item.closest("section").hidden) return;
    select(item);
    item.scrollIntoView({block: "nearest"});
  });
  frame.addEventListener("load", watch);
  if (inside().readyState === "complete") watch();
  reset();
}
