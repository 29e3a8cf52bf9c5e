/**
 * Checks Open Cluster Management's objects: Placements without clusters, ManifestWorks that members reject, rollouts
 * that stopped.
 */
import { ManifestWork, ManifestWorkReplicaSet, OcmPlacement } from "@flotilla/ocm";
import { capitalised } from "@flotilla/base";
import type { DeepReadonly } from "@flotilla/base";
import { fixForPlacement } from "@flotilla/flotilla";
import { formatAge } from "@flotilla/apimachinery";
import { createUnhealthyCollector } from "../../status/unhealthy.ts";
import { defineCheck } from "../doctor-check.ts";
import type { DoctorFinding } from "../doctor-check.ts";
import { counted } from "../../text-layout.ts";

export interface OcmFacts {
  works: readonly DeepReadonly<ManifestWork>[];
  placements: readonly DeepReadonly<OcmPlacement>[];
  sets: readonly DeepReadonly<ManifestWorkReplicaSet>[];
}

export const ocmCheck = defineCheck<OcmFacts>({
  name: "ocm",
  summary: "Placements select clusters, and ManifestWorks are applied",
  reports:
    "A problem for each ManifestWork that its member rejects, for Placements that are not satisfied (no " +
    "cluster matches, no ManagedClusterSet is bound) or are invalid, and for ManifestWorkReplicaSets whose " +
    "rollout stopped. Objects younger than `--stuck-after` are only counted.",
  async gather({ lists, only }) {
    const [works, placements, sets] = await Promise.all([
      lists.all(ManifestWork),
      lists.all(OcmPlacement),
      lists.all(ManifestWorkReplicaSet),
    ]);
    return { works: works.filter(({ metadata }) => !only || only.has(metadata.namespace ?? "")), placements, sets };
  },
  judge({ works, placements, sets }, { nowMs, stuckAfterMs }) {
    const all: Seen[] = [
      ...works.map((work) => ({ object: work as Named, see: (to: Collector) => to.manifestWork(work) })),
      ...placements.map((placement) => ({
        object: placement as Named,
        see: (to: Collector) => to.placement(placement),
        fix: fixForPlacement(placement.status?.conditions),
      })),
      ...sets.map((set) => ({ object: set as Named, see: (to: Collector) => to.replicaSet(set) })),
    ].filter(({ object: { metadata } }) => metadata.deletionTimestamp === undefined);
    const { old = [], young = [] } = Object.groupBy(all, ({ object: { metadata } }) =>
      nowMs - Date.parse(metadata.creationTimestamp ?? "") > stuckAfterMs ? "old" : "young",
    );
    const findings = old.flatMap((each) => findingsOf(each, nowMs));
    const recent = young.flatMap((each) => findingsOf(each, nowMs)).length;
    const tooNew = recent > 0 ? `, ${recent} more not healthy, created less than ${stuckAfterMs / 1000} s ago` : "";
    return {
      seen:
        works.length + placements.length + sets.length === 0
          ? "Open Cluster Management is not used"
          : `${counted(works.length, "ManifestWork")}, ${counted(placements.length, "Placement")}, ` +
            `${counted(sets.length, "ManifestWorkReplicaSet")}, ${findings.length} unhealthy${tooNew}`,
      findings,
    };
  },
});

type Collector = ReturnType<typeof createUnhealthyCollector>;
type Named = {
  readonly kind: string;
  readonly metadata: {
    readonly namespace?: string;
    readonly name: string;
    readonly creationTimestamp?: string;
    readonly deletionTimestamp?: string;
  };
};

interface Seen {
  object: Named;
  see(collector: Collector): void;
  /** What to do, where the object says it. */
  fix?: string | undefined;
}

/** Reports one by one what `flotilla status` counts. */
function findingsOf({ object, see, fix }: Seen, nowMs: number): DoctorFinding[] {
  const { kind, metadata } = object;
  const { namespace, name, creationTimestamp } = metadata;
  const collector = createUnhealthyCollector();
  see(collector);
  const where = namespace ? ` -n ${namespace}` : "";
  const cure =
    kind === "Placement"
      ? {
          fix: `${capitalised(fix ?? "compare its spec with the clusters")}; \`flotilla why\` lists each cluster with the reason.`,
          commands: [`flotilla why placement/${name}${where}`, `kubectl get managedclustersetbindings${where}`],
        }
      : {
          fix: "`flotilla why` shows the member's response, and what to change.",
          commands: [`flotilla why ${kind.toLowerCase()}/${name}${where}`],
        };
  return collector.result().worst.map(({ problem, reason }) => ({
    severity: "problem",
    about: `${kind} ${namespace ? `${namespace}/` : ""}${name}`,
    seen: `${problem}, created ${formatAge(nowMs - Date.parse(creationTimestamp ?? ""))} ago: ${reason}`,
    ...cure,
  }));
}
