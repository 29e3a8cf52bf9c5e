/**
 * Progress of a Workflow: `2/5` pods. A node with children counts every reachable pod once, although there may be many
 * paths. The reachable pods are a bit set, so that a long chain of steps does not cost its square.
 */
import type { ReadonlyNode } from "./workflow-names.ts";
import type { NodeTable } from "./node-table.ts";

const isDone = ({ phase }: ReadonlyNode): boolean =>
  phase === "Succeeded" || phase === "Skipped" || phase === "Omitted";

/** Sets the progress of every node that has one, and returns the total. */
export function noteProgress(nodes: NodeTable): string {
  const pods = nodes.all().filter(({ type }) => type === "Pod");
  const places = new Map(pods.map(({ id }, place) => [id, place]));
  const done = new Uint32Array((pods.length + 31) >> 5);
  for (const [place, pod] of pods.entries()) {
    if (isDone(pod)) add(done, place);
    note(nodes, pod, isDone(pod) ? "1/1" : "0/1");
  }
  const behind = podsBehind(nodes, places, done.length);
  for (const node of nodes.all()) {
    const own = node.type === "Pod" ? undefined : behind.get(node.id);
    const all = own?.reduce((sum, word) => sum + ones(word), 0) ?? 0;
    if (own && all > 0)
      note(nodes, node, `${own.reduce((sum, word, index) => sum + ones(word & (done[index] ?? 0)), 0)}/${all}`);
  }
  return `${pods.filter(isDone).length}/${pods.length}`;
}

function note(nodes: NodeTable, node: ReadonlyNode, progress: string): void {
  if (node.progress !== progress) nodes.set(node, { progress });
}

/**
 * The pods reachable from each node, including itself. Children come first; a node among its own descendants adds
 * nothing.
 */
function podsBehind(
  nodes: NodeTable,
  places: ReadonlyMap<string, number>,
  words: number,
): ReadonlyMap<string, Uint32Array> {
  const behind = new Map<string, Uint32Array>();
  const begun = new Set<string>();
  const waiting = nodes.all().map(({ id }) => id);
  for (let id = waiting.at(-1); id !== undefined; id = waiting.at(-1)) {
    const children = nodes.byId(id)?.children ?? [];
    if (!begun.has(id)) {
      begun.add(id);
      for (const child of children) if (!begun.has(child) && nodes.byId(child)) waiting.push(child);
      continue;
    }
    waiting.pop();
    if (behind.has(id)) continue;
    const own = new Uint32Array(words);
    const place = places.get(id);
    if (place !== undefined) add(own, place);
    for (const child of children)
      for (const [index, word] of (behind.get(child) ?? []).entries()) own[index] = (own[index] ?? 0) | word;
    behind.set(id, own);
  }
  return behind;
}

function add(set: Uint32Array, place: number): void {
  set[place >> 5] = (set[place >> 5] ?? 0) | (1 << (place & 31));
}

/** The number of set bits in a word. */
function ones(word: number): number {
  let count = 0;
  for (let rest = word; rest !== 0; rest &= rest - 1) count++;
  return count;
}
