/** What adopting would change on each member: the copies that the hub would send, held against what the members run. */
import { clusterNameOf } from "../../api/index.ts";
import type { PlaintextOverrider, Work } from "../../api/index.ts";
import type { DeepReadonly, JsonObject } from "../../base/index.ts";
import { withoutTimeToLive } from "../../interpreter/index.ts";
import type { Interpreter } from "../../interpreter/index.ts";
import { findDifferences } from "./differences.ts";
import type { Difference } from "./differences.ts";
import { isHarmless } from "./judge.ts";
import type { Copy } from "./merge-copies.ts";
import type { Found } from "./select.ts";
import { strip } from "./strip.ts";
import type { Manifest } from "./strip.ts";

/** An object that is adopted, with what the hub gets for it. */
export interface Resource extends Found {
  template: Manifest;
  /** By member; unset for kinds that run no replicas. */
  replicas?: ReadonlyMap<string, number>;
  /** The hub has its template: nothing is made for it. */
  isKnown: boolean;
  /** What it is adopted for; set on dependencies. */
  neededBy?: string;
  policy?: JsonObject;
  overrides?: JsonObject;
  /** What that leaves each member. */
  kept?: ReadonlyMap<string, readonly PlaintextOverrider[]>;
}

export interface MemberOutlook {
  cluster: string;
  replicas?: number;
  /** What differs and leaves everything that runs as it is. */
  harmless: readonly Difference[];
  /** What may change what runs. */
  refused: readonly Difference[];
  /** What else is not as it should be. */
  problem?: string;
}

export interface Outlook {
  resource: Resource;
  members: readonly MemberOutlook[];
  /** What keeps the hub from taking it to members as it should. */
  problems: readonly string[];
}

export const isRefused = ({ members, problems }: Outlook): boolean =>
  problems.length > 0 || members.some(({ refused, problem }) => refused.length > 0 || problem !== undefined);

/** `works` are those of the object, planned or real. */
export async function outlookOf(
  resource: Resource,
  works: readonly DeepReadonly<Work>[],
  interpreter: Pick<Interpreter, "retain">,
  problems: readonly string[] = [],
): Promise<Outlook> {
  const planned = new Map(
    works.flatMap(({ metadata, spec }) => {
      const [cluster, manifest] = [clusterNameOf(metadata.namespace ?? ""), spec.workload?.manifests?.[0]];
      return cluster !== undefined && manifest ? [[cluster, manifest as unknown as Manifest] as const] : [];
    }),
  );
  const members = await Promise.all(
    resource.copies.map(async (copy) => memberOutlook(resource, copy, planned.get(copy.cluster), interpreter)),
  );
  const known = new Set(resource.copies.map(({ cluster }) => cluster));
  const more = [...planned.keys()]
    .filter((cluster) => !known.has(cluster))
    .map((cluster): MemberOutlook => ({
      cluster,
      harmless: [],
      refused: [],
      problem: "it is not there and would be made",
    }));
  return { resource, members: [...members, ...more], problems };
}

async function memberOutlook(
  { replicas }: Resource,
  copy: Copy,
  planned: Manifest | undefined,
  interpreter: Pick<Interpreter, "retain">,
): Promise<MemberOutlook> {
  const { cluster, object } = copy;
  const count = replicas?.get(cluster);
  const head = { cluster, replicas: count };
  if (!planned) return { ...head, harmless: [], refused: [], problem: "no policy takes it there" };
  // A member's copy never has a time to live: nothing that ran to its end is made again.
  const differences = findDifferences(
    withoutTimeToLive(strip(object)),
    strip(await interpreter.retain(planned, object)),
  );
  const harmless = differences.filter((difference) => isHarmless(difference, copy));
  return { ...head, harmless, refused: differences.filter((difference) => !harmless.includes(difference)) };
}
