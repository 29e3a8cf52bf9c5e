/**
 * Compares the copies that the hub would send with what the members run, to predict what adopting would change on each
 * member.
 */
import type { PlaintextOverrider } from "@flotilla/apimachinery/facts/policy-karmada-v1alpha1.ts";
import type { Work } from "@flotilla/karmada";
import type { DeepReadonly, JsonObject } from "@flotilla/base";
import { withoutTimeToLive } from "@flotilla/flotilla";
import type { Interpreter } from "@flotilla/flotilla";
import { findDifferences } from "./differences.ts";
import type { Difference } from "./differences.ts";
import { isHarmless } from "./judge.ts";
import type { Copy } from "./merge-copies.ts";
import type { Found } from "./select.ts";
import { strip } from "./strip.ts";
import type { Manifest } from "./strip.ts";
import { clusterNameOf } from "@flotilla/karmada";

/** An adopted object, with what the hub creates for it. */
export interface Resource extends Found {
  template: Manifest;
  /** By member; unset for kinds that run no replicas. */
  replicas?: ReadonlyMap<string, number>;
  /** The hub has its template already, so none is created. */
  isKnown: boolean;
  /** The object that depends on it; set on dependencies. */
  neededBy?: string;
  policy?: JsonObject;
  overrides?: JsonObject;
  /** The overriders that keep each member's values. */
  kept?: ReadonlyMap<string, readonly PlaintextOverrider[]>;
}

export interface MemberForecast {
  cluster: string;
  replicas?: number;
  /** Differences that leave everything that runs unchanged. */
  harmless: readonly Difference[];
  /** Differences that may change what runs. */
  refused: readonly Difference[];
  /** Any other problem on the member. */
  problem?: string;
}

export interface Forecast {
  resource: Resource;
  members: readonly MemberForecast[];
  /** Why the hub would not propagate it as required. */
  problems: readonly string[];
}

export const isRefused = ({ members, problems }: Forecast): boolean =>
  problems.length > 0 || members.some(({ refused, problem }) => refused.length > 0 || problem !== undefined);

/** `works` are the object's works, planned or real. */
export async function forecastOf(
  resource: Resource,
  works: readonly DeepReadonly<Work>[],
  interpreter: Pick<Interpreter, "retain">,
  problems: readonly string[] = [],
): Promise<Forecast> {
  const planned = new Map(
    works.flatMap(({ metadata, spec }) => {
      const [cluster, manifest] = [clusterNameOf(metadata.namespace ?? ""), spec.workload?.manifests?.[0]];
      return cluster !== undefined && manifest ? [[cluster, manifest as unknown as Manifest] as const] : [];
    }),
  );
  const members = await Promise.all(
    resource.copies.map(async (copy) => memberForecast(resource, copy, planned.get(copy.cluster), interpreter)),
  );
  const known = new Set(resource.copies.map(({ cluster }) => cluster));
  const more = [...planned.keys()]
    .filter((cluster) => !known.has(cluster))
    .map((cluster): MemberForecast => ({
      cluster,
      harmless: [],
      refused: [],
      problem: "it does not exist and would be created",
    }));
  return { resource, members: [...members, ...more], problems };
}

async function memberForecast(
  { replicas }: Resource,
  copy: Copy,
  planned: Manifest | undefined,
  interpreter: Pick<Interpreter, "retain">,
): Promise<MemberForecast> {
  const { cluster, object } = copy;
  const count = replicas?.get(cluster);
  const head = { cluster, replicas: count };
  if (!planned) return { ...head, harmless: [], refused: [], problem: "no policy propagates it there" };
  // A member's copy never has a TTL, so that finished Jobs are not created again.
  const differences = findDifferences(
    withoutTimeToLive(strip(object)),
    strip(await interpreter.retain(planned, object)),
  );
  const harmless = differences.filter((difference) => isHarmless(difference, copy));
  return { ...head, harmless, refused: differences.filter((difference) => !harmless.includes(difference)) };
}
