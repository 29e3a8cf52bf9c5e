/**
 * Builds one fleet template from the copies on several members. Replicas, the partition and budgets are summed, so that
 * dividing them gives each member its own share back. All other fields come from the first member; the plan shows where
 * other members differ. Pure, except for the interpreter rules of the kind, which may be user-defined.
 */
import { gvkOf } from "@flotilla/apimachinery";
import { copy, isObject, setOwn } from "@flotilla/base";
import type { Json, Mutable } from "@flotilla/base";
import type { Interpreter } from "@flotilla/flotilla";
import { valueAt } from "./differences.ts";
import type { Live } from "./member-reader.ts";
import { strip } from "./strip.ts";
import type { Manifest } from "./strip.ts";
import { Job } from "@flotilla/kubernetes";
import { PARTITION_SCOPE } from "@flotilla/openkruise";

/** One member's object. */
export interface Copy {
  cluster: string;
  object: Live;
  /** An autoscaler on the member controls the replica count, and continues to. */
  isAutoscaled?: boolean;
}

export interface Merged {
  template: Manifest;
  /** By member; unset for kinds that run no replicas. */
  replicas?: ReadonlyMap<string, number>;
}

const PARTITIONS = [
  ["spec", "updateStrategy", "partition"],
  ["spec", "updateStrategy", "rollingUpdate", "partition"],
];
const BUDGETS = [
  ["spec", "scaleStrategy", "maxUnavailable"],
  ...["maxUnavailable", "maxSurge"].flatMap((name) => [
    ["spec", "updateStrategy", name],
    ["spec", "updateStrategy", "rollingUpdate", name],
  ]),
];
const RESERVED = ["spec", "reserveOrdinals"];
const COMPLETIONS = ["spec", "completions"];
/** The division assigns no more ordinals than this either. */
const MAX_ORDINALS = 100_000;

/**
 * `scope` defines whether the numbers count pods of the fleet or of each cluster; unset uses the object's own
 * annotation.
 */
export async function mergeCopies(
  copies: readonly [Copy, ...Copy[]],
  interpreter: Pick<Interpreter, "replicas" | "reviseReplicas" | "levelOf">,
  scope?: "cluster" | "fleet",
): Promise<Merged> {
  const base = scoped(strip(copies[0].object), scope);
  const counts = await Promise.all(
    copies.map(async ({ cluster, object }) => [cluster, (await interpreter.replicas(object))?.replicas] as const),
  );
  const replicas = new Map(
    counts.flatMap(([cluster, count]) => (count === undefined ? [] : [[cluster, count] as const])),
  );
  if (replicas.size < copies.length) return { template: base };
  if (copies.length === 1) return { template: base, replicas };

  const total = replicas.values().reduce((sum, count) => sum + count, 0);
  const revised = withCompletions(await interpreter.reviseReplicas(base, total), copies);
  const divides =
    interpreter.levelOf("divide", base) !== undefined && base.metadata.annotations?.[PARTITION_SCOPE] !== "cluster";
  return { template: divides ? withSums(copy(revised), copies, [...replicas.values()]) : revised, replicas };
}

function scoped(base: Manifest, scope: "cluster" | "fleet" | undefined): Manifest {
  if (scope === undefined) return base;
  return {
    ...base,
    metadata: { ...base.metadata, annotations: { ...base.metadata.annotations, [PARTITION_SCOPE]: scope } },
  };
}

/** Those of a Job are divided with its parallelism. */
function withCompletions(template: Manifest, copies: readonly Copy[]): Manifest {
  if (template.kind !== Job.kind || gvkOf(template).group !== Job.group) return template;
  const values = copies.map(({ object }) => valueAt(object, COMPLETIONS));
  if (!values.every((value) => typeof value === "number")) return template;
  const summed = copy(template);
  replaceAt(
    summed,
    COMPLETIONS,
    values.reduce((sum, completions) => sum + completions, 0),
  );
  return summed;
}

function withSums(template: Mutable<Manifest>, copies: readonly Copy[], sizes: readonly number[]): Manifest {
  const numbersAt = (steps: readonly string[]): number[] | undefined => {
    const values = copies.map(({ object }) => valueAt(object, steps));
    return values.every((value) => typeof value === "number") ? values : undefined;
  };
  // A member cannot hold back more pods than it has.
  for (const steps of PARTITIONS)
    replaceAt(
      template,
      steps,
      numbersAt(steps)?.reduce((sum, kept, index) => sum + Math.min(kept, sizes[index] ?? 0), 0),
    );
  // An ordered set may update one pod at a time, both in the fleet and on a member.
  const isOrdered =
    template.kind === "StatefulSet" && valueAt(template, ["spec", "podManagementPolicy"]) !== "Parallel";
  for (const steps of isOrdered ? [] : BUDGETS)
    replaceAt(
      template,
      steps,
      numbersAt(steps)?.reduce((sum, budget) => sum + budget, 0),
    );
  const reserved = copies.map(({ object }) => valueAt(object, RESERVED));
  if (reserved.some((list) => Array.isArray(list))) replaceAt(template, RESERVED, commonOrdinals(reserved));
  return template;
}

/**
 * Ordinals that every member reserves are reserved by the user. Ordinals that only some reserve run on another member.
 */
function commonOrdinals(lists: readonly unknown[]): Json[] {
  const [first, ...others] = lists.map(ordinalsIn);
  return [...(first ?? [])].filter((ordinal) => others.every((each) => each.has(ordinal)));
}

function ordinalsIn(list: unknown): Set<number> {
  const ordinals = new Set<number>();
  for (const entry of Array.isArray(list) ? (list as unknown[]) : []) {
    const [, from, to] = /^(\d{1,9})(?:-(\d{1,9}))?$/.exec(String(entry)) ?? [];
    for (let ordinal = Number(from); ordinal <= Number(to ?? from) && ordinals.size < MAX_ORDINALS; ordinal++)
      ordinals.add(ordinal);
  }
  return ordinals;
}

/** Only where the template has the field; never adds one. */
function replaceAt(object: unknown, steps: readonly string[], value: Json | undefined): void {
  const parent = valueAt(object, steps.slice(0, -1));
  const last = steps.at(-1) ?? "";
  if (value === undefined || !isObject(parent) || !Object.hasOwn(parent, last)) return;
  if (Array.isArray(value) && value.length === 0) delete parent[last];
  else setOwn(parent, last, value);
}
