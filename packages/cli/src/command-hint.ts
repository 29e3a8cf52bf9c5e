/** What to use instead of a command that kubectl has and Flotilla does not. Pure. */

/** Commands of kubectl that work on the hub's objects. */
const OF_KUBECTL: ReadonlySet<string> = new Set(["annotate", "create", "label", "patch", "scale", "set"]);

/** The end of a sentence; empty for other words. */
export function commandHint(word: string): string {
  if (word === "rollout")
    return "; use 'flotilla kubectl rollout' for Deployments, StatefulSets and DaemonSets, the partition of a CloneSet for its release, and 'flotilla wait' to wait for one";
  return OF_KUBECTL.has(word) ? `; use 'flotilla kubectl ${word}'` : "";
}
