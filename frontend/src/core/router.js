/* Which page is shown: the part of the address after the "#", as "#/jobs?search=ada". */

export function place() {
  const [path, fields] = location.hash.replace(/^#\/?/, "").split("?");
  const parts = path.split("/").filter(Boolean).map(decoded);
  return { page: parts[0] ?? "now", rest: parts.slice(1),
    fields: Object.fromEntries(new URLSearchParams(fields ?? "")) };
}

/** What is no encoded text is taken as it stands: there is no page of that name. */
function decoded(part) {
  try {
    return decodeURIComponent(part);
  } catch {
    return part;
  }
}

export function address(page, fields = {}) {
  const kept = Object.entries(fields).filter(([, value]) => value !== null && value !== undefined
    && value !== "" && value !== false);
  return `#/${page}${kept.length ? `?${new URLSearchParams(kept)}` : ""}`;
}

export function go(page, fields) {
  location.hash = address(page, fields);
}

/** The same page with other fields, without a step in the browser's history and without a call. */
export function replaceFields(page, fields) {
  history.replaceState(null, "", address(page, fields));
}

export function onPlace(show) {
  window.addEventListener("hashchange", () => show(place()));
  show(place());
}
