// The gateway's API: JSON calls, and answers as a stream of events. Failures are thrown as problem documents.

export async function get(path) {
  return await read(await send(path, {}));
}

export async function search(body, signal) {
  return await read(await post("/v1/search", body, signal));
}

// The events of an answer as {name, data}, in order.
export async function* answer(body, signal) {
  const response = await post("/v1/answers", body, signal);
  if (!response.ok) await read(response);
  let rest = "";
  for await (const piece of pieces(response.body.pipeThrough(new TextDecoderStream()))) {
    const blocks = (rest + piece).split("\n\n");
    rest = blocks.pop();
    for (const block of blocks) {
      const event = parse(block);
      if (event) yield event;
    }
  }
}

async function post(path, body, signal) {
  return await send(path, {
    method: "POST", headers: { "content-type": "application/json" }, body: JSON.stringify(body), signal,
  });
}

async function send(path, options) {
  try {
    return await fetch(path, options);
  } catch (error) {
    if (error.name === "AbortError") throw error;
    throw { title: "No connection", detail: "the gateway does not answer" };
  }
}

async function read(response) {
  const isJson = /json/.test(response.headers.get("content-type") ?? "");
  if (response.ok) return await response.json();
  throw isJson ? await response.json() : { title: `Status ${response.status}`, detail: "the gateway gave no reason" };
}

// Not every browser can iterate a stream itself.
async function* pieces(stream) {
  const reader = stream.getReader();
  try {
    for (;;) {
      const { done, value } = await reader.read();
      if (done) return;
      yield value;
    }
  } finally {
    await reader.cancel();
  }
}

function parse(block) {
  let name = "", data = "";
  for (const line of block.split("\n")) {
    if (line.startsWith("event:")) name = line.slice(6).trim();
    if (line.startsWith("data:")) data += line.slice(5).trim();
  }
  return name ? { name, data: JSON.parse(data) } : null;
}
