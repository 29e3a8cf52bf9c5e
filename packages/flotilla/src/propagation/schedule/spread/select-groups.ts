/**
 * The best combination of groups, such as regions, that together have enough clusters.
 *
 * Karmada enumerates all combinations, which takes forever for a few dozen groups. Its result can be computed directly.
 * It orders the groups by number of clusters and takes a combination no further than needed: with more groups than the
 * minimum it would have too few clusters without its last one. Of those the heaviest wins, then the one with the most
 * clusters, then the first in that order; and of the winner only its heaviest groups are taken if they suffice. The
 * best choice from a group on depends only on how many groups and clusters were taken before it, so each such state is
 * decided once.
 */
export interface Group {
  readonly name: string;
  /** Its number of clusters, at least one. */
  readonly size: number;
  readonly weight: number;
}

export interface GroupDemand {
  readonly min: number;
  readonly max: number;
  /** Clusters that the groups must have together. */
  readonly clusters: number;
}

/** Beyond this many states, some ten milliseconds, a good combination is used instead of the best. */
const MAX_STATES = 1_000_000;

/** Heaviest first; undefined when no combination suffices. */
export function selectGroups<G extends Group>(groups: readonly G[], demand: GroupDemand): G[] | undefined {
  const row = groups.toSorted((a, b) => a.size - b.size || b.weight - a.weight || compareNames(a, b));
  const most = Math.min(demand.max, row.length);
  if (most < demand.min || most === 0) return undefined;
  // Every group has a cluster, so the minimum number of groups already has that many clusters.
  const goal = demand.clusters <= demand.min ? 0 : demand.clusters;
  const isSmall = row.length * (most + 1) * (goal + 1) <= MAX_STATES;
  const best = isSmall ? findBest(row, demand.min, most, goal) : findGood(row, demand.min, most, goal);
  return best && shorten(best, row, { ...demand, clusters: goal });
}

const compareNames = (a: Group, b: Group): number => (a.name < b.name ? -1 : a.name > b.name ? 1 : 0);
const byWeight = (a: Group, b: Group): number => b.weight - a.weight || compareNames(a, b);
const sizeOf = (groups: readonly Group[]): number => groups.reduce((sum, { size }) => sum + size, 0);

/**
 * States are (next group, groups taken, clusters taken up to `goal`); each records whether taking the next group is
 * best.
 */
function findBest<G extends Group>(row: readonly G[], min: number, most: number, goal: number): G[] | undefined {
  const width = goal + 1;
  const layer = (most + 1) * width;
  const takes = new Uint8Array(row.length * layer);
  let weight = new Float64Array(layer);
  let size = new Float64Array(layer);
  const isDone = (taken: number, clusters: number): boolean => taken >= min && clusters >= goal;
  // After the last group only completed states have a value.
  for (let state = 0; state < layer; state++)
    weight[state] = isDone(Math.floor(state / width), state % width) ? 0 : -Infinity;

  for (let index = row.length - 1; index >= 0; index--) {
    const group = row[index] as G;
    const [nextWeight, nextSize] = [weight.slice(), size.slice()];
    for (let taken = 0; taken < most; taken++) {
      for (let clusters = 0; clusters < width; clusters++) {
        if (isDone(taken, clusters)) continue;
        const state = taken * width + clusters;
        const after = (taken + 1) * width + Math.min(goal, clusters + group.size);
        const [weightIfTaken, sizeIfTaken] = [
          (weight[after] as number) + group.weight,
          (size[after] as number) + group.size,
        ];
        const isHeavier = weightIfTaken > (weight[state] as number);
        const isAsGood = weightIfTaken === weight[state] && sizeIfTaken >= (size[state] as number);
        if (weightIfTaken === -Infinity || !(isHeavier || isAsGood)) continue;
        nextWeight[state] = weightIfTaken;
        nextSize[state] = sizeIfTaken;
        takes[index * layer + state] = 1;
      }
    }
    [weight, size] = [nextWeight, nextSize];
  }
  if (weight[0] === -Infinity) return undefined;

  const best: G[] = [];
  let clusters = 0;
  for (let index = 0; index < row.length && !isDone(best.length, clusters); index++) {
    if (takes[index * layer + best.length * width + clusters] === 0) continue;
    const group = row[index] as G;
    best.push(group);
    clusters = Math.min(goal, clusters + group.size);
  }
  return best.sort(byWeight);
}

/** The heaviest groups if they have enough clusters, else the largest. */
function findGood<G extends Group>(row: readonly G[], min: number, most: number, goal: number): G[] | undefined {
  const heaviest = row.toSorted(byWeight).slice(0, most);
  const largest = row.slice(-most).sort(byWeight);
  return [heaviest, largest].find((groups) => groups.length >= min && sizeOf(groups) >= goal);
}

/** The shortest prefix that Karmada's enumeration would have found as a combination of its own. */
function shorten<G extends Group>(best: readonly G[], row: readonly G[], { min, clusters }: GroupDemand): G[] {
  const placeOf = new Map(row.map((group, place) => [group, place]));
  let [size, last, lastPlace] = [0, 0, -1];
  for (const [index, group] of best.entries()) {
    size += group.size;
    const place = placeOf.get(group) ?? 0;
    if (place > lastPlace) [last, lastPlace] = [group.size, place];
    const length = index + 1;
    if (length >= min && size >= clusters && (length === min || size - last < clusters)) return best.slice(0, length);
  }
  return [...best];
}
