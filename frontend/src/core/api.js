/* What the server is asked. Addresses are relative, so that a proxy may put the pages anywhere. */

export class Refused extends Error {
  constructor(message, right, status) {
    super(message);
    this.right = right ?? null;
    this.status = status;
  }
}

let csrf = null;

export function rememberCsrf(token) {
  csrf = token;
}

export function query(fields) {
  const kept = Object.entries(fields).filter(([, value]) => value !== null && value !== undefined
    && value !== "" && value !== false);
  return kept.length ? `?${new URLSearchParams(kept)}` : "";
}

async function refusal(answer) {
  let said = null;
  try { said = await answer.json(); } catch { /* not ours: a proxy's page */ }
  const text = said?.error ?? `The server answered ${answer.status} ${answer.statusText}.`;
  return new Refused(String(text), said?.right, answer.status);
}

async function asked(path, options) {
  let answer;
  try {
    answer = await fetch(path, { credentials: "same-origin", ...options });
  } catch (error) {
    if (error.name === "AbortError") throw error;
    throw new Refused("The server does not answer.", "Is `wattline serve` running?", 0);
  }
  if (!answer.ok) throw await refusal(answer);
  return answer;
}

export async function get(path, fields = {}, signal = undefined) {
  const answer = await asked(`api/${path}${query(fields)}`, { signal });
  return answer.json();
}

function headers(more) {
  return csrf ? { ...more, "X-CSRF-Token": csrf } : more;
}

/** Once more with a new token where the old one is of a server that was started anew. */
async function withToken(send) {
  try {
    return await send();
  } catch (error) {
    if (error.status !== 403 || !String(error.right).includes("X-CSRF-Token")) throw error;
    rememberCsrf((await get("me")).csrf);
    return send();
  }
}

function postAnswer(path, body, signal) {
  return withToken(() => asked(`api/${path}`, { method: "POST", signal, body: JSON.stringify(body),
    headers: headers({ "Content-Type": "application/json" }) }));
}

/** Send a file as it is; what it is called says its format. */
export async function upload(file) {
  const answer = await withToken(() => asked(`api/uploads${query({ name: file.name })}`, {
    method: "POST", body: file, headers: headers({ "Content-Type": "application/octet-stream" }) }));
  return answer.json();
}

export async function post(path, body, signal = undefined) {
  return (await postAnswer(path, body, signal)).json();
}

export async function postForFile(path, body) {
  return (await postAnswer(path, body, undefined)).blob();
}

export function wasAborted(error) {
  return error?.name === "AbortError";
}
