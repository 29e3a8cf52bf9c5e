/** Every planner against inputs and outputs recorded from OpenKruise's own functions. */
import { describe, expect, test } from "vitest";
import type { CloneSet, Node, Pod } from "../../../api/index.ts";
import { equalJson } from "../../../base/index.ts";
import type { ReadonlyPod } from "../../kubernetes/pod.ts";
import { RECORDED_AT, fromAlpha, readCases } from "../testdata/read-cases.ts";
import type { AlphaCloneSet, RecordedCase } from "../testdata/read-cases.ts";
import { computeDiff } from "./diff.ts";
import { closeGate, planInPlaceChange, startInPlaceUpdate } from "./in-place.ts";
import { LIFECYCLE_STATE_LABEL, LIFECYCLE_TIMESTAMP_ANNOTATION, REVISION_LABEL, shortHash } from "./names.ts";
import { makePod } from "./new-pods.ts";
import { partitionOf } from "./partition.ts";
import { hasRevision } from "./pod-state.ts";
import { goJson, makeRevision } from "./revisions.ts";
import type { PodTemplate } from "./revisions.ts";
import { changesNothing, planScale } from "./scale.ts";
import { planStatus } from "./status.ts";
import { orderForUpdate } from "./update-order.ts";
import { planUpdate } from "./update.ts";
import { chooseVictims } from "./victims.ts";

/** One test for a kind: the cases that differ tell more than hundreds of green lines. */
function check<I, W>(kind: string, cases: readonly RecordedCase<I, W>[], run: (input: I, want: W) => unknown): void {
  test(`${kind}, ${cases.length} recorded cases`, () => {
    expect(cases.length).toBeGreaterThan(0);

    const different = cases.flatMap(({ name, input, want }) => {
      const got = run(input, want);
      return equalJson(got, want) ? [] : [{ name, got, want }];
    });

    expect(different).toEqual([]);
  });
}

interface SetInput {
  cloneSet: AlphaCloneSet;
  pods?: Pod[];
  currentRevision: string;
  updateRevision: string;
}
const cloneSetCases = <I, W>(kind: string): RecordedCase<I, W>[] => readCases<I, W>("cloneset.jsonl.gz", kind);
const nameOf = ({ metadata }: ReadonlyPod): string => metadata.name;
const noNodes = (): undefined => undefined;

describe("CloneSet plans as OpenKruise does", () => {
  check<{ partition?: number | string; replicas?: number }, { kept?: number; error?: string }>("partition", cloneSetCases("partition"), ({ partition, replicas = 1 }, want) => {
    const kept = partitionOf(partition, replicas);
    return kept === undefined ? { error: want.error ?? "unreadable" } : { kept };
  });

  check<SetInput, unknown>("diff", cloneSetCases("diff"), ({ cloneSet, pods = [], updateRevision }) => {
    const diff = computeDiff(fromAlpha(cloneSet), pods, updateRevision, RECORDED_AT);
    return { scale: diff, update: diff };
  });

  check<SetInput & { nodes?: Node[]; num: number; numOld?: number }, unknown>("victims", cloneSetCases("victims"), (input) => {
    const { cloneSet, pods = [], updateRevision, num, numOld = 0, nodes = [] } = input;
    const nodeOf = (name: string): Node | undefined => nodes.find(({ metadata }) => metadata.name === name);
    const victims = chooseVictims({ cloneSet: fromAlpha(cloneSet), pods, updateRevision, total: num, fromOld: numOld, nodeOf, nowMs: RECORDED_AT });
    return { pods: victims.map(nameOf) };
  });

  check<SetInput & { indexes?: number[] }, unknown>("updateOrder", cloneSetCases("updateOrder"), ({ cloneSet, pods = [], indexes = [] }) => {
    const candidates = indexes.flatMap((index) => pods[index] ?? []);
    const order = orderForUpdate(fromAlpha(cloneSet), candidates, pods).map((pod) => pods.indexOf(pod as Pod));
    // The recording writes an empty list as null.
    return { indexes: order.length > 0 ? order : null };
  });

  check<SetInput & { newStatus: { currentRevision: string; updateRevision: string; collisionCount: number; labelSelector: string } }, object>(
    "status",
    cloneSetCases("status"),
    ({ cloneSet, pods = [], newStatus }, want) => ({ ...want, status: planStatus({ cloneSet: fromAlpha(cloneSet), pods, revisions: newStatus, labelSelector: newStatus.labelSelector, failures: [], nowMs: RECORDED_AT }) }),
  );

  check<SetInput, object>("scale", cloneSetCases("scale"), ({ cloneSet, pods = [], updateRevision }) => {
    const plan = planScale({ cloneSet: fromAlpha(cloneSet), pods, updateRevision, nodeOf: noNodes, nowMs: RECORDED_AT });
    return {
      changed: {},
      created: { currentRevision: plan.createCurrent, updateRevision: plan.createUpdate, reusedIDs: [] },
      deleted: plan.remove.map(nameOf).toSorted(),
      deletedPVCs: [],
      error: null,
      modified: !changesNothing(plan),
      scaleUpLimitedEvent: plan.limited,
    };
  });

  check<SetInput & { revisionImages: Record<string, string> }, { events: string[] }>("update", cloneSetCases("update"), ({ cloneSet, pods = [], updateRevision, revisionImages }, want) => {
    const template = (image = ""): PodTemplate => ({ spec: { containers: [{ name: "main", image }] } });
    const byHash = new Map(Object.entries(revisionImages).map(([name, image]) => [name.slice(name.lastIndexOf("-") + 1), template(image)]));
    const plan = planUpdate({
      cloneSet: fromAlpha(cloneSet),
      pods,
      updateRevision,
      nodeOf: noNodes,
      nowMs: RECORDED_AT,
      updateTemplate: template(revisionImages[updateRevision]),
      templateByHash: (hash) => byHash.get(hash),
    });
    const changed: Record<string, object> = {};
    for (const { pod, opened = pod, relabelled = pod } of plan.refresh) {
      const after = { ...relabelled, status: opened.status } as Pod;
      changed[pod.metadata.name] = changesOf(pod as Pod, after);
    }
    for (const { pod, change } of plan.inPlace) {
      const after = { ...startInPlaceUpdate(pod, change, updateRevision, RECORDED_AT), status: (closeGate(pod, RECORDED_AT) ?? pod).status } as Pod;
      changed[pod.metadata.name] = changesOf(pod as Pod, after);
    }
    for (const pod of plan.recreate) changed[pod.metadata.name] = { "label apps.kruise.io/specified-delete": "true" };
    return { changed, error: plan.failure ?? null, events: want.events };
  });

  check<SetInput & { num: number; numOld: number; ids: string[] }, { pods: Pod[] }>("newPods", cloneSetCases("newPods"), (input, want) => {
    const cloneSet = { ...fromAlpha(input.cloneSet), apiVersion: "apps.kruise.io/v1alpha1" };
    const pods = input.ids.slice(0, input.num).map((id, index) => {
      const pod = makePod(cloneSet, index < input.numOld ? input.currentRevision : input.updateRevision, cloneSet.spec.template, id, RECORDED_AT);
      // The recording was made one step earlier, before the lifecycle state is set.
      const { [LIFECYCLE_STATE_LABEL]: _state, ...labels } = pod.metadata.labels ?? {};
      const { [LIFECYCLE_TIMESTAMP_ANNOTATION]: _time, ...annotations } = pod.metadata.annotations ?? {};
      const { apiVersion: _apiVersion, kind: _kind, ...rest } = pod;
      return { ...rest, metadata: { ...pod.metadata, labels, ...(Object.keys(annotations).length > 0 ? { annotations } : { annotations: undefined }) } };
    });
    return { ...want, pods };
  });
});

