/** Parses the target of a request to all clusters from its path and query as Kubernetes does. Pure. */

export interface ProxiedTarget {
  group: string;
  resource: string;
  /** The requested object; undefined for all of them. */
  name?: string;
  /**
   * The path of that object or list, without a subresource (`log`, `exec`, …). Not decoded, without the leading slash.
   */
  path: string;
  isWatch: boolean;
}

const OWN_SUBRESOURCES: ReadonlySet<string> = new Set(["status", "finalize"]);
const EXACT_NAME = /^metadata\.name==?([^,=!]+)$/;

/** Undefined for requests that are not about objects: discovery, versions, health. */
export function targetOf(rawPath: string, query: URLSearchParams): ProxiedTarget | undefined {
  const parts = rawPath.split("/").filter((part) => part !== "");
  const isGrouped = parts[0] === "apis";
  // `api/v1/pods`, `apis/apps/v1/deployments`.
  const first = isGrouped ? 3 : 2;
  if ((parts[0] !== "api" && !isGrouped) || parts.length <= first) return undefined;
  const isPrefixed = parts[first] === "watch" && parts.length > first + 1;
  const start = isPrefixed ? first + 1 : first;
  const third = parts[start + 2];
  const inNamespace = parts[start] === "namespaces" && third !== undefined && !OWN_SUBRESOURCES.has(third);
  const at = inNamespace ? start + 2 : start;
  const name = parts[at + 1];
  const path = [...parts.slice(0, first), ...parts.slice(start, name === undefined ? at + 1 : at + 2)].join("/");
  const isWatch = isPrefixed || !["", "false", "0"].includes((query.get("watch") ?? "").toLowerCase());
  const about = { group: isGrouped ? (parts[1] ?? "") : "", resource: parts[at] ?? "" };
  if (name !== undefined) return { ...about, name, path, isWatch };
  // A list that selects one object by name, with which clients watch it, targets that object.
  const selected = selectedName(query.get("fieldSelector"));
  return selected === undefined
    ? { ...about, path, isWatch }
    : { ...about, name: selected, path: `${path}/${encodeURIComponent(selected)}`, isWatch };
}

function selectedName(fieldSelector: string | null): string | undefined {
  for (const term of (fieldSelector ?? "").split(",")) {
    const found = EXACT_NAME.exec(term);
    if (found?.[1] !== undefined) return found[1];
  }
  return undefined;
}
