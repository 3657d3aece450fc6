// Elements from data. Text always becomes a text node, so nothing from a document is ever read as HTML.

export function h(tag, attributes = {}, ...children) {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (name.startsWith("on")) element.addEventListener(name.slice(2), value);
    else if (value !== null && value !== undefined && value !== false) element.setAttribute(name, value === true ? "" : value);
  }
  element.append(...children.flat().filter((child) => child !== null && child !== undefined && child !== false));
  return element;
}

// A document's title, as a link only where its address is one that a browser may follow.
export function titleOf(item) {
  const title = item.title || item.document_id;
  return /^https?:\/\//i.test(item.uri ?? "") ? h("a", { href: item.uri, rel: "noreferrer noopener" }, title) : title;
}

export function headingPath(item) {
  return item.heading_path.length ? h("p", { class: "path" }, item.heading_path.join(" › ")) : null;
}

export function degradedNotice(parts) {
  return parts.length ? h("p", { class: "notice" }, `Without ${parts.join(" and ")}: this part does not answer now.`) : null;
}

export function problemNotice(problem) {
  const field = problem.status === 400 && problem.field ? `${problem.field}: ` : "";
  const id = problem.request_id ? ` (request ${problem.request_id})` : "";
  return h("p", { class: "notice problem", role: "alert" }, `${problem.title}: ${field}${problem.detail}${id}`);
}
