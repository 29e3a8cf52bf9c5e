/** Every state of the page is in the fragment of the address, so that it can be bookmarked and sent. */
import { useEffect, useState } from "preact/hooks";

export interface Route {
  path: readonly string[];
  query: URLSearchParams;
}

function parseRoute(hash: string): Route {
  const text = hash.replace(/^#\/?/, "");
  const mark = text.indexOf("?");
  const path = (mark < 0 ? text : text.slice(0, mark)).split("/").filter((part) => part !== "");
  return { path: path.map(decode), query: new URLSearchParams(mark < 0 ? "" : text.slice(mark + 1)) };
}

/** A pasted address may contain anything. */
function decode(part: string): string {
  try {
    return decodeURIComponent(part);
  } catch {
    return part;
  }
}

export function href(path: readonly string[], query: Readonly<Record<string, string>> = {}): string {
  const search = new URLSearchParams(Object.entries(query).filter(([, value]) => value !== "")).toString();
  return `#/${path.map(encodeURIComponent).join("/")}${search === "" ? "" : `?${search}`}`;
}

function go(to: string, { replace = false } = {}): void {
  if (replace) {
    history.replaceState(null, "", to);
    dispatchEvent(new HashChangeEvent("hashchange"));
  } else location.hash = to;
}

export function useRoute(): Route {
  const [route, setRoute] = useState(() => parseRoute(location.hash));
  useEffect(() => {
    const update = (): void => setRoute(parseRoute(location.hash));
    addEventListener("hashchange", update);
    return () => removeEventListener("hashchange", update);
  }, []);
  return route;
}

/** One part of the query as state: changing it replaces the address, and "back" leaves the view. */
export function setQuery({ path, query }: Route, changes: Readonly<Record<string, string>>): void {
  const next = { ...Object.fromEntries(query), ...changes };
  go(href(path, next), { replace: true });
}

/** The core group has no name, so a kind is written `v1` or `apps.kruise.io~v1beta1`. */
export const objectPath = (
  ref: { apiVersion: string; kind: string; namespace: string; name: string },
  tab = "",
  query: Readonly<Record<string, string>> = {},
): string =>
  href(
    [
      "w",
      ref.apiVersion.replace("/", "~"),
      ref.kind,
      ref.namespace === "" ? "-" : ref.namespace,
      ref.name,
      ...(tab === "" ? [] : [tab]),
    ],
    query,
  );
