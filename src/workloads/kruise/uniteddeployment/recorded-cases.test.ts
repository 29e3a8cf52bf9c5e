/** Every planner against inputs and outputs recorded from OpenKruise's own functions. */
import { describe, expect, test } from "vitest";
import { CloneSet, UnitedDeployment, subsetReplicas } from "../../../api/index.ts";
import type { Pod } from "../../../api/index.ts";
import { required } from "../../../base/index.ts";
import type { JsonObject } from "../../../base/index.ts";
import { revisionHash } from "../../revisions/revisions.ts";
import { checkCases } from "../testdata/check-cases.ts";
import { RECORDED_AT, readCases } from "../testdata/read-cases.ts";
import { allocatePartitions, allocateReplicas } from "./allocate.ts";
import type { SizedSubset } from "./allocate.ts";
import { unitedDeploymentRevisions } from "./revisions.ts";
import { afterAllocation, findReserved, findSchedulability } from "./schedulable.ts";
import type { SubsetStatus } from "./schedulable.ts";
import { SCHEDULABLE } from "./subset.ts";
import type { Schedulability, SubsetView } from "./subset.ts";
import { templateOf } from "./subset-kinds.ts";
import { makeSubsetWorkload } from "./workload.ts";

type AlphaDeployment = JsonObject & { status?: { subsetStatuses?: SubsetStatus[] } };

interface Input {
  unitedDeployment: AlphaDeployment;
}
interface RecordedSubset extends Partial<SizedSubset>, Partial<Schedulability> {
  name: string;
  pods?: Pod[];
  updatedRevision?: string;
}

/** The release speaks v1alpha1; here everything is v1beta1. */
function fromAlpha(alpha: JsonObject): UnitedDeployment {
  return required(UnitedDeployment.versions["v1alpha1"]?.toStorage, "a conversion")({ apiVersion: "apps.kruise.io/v1alpha1", kind: "UnitedDeployment", ...alpha }) as unknown as UnitedDeployment;
}
const viewOf = ({ name, specReplicas = 0, replicas = 0, readyReplicas = 0, pods = [], updatedRevision = "" }: RecordedSubset): SubsetView => ({ name, specReplicas, replicas, readyReplicas, pods, updatedRevision });
const seconds = (ms = 0): number => ms / 1000;

const FILE = "uniteddeployment.jsonl.gz";

