// Search: hits with title, heading path, text and score; further pages on demand.

import { search } from "./api.js";
import { degradedNotice, h, headingPath, titleOf } from "./dom.js";

const PAGE = 10;

export async function showSearch({ collection, q, results, progress, signal }) {
  progress("Searching …");
  const list = h("ol", { class: "hits" });
  const body = { collection, query: q, limit: PAGE };
  const page = await search(body, signal);
  results.append(...[degradedNotice(page.degraded)].filter(Boolean), list);
  append(list, page);
  const more = h("button", { type: "button", hidden: !page.next, onclick: showMore }, "Show more");
  results.append(h("div", { class: "actions" }, more));
  tell(page);
  let cursor = page.next;

  async function showMore() {
    more.disabled = true;
    try {
      const next = await search({ ...body, cursor }, signal);
      append(list, next)?.focus();
      cursor = next.next;
      more.hidden = !cursor;
      tell(next);
    } catch (problem) {
      if (problem.name !== "AbortError") progress(`${problem.title}: ${problem.detail}`);
    }
    more.disabled = false;
  }

  function tell({ window, timings_ms }) {
    const shown = list.children.length;
    progress(shown ? `${shown} of ${window} hits, ${Math.round(timings_ms.total)} ms` : "Nothing was found.");
  }
}

// Returns the first of the added hits.
function append(list, page) {
  const hits = page.hits.map(hitCard);
  list.append(...hits);
  return hits[0];
}

function hitCard(hit) {
  const facts = [hit.date, hit.pages && `page ${hit.pages.join(", ")}`, hit.also && `${hit.also.length} more passages`,
    ...Object.entries(hit.metadata).map(([name, value]) => `${name}: ${value}`)].filter(Boolean);
  return h("li", { class: "card", tabindex: "-1" },
    h("div", { class: "top" },
      h("h2", {}, titleOf(hit)),
      h("span", { class: "score", title: "Final score of the ranking" }, `#${hit.rank} · ${hit.score.toFixed(3)}`)),
    headingPath(hit),
    h("p", { class: "passage" }, hit.text),
    facts.length > 0 && h("p", { class: "facts" }, facts.join(" · ")));
}
