// The page: what is asked stands in the address, so that a link shows what I see.

import { get } from "./api.js";
import { showAnswer } from "./ask_view.js";
import { h, problemNotice } from "./dom.js";
import { showSearch } from "./search_view.js";

const VIEWS = {
  search: { show: showSearch, label: "Search for", verb: "Search" },
  ask: { show: showAnswer, label: "Question", verb: "Ask" },
};
const byId = (id) => document.getElementById(id);
const form = byId("form"), collection = byId("collection"), q = byId("q"), results = byId("results");
let running = new AbortController(), rendered = null;

function state() {
  const address = new URLSearchParams(location.search);
  return {
    view: address.get("view") in VIEWS ? address.get("view") : "search",
    collection: address.get("collection") ?? "",
    q: address.get("q") ?? "",
  };
}

function address(changes) {
  const wanted = { ...state(), ...changes };
  return "?" + new URLSearchParams(Object.entries(wanted).filter(([, value]) => value));
}

async function render() {
  running.abort();
  running = new AbortController();
  const { signal } = running;
  const now = state(), view = VIEWS[now.view];
  rendered = location.search;
  for (const name of Object.keys(VIEWS)) {
    const link = byId(`nav-${name}`);
    link.href = address({ view: name });
    if (name === now.view) link.setAttribute("aria-current", "page");
    else link.removeAttribute("aria-current");
  }
  byId("q-label").textContent = view.label;
  byId("submit").textContent = view.verb;
  if (now.collection) collection.value = now.collection;
  q.value = now.q;
  document.title = now.q ? `${now.q} · Plumbline` : "Plumbline";
  results.replaceChildren();
  progress("");
  if (!now.q || !now.collection) return;
  results.setAttribute("aria-busy", "true");
  try {
    await view.show({ collection: now.collection, q: now.q, results, signal, progress: (said) => signal.aborted || progress(said) });
  } catch (problem) {
    if (problem.name === "AbortError") return;
    if (problem instanceof Error) throw problem;
    progress("");
    results.append(problemNotice(problem));
  } finally {
    if (!signal.aborted) results.removeAttribute("aria-busy");
  }
}

function progress(said) {
  byId("progress").textContent = said;
}

function go(changes) {
  history.pushState(null, "", address(changes));
  render();
}

form.addEventListener("submit", (event) => {
  event.preventDefault();
  if (q.value.trim()) go({ collection: collection.value, q: q.value.trim() });
});
for (const name of Object.keys(VIEWS)) {
  byId(`nav-${name}`).addEventListener("click", (event) => {
    if (event.ctrlKey || event.metaKey || event.shiftKey) return;
    event.preventDefault();
    go({ view: name, collection: collection.value, q: q.value.trim() });
  });
}
addEventListener("popstate", () => {
  if (location.search !== rendered) render(); // a link to a source changes the fragment only
});
addEventListener("keydown", (event) => {
  if (event.key === "/" && !/^(INPUT|SELECT|TEXTAREA)$/.test(document.activeElement?.tagName)) {
    event.preventDefault();
    q.focus();
  }
});

async function showSystem() {
  const { ready, degraded, services } = await get("/v1/status");
  const away = Object.keys(services).filter((name) => services[name].state !== "serving");
  byId("system").textContent = ready ? "All services serve" : `Not serving: ${(away.length ? away : degraded).join(", ")}`;
}

async function start() {
  showSystem().catch(() => { byId("system").textContent = "The state of the services is not known"; });
  try {
    const { collections } = await get("/v1/collections");
    collection.replaceChildren(...collections.map(({ name }) => h("option", { value: name }, name)));
    if (!collections.length) results.append(h("p", { class: "notice" }, "There is no collection yet. POST /v1/collections makes one."));
    else await render();
  } catch (problem) {
    if (problem instanceof Error) throw problem;
    results.append(problemNotice(problem));
  }
  q.focus();
}

start();
