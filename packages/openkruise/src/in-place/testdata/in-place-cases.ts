/**
 * Runs the in-place update engine and the revisions on recorded inputs and returns results in the format of the
 * recordings (`openkruise-inplace.jsonl`). Only for tests and `npm run golden`.
 */
import type { AdvancedStatefulSet } from "../../statefulset/statefulset-kind.ts";
import type { CloneSet } from "../../cloneset/cloneset-kind.ts";
import type { KubernetesObject } from "@flotilla/apimachinery";
import { makeRevision, podTemplateData, shortHash } from "@flotilla/kubernetes";
import type { PersistentVolumeClaim, Pod, ReadonlyPod, ReadonlyPodTemplate as PodTemplate, RevisionFormat } from "@flotilla/kubernetes";
import type { PodTemplateSpec } from "@flotilla/apimachinery/facts/core-v1.ts";
import type { JsonObject } from "@flotilla/base";
import { goJson } from "@flotilla/apimachinery";
import { CLAIM_TEMPLATES_HASH_ANNOTATION, hasRevision, revisionLabels } from "../../cloneset/cloneset-names.ts";
import { cloneSetRevisions } from "../../cloneset/cloneset-revisions.ts";
import { changesOf } from "../../testdata/changes.ts";
import { RECORDED_AT, gatesOf } from "../../testdata/read-cases.ts";
import type { GatedInput, RecordedRun } from "../../testdata/read-cases.ts";
import { closeGate, startUpdate } from "../apply.ts";
import { isSameImage, parseImage } from "../../pod/same-image.ts";
import { refreshPod, whyIncomplete } from "../refresh.ts";
import type { UpdateSpec } from "../state.ts";
import { planInPlaceUpdate } from "../update-spec.ts";
import type { InPlaceSide } from "../update-spec.ts";

interface TemplatesInput extends GatedInput {
  oldTemplate: PodTemplate;
  newTemplate: PodTemplate;
  oldVolumeClaimTemplates?: PersistentVolumeClaim[];
  newVolumeClaimTemplates?: PersistentVolumeClaim[];
  gracePeriodSeconds?: number;
  ignoreVolumeClaimTemplates?: boolean;
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

const templated: RevisionFormat<KubernetesObject & { spec: { template: PodTemplateSpec } }> = {
  dataOf: ({ spec }) => podTemplateData(spec.template),
  labelsOf: ({ spec }) => spec.template.metadata?.labels,
  annotationsOf: ({ metadata }) => metadata.annotations,
};

/** By the kind of the case. */
export const inPlaceCases: Readonly<Record<string, RecordedRun>> = {
  calculate: (input: TemplatesInput) => {
    const spec = specOf(input);
    return spec ? { spec } : {};
  },

  update: (input: TemplatesInput & { pod: Pod }) => {
    const spec = specOf(input);
    if (!spec) return { inPlace: false, delaySeconds: 0, error: null };
    const gates = gatesOf(input.gates);
    const { pod } = startUpdate(closeGate(input.pod, spec, gates, RECORDED_AT), spec, { gates, relabel: relabel(input.gates), nowMs: RECORDED_AT });
    return { inPlace: true, delaySeconds: spec.graceSeconds, error: null, pod: { metadata: pod.metadata, containers: pod.spec.containers, conditions: pod.status?.conditions } };
  },

  refresh: ({ pod, gates: changed }: GatedInput & { pod: Pod }) => {
    const gates = gatesOf(changed);
    const refreshed = refreshPod(pod, { gates, hasRevision, nowMs: RECORDED_AT });
    const changes = changesOf(pod, refreshed.pod);
    // The recording has null for an empty map.
    return { changed: Object.keys(changes).length > 0 ? changes : null, delaySeconds: refreshed.delayMs / 1000, error: null, notCompletedReason: whyIncomplete(pod, gates) ?? null };
  },

  imageEqual: ({ a = "", b = "" }: { a?: string; b?: string }, want: { parsedA: { error: string | null } }) => {
    const parsed = parseImage(a);
    return {
      equal: isSameImage(a, b),
      isDigestA: parsed?.digest !== undefined && parsed.digest !== "",
      parsedA: parsed ? { repo: parsed.name, tag: parsed.tag, digest: parsed.digest, error: null } : want.parsedA,
    };
  },

  revision: ({ cloneSet, statefulSet, daemonSet, collisionCount }: { cloneSet?: CloneSet; statefulSet?: AdvancedStatefulSet; daemonSet?: typeof templated extends RevisionFormat<infer T> ? T : never; collisionCount: number }, want: { hash?: string }) => {
    // A DaemonSet's hash is over a dump of a Go value; only the data is compared.
    if (daemonSet) return { hash: want.hash, data: goJson(podTemplateData(daemonSet.spec.template)) };
    const { metadata, data } = cloneSet ? makeRevision(cloneSetRevisions, cloneSet, 1, collisionCount) : makeRevision(templated, statefulSet as never, 1, collisionCount);
    return { name: metadata.name, labels: metadata.labels, annotations: metadata.annotations ?? {}, data: goJson(data as unknown as JsonObject) };
  },

  revisionEqual: ({ a, b = "" }: { a?: string; b?: string }) => {
    const pod = { metadata: { name: "p", labels: a ? { "controller-revision-hash": a } : {} } } as unknown as Pod;
    return { equal: hasRevision(pod, b), shortHashB: shortHash(b) };
  },
};
