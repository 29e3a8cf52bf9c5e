/**
 * Divides replicas by weight with Webster's method (Sainte-Laguë): each replica is given to the cluster with the
 * largest weight divided by twice its replicas plus one. Scaling up by one adds one replica somewhere and moves none.
 *
 * Ties are won by the cluster with fewer replicas, then by the first name, or by the last name for every second
 * workload, so that the remainders of many workloads do not pile up on one cluster.
 *
 * Cost: clusters x log(clusters), independent of the number of replicas (see `skipAhead`).
 */
import { fnv1a32 } from "@flotilla/apimachinery";

export interface WeightedCluster {
  readonly name: string;
  readonly weight: number;
}

export interface ClusterReplicas {
  name: string;
  replicas: number;
}

export interface DivisionOptions {
  /** The workload's uid, which decides the direction of ties. */
  readonly uid?: string;
  /** Existing replicas of clusters; `replicas` are added to them. */
  readonly previous?: readonly Readonly<ClusterReplicas>[];
}

/**
 * Divides `replicas` over the clusters by weight and adds them to `previous`. The result is sorted by name and includes
 * clusters without replicas.
 * Returns `previous` alone when there are no replicas to divide or no weights.
 */
export function divideByWeight(
  replicas: number,
  clusters: readonly WeightedCluster[],
  { uid = "", previous = [] }: DivisionOptions = {},
): ClusterReplicas[] {
  const hasWeight = clusters.some(({ weight }) => weight > 0);
  if (!hasWeight || (replicas <= 0 && previous.length > 0))
    return sortedByName(previous.map(({ name, replicas }) => ({ name, replicas })));

  const weights = new Map(previous.map(({ name }) => [name, 0]));
  for (const { name, weight } of clusters) weights.set(name, weight);
  const seats = new Map(previous.map(({ name, replicas }) => [name, replicas]));
  const contest = Array.from(weights, ([name, weight]): Contender => {
    const held = seats.get(name) ?? 0;
    return { name, weight, replicas: held, quotient: quotientOf(weight, held), rank: 0 };
  });
  const descending = fnv1a32(uid) % 2 === 1 && uid !== "";
  rankByName(contest, descending);

  seat(contest, replicas);
  return sortedByName(contest.map(({ name, replicas }) => ({ name, replicas })));
}

interface Contender {
  readonly name: string;
  readonly weight: number;
  replicas: number;
  /** `weight / (2 * replicas + 1)` */
  quotient: number;
  /** Position in the name order that decides ties. */
  rank: number;
}

const quotientOf = (weight: number, replicas: number): number => weight / (2 * replicas + 1);

function rankByName(contest: Contender[], descending: boolean): void {
  sortedByName(contest);
  contest.forEach((contender, index) => (contender.rank = descending ? -index : index));
}

function sortedByName<T extends { readonly name: string }>(items: T[]): T[] {
  return items.sort((a, b) => (a.name < b.name ? -1 : a.name > b.name ? 1 : 0));
}

function isAhead(a: Contender, b: Contender): boolean {
  if (a.quotient !== b.quotient) return a.quotient > b.quotient;
  if (a.replicas !== b.replicas) return a.replicas < b.replicas;
  return a.rank < b.rank;
}

/** Gives out the replicas one by one; the leading contender is at the top of a heap. */
function seat(contest: readonly Contender[], replicas: number): void {
  let left = replicas - skipAhead(contest, replicas);
  const heap = [...contest];
  for (let index = (heap.length >> 1) - 1; index >= 0; index--) sink(heap, index);
  for (; left > 0; left--) {
    const first = heap[0];
    if (!first) return;
    first.replicas++;
    first.quotient = quotientOf(first.weight, first.replicas);
    sink(heap, 0);
  }
}

function sink(heap: Contender[], start: number): void {
  const moving = heap[start];
  if (!moving) return;
  let index = start;
  for (;;) {
    let child = 2 * index + 1;
    const left = heap[child];
    if (!left) break;
    const right = heap[child + 1];
    let ahead = left;
    if (right && isAhead(right, left)) {
      ahead = right;
      child++;
    }
    if (!isAhead(ahead, moving)) break;
    heap[index] = ahead;
    index = child;
  }
  heap[index] = moving;
}

/** Bisection rounds; the interval below starts so narrow that few are needed. */
const MAX_ROUNDS = 64;

/**
 * Gives out most of the replicas at once and returns how many. A replica with a quotient above a threshold is always
 * given before one with a quotient below it, regardless of ties, so all those above it can be given together if they
 * are not too many. A threshold that leaves at most one replica per contender follows from the sum of the weights when
 * no contender starts with replicas, and is searched for otherwise.
 */
function skipAhead(contest: readonly Contender[], replicas: number): number {
  const count = contest.length;
  if (replicas <= 2 * count) return 0;
  let weight = 0;
  let held = 0;
  for (const contender of contest) {
    weight += contender.weight;
    held += contender.replicas;
  }
  let low = weight / (2 * (replicas + held) + count);
  let high = weight / (2 * replicas - count);
  let given = countAbove(contest, high);
  for (let round = 0; round < MAX_ROUNDS && (given > replicas || replicas - given > count); round++) {
    const middle = given > replicas ? high * 2 : (low + high) / 2;
    const above = countAbove(contest, middle);
    if (above <= replicas || given > replicas) {
      high = middle;
      given = above;
    } else {
      low = middle;
    }
  }
  if (given > replicas) return 0;
  for (const contender of contest) {
    contender.replicas = Math.max(contender.replicas, replicasAbove(contender.weight, high));
    contender.quotient = quotientOf(contender.weight, contender.replicas);
  }
  return given;
}

function countAbove(contest: readonly Contender[], threshold: number): number {
  let sum = 0;
  for (const { weight, replicas } of contest) sum += Math.max(0, replicasAbove(weight, threshold) - replicas);
  return sum;
}

/**
 * How many replicas a weight gets with a quotient above the threshold. The two loops correct the rounding of the
 * formula.
 */
function replicasAbove(weight: number, threshold: number): number {
  let replicas = Math.max(0, Math.ceil((weight / threshold - 1) / 2));
  while (quotientOf(weight, replicas) > threshold) replicas++;
  while (replicas > 0 && quotientOf(weight, replicas - 1) <= threshold) replicas--;
  return replicas;
}
