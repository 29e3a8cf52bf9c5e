/** Names members in one line: all of a few, and the number of the others. Pure. */

const MAX_NAMED = 3;

/** `m1, m2, m3 and 4 more`; each once, whatever several objects there have in common. */
export function nameMembers(clusters: readonly string[]): string {
  const names = [...new Set(clusters)];
  const more = names.length > MAX_NAMED ? ` and ${names.length - MAX_NAMED} more` : "";
  return `${names.slice(0, MAX_NAMED).join(", ")}${more}`;
}

/**
 * Several causes on several members, as one sentence that begins with the members: text that is cut at its end still
 * names them. `2 members (m1, m2): first cause; second cause; and 3 other causes`
 */
export function joinCauses(clusters: readonly string[], causes: readonly string[], most: number): string {
  const head =
    clusters.length > 1 && causes.length > 1 ? `${clusters.length} members (${nameMembers(clusters)}): ` : "";
  const left = causes.length - most;
  const rest = left > 0 ? [`and ${left} other cause${left === 1 ? "" : "s"}`] : [];
  return `${head}${[...causes.slice(0, most), ...rest].join("; ")}`;
}