describe("in-place updates and revisions are OpenKruise's", () => {
  check<{ oldTemplate: PodTemplate; newTemplate: PodTemplate }, { spec?: object }>("calculate", readCases("in-place.jsonl.gz", "calculate"), ({ oldTemplate, newTemplate }) => {
    const change = planInPlaceChange(oldTemplate, newTemplate);
    if (!change) return {};
    const { labels, annotations, finalizers } = change;
    const metadata = {
      ...(Object.keys(labels).length > 0 && { labels }),
      ...(Object.keys(annotations).length > 0 && { annotations }),
      ...(finalizers.add.length > 0 && { finalizers: finalizers.add }),
    };
    const metaDataPatch = Object.keys(metadata).length > 0 ? { metadata } : undefined;
    return { spec: { containerImages: change.images, containerRefMetadata: {}, containerResources: {}, graceSeconds: 0, metaDataPatch, revision: "demo-2", updateEnvFromMetadata: false } };
  });

  check<{ cloneSet: CloneSet; collisionCount: number }, object>("revision", readCases("in-place.jsonl.gz", "revision"), ({ cloneSet, collisionCount }) => {
    const { metadata, data } = makeRevision(cloneSet, 1, collisionCount);
    return { name: metadata.name, labels: metadata.labels, annotations: metadata.annotations, data: goJson(data as never) };
  });

  check<{ a?: string; b?: string }, object>("revisionEqual", readCases("in-place.jsonl.gz", "revisionEqual"), ({ a, b = "" }) => {
    const pod = { metadata: { name: "p", labels: a ? { [REVISION_LABEL]: a } : {} } } as unknown as Pod;
    return { equal: hasRevision(pod, b), shortHashB: shortHash(b) };
  });
});

/** What a pass changed on a pod, in the words of the recording. */
function changesOf(before: Pod, after: Pod): Record<string, unknown> {
  const changes: Record<string, unknown> = {};
  const compare = (what: string, left: Record<string, string> = {}, right: Record<string, string> = {}): void => {
    for (const key of Object.keys({ ...left, ...right })) if (left[key] !== right[key]) changes[`${what} ${key}`] = right[key] ?? null;
  };
  compare("label", before.metadata.labels, after.metadata.labels);
  compare("annotation", before.metadata.annotations, after.metadata.annotations);
  const images = (pod: Pod): Record<string, string> => Object.fromEntries(pod.spec?.containers.map(({ name, image }) => [name, image ?? ""]) ?? []);
  compare("image", images(before), images(after));
  for (const { type, status, reason, message } of after.status?.conditions ?? []) {
    const old = before.status?.conditions?.find((condition) => condition.type === type);
    if (old?.status !== status || old.reason !== reason) changes[`condition ${type}`] = { status, reason, message };
  }
  return changes;
}
