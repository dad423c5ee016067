"use strict";
// Copy buttons are of use with a script alone, so they are hidden without one.
for (const button of document.querySelectorAll("button[data-copy]")) {
  button.hidden = false;
  button.addEventListener("click", () => {
    const code = document.getElementById(button.dataset.copy);
    const say = (text) => { button.textContent = text; };
    const select = () => {
      getSelection().selectAllChildren(code);
      say(document.execCommand("copy") ? "Copied" : "Selected: press Ctrl+C");
    };
    if (!navigator.clipboard) return select();
    navigator.clipboard.writeText(code.textContent).then(() => say("Copied"), select);
  });
}
// A chart is one stop of the Tab key; the arrows go from one thing in it to the next, and
// what each is stands below the chart.
for (const chart of document.querySelectorAll("svg[data-chart]")) {
  const said = document.getElementById(chart.id + "-said");
  const items = [...chart.querySelectorAll(".item")];
  const show = (item) => { said.textContent = item.querySelector("title").textContent; };
  const go = (item) => {
    for (const i of items) i.setAttribute("tabindex", "-1");
    item.setAttribute("tabindex", "0");
    item.focus();
  };
  items.forEach((item, at) => {
    item.setAttribute("tabindex", at === 0 ? "0" : "-1");
    item.addEventListener("focus", () => show(item));
    item.addEventListener("mouseenter", () => show(item));
    item.addEventListener("click", () => open(item));
    item.addEventListener("keydown", (event) => {
      const to = { ArrowRight: at + 1, ArrowDown: at + 1, ArrowLeft: at - 1, ArrowUp: at - 1, Home: 0, End: items.length - 1 }[event.key];
      if (event.key === "Enter") open(item);
      else if (to === undefined) return;
      else if (items[to]) go(items[to]);
      event.preventDefault();
    });
  });
}
// open shows the row of a rebalance with its evidence.
function open(item) {
  const row = document.getElementById(item.dataset.row);
  if (!row) return;
  for (const old of document.querySelectorAll("tr.hit")) old.classList.remove("hit");
  row.classList.add("hit");
  for (const d of row.querySelectorAll("details")) d.open = true;
  row.scrollIntoView({ block: "center" });
}
// Paper cannot be unfolded.
const folded = [];
addEventListener("beforeprint", () => {
  for (const d of document.querySelectorAll("details:not([open])")) { d.open = true; folded.push(d); }
});
addEventListener("afterprint", () => { for (const d of folded.splice(0)) d.open = false; });