describe("UnitedDeployment plans as OpenKruise does", () => {
  checkCases("parse", readCases<{ replicas: number; value: number | string }, unknown>(FILE, "parse"), ({ replicas, value }) => {
    const result = subsetReplicas(replicas, value);
    return "problem" in result ? { error: result.problem } : result;
  });

  checkCases("allocate", readCases<Input & { existingSubsets?: RecordedSubset[] | null }, unknown>(FILE, "allocate"), ({ unitedDeployment, existingSubsets }) => {
    const deployment = fromAlpha(unitedDeployment);
    const existing = new Map((existingSubsets ?? []).map((subset): [string, SizedSubset] => [subset.name, { ...viewOf(subset), schedulability: { ...SCHEDULABLE, ...schedulabilityOf(subset) } }]));
    const allocation = allocateReplicas(deployment, existing);
    if ("problem" in allocation) return { error: allocation.problem };
    return { replicas: Object.fromEntries(allocation.replicas), partitions: Object.fromEntries(allocatePartitions(deployment, allocation.replicas)) };
  });

  checkCases("adaptiveStatus", readCases<Input & { subset: RecordedSubset }, unknown>(FILE, "adaptiveStatus"), ({ unitedDeployment, subset }) => {
    const before = required(unitedDeployment.status?.subsetStatuses?.[0], "a status");
    const { schedulability, status, againInMs } = findSchedulability(fromAlpha(unitedDeployment), viewOf(subset), before, RECORDED_AT);
    return { unschedulable: schedulability.unschedulable, pendingPods: schedulability.pendingPods, conditions: status.conditions ?? null, requeueAfterSeconds: seconds(againInMs) };
  });

  checkCases("reservedStatus", readCases<Input & { subset: RecordedSubset; nextSubsetReplicas?: number }, unknown>(FILE, "reservedStatus"), ({ unitedDeployment, subset, nextSubsetReplicas = 0 }) => {
    const before = required(unitedDeployment.status?.subsetStatuses?.[0], "a status");
    const finding = findReserved(fromAlpha(unitedDeployment), viewOf(subset), before, RECORDED_AT);
    const { unschedulable, markedAsUnschedulable, reservedPods, updateTimeoutPods } = finding.schedulability;
    return {
      unschedulable,
      markedAsUnschedulable,
      reservedPods,
      updateTimeoutPods,
      podLabels: Object.fromEntries(finding.relabel.map(({ pod, reserved }) => [pod.metadata.name, reserved])),
      conditions: afterAllocation(finding, viewOf(subset), nextSubsetReplicas, RECORDED_AT).conditions ?? null,
      requeueAfterSeconds: seconds(finding.againInMs),
    };
  });

  checkCases("subsetWorkload", readCases<Input & { subsetName: string; revision: string; replicas?: number; partition?: number }, { object?: JsonObject; error?: string }>(FILE, "subsetWorkload"), (input, want) => {
    const deployment = { ...fromAlpha(input.unitedDeployment), apiVersion: "apps.kruise.io/v1alpha1" };
    const template = required(templateOf(deployment), "a template");
    const { subsetName: name, revision, replicas = 0, partition = 0 } = input;
    // Only subsets of the topology are ever asked for.
    if (!deployment.spec.topology?.subsets?.some((subset) => subset.name === name)) return { error: `fail to find subset config ${name}` };
    const workload = makeSubsetWorkload(deployment, template, { name, revision, replicas, partition }) as unknown as JsonObject;
    const recorded = template.kind.type === "CloneSet" ? required(CloneSet.versions["v1alpha1"]?.fromStorage, "a conversion")(workload) : workload;
    // Go writes this struct also when it is empty.
    const always = template.kind.type === "AdvancedStatefulSet" && { volumeClaimUpdateStrategy: {} };
    return { object: { metadata: recorded["metadata"], spec: { ...withoutEmpty(recorded["spec"] as JsonObject), ...always }, ...(want.object?.["status"] !== undefined && { status: want.object["status"] }) } };
  });
});

/** The recording leaves out structs that are empty. */
const withoutEmpty = ({ scaleStrategy, strategy, ...spec }: JsonObject): JsonObject => ({ ...spec, ...(Object.keys((scaleStrategy ?? {}) as object).length > 0 && { scaleStrategy }), ...(Object.keys((strategy ?? {}) as object).length > 0 && { strategy }) });

function schedulabilityOf({ unschedulable = false, markedAsUnschedulable = false, reservedPods = 0 }: RecordedSubset): Partial<Schedulability> {
  return { unschedulable, markedAsUnschedulable, reservedPods };
}

test("revisions have the data and the names that OpenKruise gives them", () => {
  const pods = (image: string): JsonObject => ({ selector: { matchLabels: { app: "ud" } }, template: { metadata: { labels: { app: "ud" } }, spec: { containers: [{ name: "main", image }] } } });
  const make = (template: string, image: string): UnitedDeployment => fromAlpha({ metadata: { name: "ud" }, spec: { template: { [template]: { metadata: { labels: { app: "ud" } }, spec: pods(image) } } } });
  const hashOf = (deployment: UnitedDeployment): string => revisionHash(unitedDeploymentRevisions.dataOf(deployment), 0);

  const hashes = [make("cloneSetTemplate", "nginx:1.0"), make("deploymentTemplate", "nginx:1.0"), make("deploymentTemplate", "nginx:2.0")].map(hashOf);

  expect(hashes).toEqual(["644cf96b64", "558dfd766", "7cbf8d8ccc"]);
});
