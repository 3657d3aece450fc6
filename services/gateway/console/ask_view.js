// Ask: the answer as it is written, its citations as links to the sources, and the consent question after a refusal.

import { answer } from "./api.js";
import { degradedNotice, h, headingPath, problemNotice, titleOf } from "./dom.js";

export async function showAnswer({ collection, q, results, progress, signal, mode = "DOCUMENTS" }) {
  const isGeneral = mode === "GENERAL_KNOWLEDGE";
  progress(isGeneral ? "Asking the language model …" : "Reading the documents …");
  const text = h("div", { class: "answer" }), notes = h("div"), sources = h("div");
  // Read out once it is whole, not piece by piece.
  const card = h("article", { class: "card", "aria-live": "polite", "aria-busy": "true" },
    isGeneral && h("p", { class: "label" }, "General knowledge: not from the documents of this collection"), text, notes);
  results.append(card, sources);
  const told = { text: "", sources: [], unsupported: [] };

  const steps = {
    sources: (data) => {
      told.sources = data.sources;
      progress("Writing …");
      sources.replaceChildren(h("h3", {}, "Sources"), h("ol", { class: "sources" }, data.sources.map(sourceCard)));
    },
    delta: (data) => {
      told.text += data.text;
      text.replaceChildren(...withLinks(told.text, told.sources));
    },
    unsupported: (data) => told.unsupported.push(data),
    refusal: refuse,
    done: finish,
    error: (problem) => {
      progress("");
      notes.append(problemNotice(problem));
    },
  };
  for await (const { name, data } of answer({ collection, question: q, mode }, signal)) {
    steps[name]?.(data);
  }
  card.removeAttribute("aria-busy");

  function refuse({ text: sentence, reason }) {
    told.text = sentence;
    told.sources = [];
    sources.replaceChildren();
    text.replaceChildren(sentence);
    if (isGeneral || reason === "nothing_matches_filter") return;
    const consent = h("div", { class: "notice" }, "Answer from general knowledge instead? It would not come from these documents.",
      h("div", { class: "actions" }, h("button", { type: "button", class: "primary", onclick: goOn }, "Yes, answer without sources")));
    notes.append(consent);

    async function goOn() {
      consent.remove();
      const after = h("section", { "aria-label": "Answer from general knowledge" });
      results.append(after);
      try {
        await showAnswer({ collection, q, results: after, progress, signal, mode: "GENERAL_KNOWLEDGE" });
      } catch (problem) {
        if (problem.name === "AbortError") return;
        progress("");
        after.replaceChildren(problemNotice(problem));
      }
    }
  }

  function finish(done) {
    const facts = [done.generator && `written by ${done.generator}`, `${Math.round(done.timings_ms.total)} ms`];
    if (done.confidence !== null) {
      notes.append(h("p", { class: "facts" }, "Confidence ",
        h("meter", { min: 0, max: 1, value: done.confidence, "aria-label": "Confidence" }),
        ` ${Math.round(done.confidence * 100)} % (${done.calibration})`));
    }
    for (const claim of told.unsupported) {
      const sentence = Array.from(told.text).slice(claim.start, claim.end).join("");
      notes.append(h("p", { class: "notice" }, `Source ${claim.source} does not bear this out (${claim.reasons.join(", ")}): “${sentence}”`));
    }
    if (done.finish_reason === "length") notes.append(h("p", { class: "notice" }, "The answer was cut at its length limit."));
    const degraded = degradedNotice(done.degraded);
    if (degraded) notes.append(degraded);
    progress(facts.filter(Boolean).join(", "));
  }
}

function withLinks(text, sources) {
  const numbers = new Set(sources.map((source) => source.number));
  return text.split(/(\[Source \d+\])/).map((part) => {
    const number = Number(/^\[Source (\d+)\]$/.exec(part)?.[1]);
    return numbers.has(number) ? h("a", { href: `#source-${number}`, "aria-label": `Source ${number}` }, number) : part;
  });
}

function sourceCard(source) {
  return h("li", { class: "card", id: `source-${source.number}`, tabindex: "-1" },
    h("div", { class: "top" }, h("h2", {}, `${source.number}. `, titleOf(source)),
      source.pages && h("span", { class: "score" }, `page ${source.pages.join(", ")}`)),
    headingPath(source), h("p", { class: "passage" }, source.text));
}
