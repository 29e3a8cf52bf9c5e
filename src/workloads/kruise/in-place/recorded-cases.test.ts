/** The in-place update engine against inputs and outputs recorded from OpenKruise's own functions. */
import { describe } from "vitest";
import type { AdvancedStatefulSet, CloneSet, KubernetesObject, PersistentVolumeClaim, Pod, PodTemplateSpec } from "../../../api/index.ts";
import type { JsonObject } from "../../../base/index.ts";
import type { ReadonlyPod } from "../../kubernetes/pod.ts";
import { goJson } from "../../revisions/go-json.ts";
import { podTemplateData } from "../../revisions/pod-template-data.ts";
import type { PodTemplate } from "../../revisions/pod-template-data.ts";
import { makeRevision, shortHash } from "../../revisions/revisions.ts";
import type { RevisionFormat } from "../../revisions/revisions.ts";
import { hasRevision, revisionLabels } from "../cloneset/names.ts";
import { cloneSetRevisions } from "../cloneset/revisions.ts";
import { CLAIM_TEMPLATES_HASH_ANNOTATION } from "../cloneset/names.ts";
import { changesOf } from "../testdata/changes.ts";
import { checkCases } from "../testdata/check-cases.ts";
import { RECORDED_AT, gatesOf, readCases } from "../testdata/read-cases.ts";
import type { GatedInput } from "../testdata/read-cases.ts";
import { closeGate, startUpdate } from "./apply.ts";
import { isSameImage, parseImage } from "../image-reference.ts";
import { refreshPod, whyIncomplete } from "./refresh.ts";
import type { UpdateSpec } from "./state.ts";
import { planInPlaceUpdate } from "./update-spec.ts";
import type { InPlaceSide } from "./update-spec.ts";

interface TemplatesInput extends GatedInput {
  oldTemplate: PodTemplate;
  newTemplate: PodTemplate;
  oldVolumeClaimTemplates?: PersistentVolumeClaim[];
  newVolumeClaimTemplates?: PersistentVolumeClaim[];
  gracePeriodSeconds?: number;
  ignoreVolumeClaimTemplates?: boolean;
}

function check<I, W>(kind: string, run: (input: I, want: W) => unknown): void {
  checkCases(kind, readCases<I, W>("in-place.jsonl.gz", kind), run);
}

function specOf(input: TemplatesInput): UpdateSpec | undefined {
  const side = (template: PodTemplate, volumeClaimTemplates: PersistentVolumeClaim[] = []): InPlaceSide => {
    const owner = { metadata: { name: "demo" }, spec: { template, volumeClaimTemplates } } as unknown as CloneSet;
    return { template, claimsHash: cloneSetRevisions.annotationsOf?.(owner)?.[CLAIM_TEMPLATES_HASH_ANNOTATION] };
  };
  const options = { gates: gatesOf(input.gates), graceSeconds: input.gracePeriodSeconds, ignoreClaims: input.ignoreVolumeClaimTemplates ?? false };
  return planInPlaceUpdate(side(input.oldTemplate, input.oldVolumeClaimTemplates), side(input.newTemplate, input.newVolumeClaimTemplates), "demo-2", options);
}

const relabel =
  (gates: Record<string, boolean> | undefined) =>
  (pod: ReadonlyPod): ReadonlyPod => ({ ...pod, metadata: { ...pod.metadata, labels: { ...pod.metadata.labels, ...revisionLabels("demo-2", gatesOf(gates)) } } });

describe("in-place updates are OpenKruise's", () => {
  check<TemplatesInput, { spec?: object }>("calculate", (input) => {
    const spec = specOf(input);
    return spec ? { spec } : {};
  });

  check<TemplatesInput & { pod: Pod }, object>("update", (input) => {
    const spec = specOf(input);
    if (!spec) return { inPlace: false, delaySeconds: 0, error: null };
    const gates = gatesOf(input.gates);
    const { pod } = startUpdate(closeGate(input.pod, spec, gates, RECORDED_AT), spec, { gates, relabel: relabel(input.gates), nowMs: RECORDED_AT });
    return { inPlace: true, delaySeconds: spec.graceSeconds, error: null, pod: { metadata: pod.metadata, containers: pod.spec.containers, conditions: pod.status?.conditions } };
  });

  check<GatedInput & { pod: Pod }, { changed: object | null }>("refresh", ({ pod, gates: changed }) => {
    const gates = gatesOf(changed);
    const refreshed = refreshPod(pod, { gates, hasRevision, nowMs: RECORDED_AT });
    const changes = changesOf(pod, refreshed.pod);
    // The recording writes an empty map as null.
    return { changed: Object.keys(changes).length > 0 ? changes : null, delaySeconds: refreshed.delayMs / 1000, error: null, notCompletedReason: whyIncomplete(pod, gates) ?? null };
  });

  check<{ a?: string; b?: string }, { parsedA: { error: string | null } }>("imageEqual", ({ a = "", b = "" }, want) => {
    const parsed = parseImage(a);
    return {
      equal: isSameImage(a, b),
      isDigestA: parsed?.digest !== undefined && parsed.digest !== "",
      parsedA: parsed ? { ...parsed, error: null } : want.parsedA,
    };
  });
});

const templated: RevisionFormat<KubernetesObject & { spec: { template: PodTemplateSpec } }> = {
  dataOf: ({ spec }) => podTemplateData(spec.template),
  labelsOf: ({ spec }) => spec.template.metadata?.labels,
  annotationsOf: ({ metadata }) => metadata.annotations,
};

describe("revisions are OpenKruise's", () => {
  check<{ cloneSet?: CloneSet; statefulSet?: AdvancedStatefulSet; daemonSet?: typeof templated extends RevisionFormat<infer T> ? T : never; collisionCount: number }, { hash?: string }>("revision", ({ cloneSet, statefulSet, daemonSet, collisionCount }, want) => {
    // A DaemonSet's hash is over a dump of a Go value; only the data is compared.
    if (daemonSet) return { hash: want.hash, data: goJson(podTemplateData(daemonSet.spec.template)) };
    const { metadata, data } = cloneSet ? makeRevision(cloneSetRevisions, cloneSet, 1, collisionCount) : makeRevision(templated, statefulSet as never, 1, collisionCount);
    return { name: metadata.name, labels: metadata.labels, annotations: metadata.annotations ?? {}, data: goJson(data as unknown as JsonObject) };
  });

  check<{ a?: string; b?: string }, object>("revisionEqual", ({ a, b = "" }) => {
    const pod = { metadata: { name: "p", labels: a ? { "controller-revision-hash": a } : {} } } as unknown as Pod;
    return { equal: hasRevision(pod, b), shortHashB: shortHash(b) };
  });
});
