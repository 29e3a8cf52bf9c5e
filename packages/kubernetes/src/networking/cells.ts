/** Table cells of networking kinds. */

const SHOWN = 3;

/** The first few items, and the number of further ones. */
export function shortList(texts: readonly string[], empty = ""): string {
  if (texts.length === 0) return empty;
  const shown = texts.slice(0, SHOWN).join(",");
  return texts.length > SHOWN ? `${shown} + ${texts.length - SHOWN} more...` : shown;
}

/** The addresses and names of a load balancer: each once, in order. */
export function balancerCell(ingress: readonly { readonly ip?: string; readonly hostname?: string }[]): string {
  return [...new Set(ingress.flatMap(({ ip, hostname }) => ip || hostname || []))].sort().join(",");
}
