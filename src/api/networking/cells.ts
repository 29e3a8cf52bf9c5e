/** Cells of the tables of networking kinds. */

const SHOWN = 3;

/** The first few of many, and how many more there are. */
export function shortList(texts: readonly string[], empty = ""): string {
  if (texts.length === 0) return empty;
  const shown = texts.slice(0, SHOWN).join(",");
  return texts.length > SHOWN ? `${shown} + ${texts.length - SHOWN} more...` : shown;
}

/** Where a load balancer is reached: each address or name once, in order. */
export function balancerCell(ingress: readonly { readonly ip?: string; readonly hostname?: string }[]): string {
  return [...new Set(ingress.flatMap(({ ip, hostname }) => ip || hostname || []))].sort().join(",");
}
