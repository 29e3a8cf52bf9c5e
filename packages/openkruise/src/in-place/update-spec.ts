/**
 * Whether a pod of one template can become a pod of another without being replaced, and the required changes.
 *
 * Possible changes are images, labels, annotations and finalizers, and (by gate) CPU and memory resources within the
 * same QoS class. Anything else, such as an added variable or container, needs a new pod. Pure.
 */
import { qosClassOf } from "@flotilla/kubernetes";
import type { ReadonlyPodTemplate as PodTemplate } from "@flotilla/kubernetes";
import type { Container } from "@flotilla/apimachinery/facts/core-v1.ts";
import { equalJson, isObject, setOwn, omitZero, omitEmpty } from "@flotilla/base";
import type { DeepReadonly, Json, JsonObject } from "@flotilla/base";
import { formatQuantity, tryParseQuantity } from "@flotilla/apimachinery";
import { metadataReferences } from "./container-hashes.ts";
import type { ContainerResources, RefMetadata, UpdateSpec } from "./state.ts";
import type { FeatureGates } from "../api/feature-gates.ts";

/** One of the two revisions that are compared. */
export interface InPlaceSide {
  template: PodTemplate;
  /** The hash of the volume claim templates; undefined if the revision does not record it. */
  claimsHash?: string | undefined;
}

export interface InPlaceOptions {
  gates: FeatureGates;
  graceSeconds?: number | undefined;
  /** InPlaceOnly: changed volume claim templates are ignored. */
  ignoreClaims?: boolean;
}

type Map = Readonly<Record<string, string>>;
type ReadonlyContainer = DeepReadonly<Container>;

/** Undefined if a new pod is needed. `revision` becomes the revision label of the pods. */
export function planInPlaceUpdate(
  from: InPlaceSide | undefined,
  to: InPlaceSide,
  revision: string,
  { gates, graceSeconds = 0, ignoreClaims = false }: InPlaceOptions,
): UpdateSpec | undefined {
  if (!from) return undefined;
  const claimsCount = gates.isOn("RecreatePodWhenChangeVCTInCloneSetGate") && !ignoreClaims;
  if (claimsCount && from.claimsHash !== undefined && to.claimsHash !== undefined && from.claimsHash !== to.claimsHash)
    return undefined;
  const containers = changedContainers(from.template, to.template, gates.isOn("InPlaceWorkloadVerticalScaling"));
  if (!containers) return undefined;
  const { refMetadata, patch } = changedMetadata(
    from.template,
    to.template,
    gates.isOn("InPlaceUpdateEnvFromMetadata"),
  );
  return {
    revision,
    containerImages: containers.images,
    containerRefMetadata: refMetadata,
    containerResources: containers.resources,
    metaDataPatch: patch,
    updateEnvFromMetadata: Object.keys(refMetadata).length > 0,
    graceSeconds,
  };
}

interface ContainerChanges {
  images: Record<string, string>;
  resources: Record<string, ContainerResources>;
}

/** Undefined if a field changed that a running pod cannot change. */
function changedContainers(from: PodTemplate, to: PodTemplate, canResize: boolean): ContainerChanges | undefined {
  const before = from.spec?.containers ?? [];
  const after = to.spec?.containers ?? [];
  if (before.length !== after.length) return undefined;
  if (!equalJson({ ...from.spec, containers: null }, { ...to.spec, containers: null })) return undefined;

  const changes: ContainerChanges = { images: {}, resources: {} };
  for (const [index, container] of after.entries()) {
    const old = before[index];
    if (!old || !equalJson(fixedPart(old, canResize), fixedPart(container, canResize))) return undefined;
    if (old.image !== container.image) {
      // Adding or removing an image is not a replacement.
      if (!old.image || !container.image) return undefined;
      setOwn(changes.images, old.name, container.image);
    }
    if (!canResize) continue;
    const resources = changedResources(old.resources ?? {}, container.resources ?? {});
    if (!resources) return undefined;
    if (Object.keys(resources).length > 0) setOwn(changes.resources, old.name, resources);
  }
  const changesQos =
    Object.keys(changes.resources).length > 0 && from.spec && to.spec && qosClassOf(from.spec) !== qosClassOf(to.spec);
  return changesQos ? undefined : changes;
}

/** The immutable part. A container without resources equals one with empty resources. */
function fixedPart(container: ReadonlyContainer, canResize: boolean): object {
  const { limits: _limits, requests: _requests, ...others } = container.resources ?? {};
  return { ...container, image: null, resources: canResize ? others : (container.resources ?? {}) };
}

const RESIZABLE: ReadonlySet<string> = new Set(["cpu", "memory"]);

/** Replaced resources; adding or removing one is not allowed. */
function changedResources(
  from: DeepReadonly<Container["resources"]> & object,
  to: DeepReadonly<Container["resources"]> & object,
): ContainerResources | undefined {
  const limits = changedAmounts(from.limits, to.limits);
  const requests = changedAmounts(from.requests, to.requests);
  if (!limits || !requests) return undefined;
  return omitEmpty({ limits, requests });
}

type Amounts = Readonly<Record<string, string | number>>;

function changedAmounts(from: Amounts = {}, to: Amounts = {}): Map | undefined {
  if (!equalJson(Object.keys(from).toSorted(), Object.keys(to).toSorted())) return undefined;
  const changed: Record<string, string> = {};
  for (const [name, amount] of Object.entries(to)) {
    if (from[name] === amount) continue;
    const quantity = tryParseQuantity(amount);
    if (!quantity || !RESIZABLE.has(name)) return undefined;
    changed[name] = formatQuantity(quantity);
  }
  return changed;
}

interface MetadataChanges {
  /**
   * By container: labels and annotations that its variables reference. They are written in the batch of the container.
   */
  refMetadata: Record<string, RefMetadata>;
  /** All other metadata changes; unset if there are none. */
  patch?: JsonObject;
}

function changedMetadata(from: PodTemplate, to: PodTemplate, followsVariables: boolean): MetadataChanges {
  const before = from.metadata ?? {};
  const after = to.metadata ?? {};
  if (
    equalJson(before.labels ?? {}, after.labels ?? {}) &&
    equalJson(before.annotations ?? {}, after.annotations ?? {}) &&
    equalJson(before.finalizers ?? [], after.finalizers ?? [])
  )
    return { refMetadata: {} };

  const refMetadata: Record<string, RefMetadata> = {};
  const followed = { labels: new Set<string>(), annotations: new Set<string>() };
  if (followsVariables) {
    for (const container of to.spec?.containers ?? []) {
      for (const { of, key } of metadataReferences(container)) {
        const value = after[of]?.[key];
        // A map that is added as a whole is ignored, and a removed key leaves the variable unchanged; upstream does the
        // same.
        if (value === undefined || before[of]?.[key] === value || isEmptyMap(before[of])) continue;
        const known = refMetadata[container.name] ?? {};
        setOwn(refMetadata, container.name, { ...known, [of]: { ...known[of], [key]: value } });
        followed[of].add(key);
      }
    }
  }
  const metadata: Record<string, Json> = {};
  for (const field of ["annotations", "labels"] as const) {
    const patch = mapPatch(without(before[field], followed[field]), without(after[field], followed[field]));
    if (patch !== undefined) metadata[field] = patch;
  }
  Object.assign(metadata, finalizersPatch(before.finalizers ?? [], after.finalizers ?? []));
  return { refMetadata, patch: Object.keys(metadata).length > 0 ? { metadata } : {} };
}

const isEmptyMap = (map: Map | undefined): boolean => map === undefined || Object.keys(map).length === 0;

function without(map: Map | undefined, keys: ReadonlySet<string>): Map {
  return keys.size === 0
    ? (map ?? {})
    : Object.fromEntries(Object.entries(map ?? {}).filter(([key]) => !keys.has(key)));
}

/**
 * Null removes the whole map, as a two-way merge does when the new side has none; the pod's own keys of that map are
 * removed, too.
 */
function mapPatch(before: Map, after: Map): Json | undefined {
  if (isEmptyMap(after)) return isEmptyMap(before) ? undefined : null;
  const patch: JsonObject = {};
  for (const [key, value] of Object.entries(after)) if (before[key] !== value) setOwn(patch, key, value);
  for (const key of Object.keys(before)) if (!Object.hasOwn(after, key)) setOwn(patch, key, null);
  return Object.keys(patch).length > 0 ? patch : undefined;
}

function finalizersPatch(before: readonly string[], after: readonly string[]): JsonObject {
  if (equalJson(before, after)) return {};
  if (before.length === 0) return { finalizers: [...after] };
  if (after.length === 0) return { finalizers: null };
  const added = after.filter((name) => !before.includes(name));
  const removed = before.filter((name) => !after.includes(name));
  return {
    ...omitEmpty({ "$deleteFromPrimitiveList/finalizers": removed }),
    "$setElementOrder/finalizers": [...after],
    ...omitEmpty({ finalizers: added }),
  };
}

/**
 * Applies such a patch to a pod's metadata. Other fields of the patch are ignored: pods never take those from a
 * template.
 */
export function patchMetadata<
  M extends { readonly labels?: Map; readonly annotations?: Map; readonly finalizers?: readonly string[] },
>(metadata: M, patch: JsonObject): M {
  const part = patch["metadata"];
  if (!isObject(part)) return metadata;
  const labels = patchMap(metadata.labels, part["labels"]);
  const annotations = patchMap(metadata.annotations, part["annotations"]);
  const finalizers = patchFinalizers(metadata.finalizers, part);
  return {
    ...metadata,
    ...omitZero({ labels, annotations, finalizers }),
  };
}

function patchMap(map: Map | undefined, patch: Json | undefined): Map | undefined {
  if (patch === null) return {};
  if (!isObject(patch)) return map;
  const result: Record<string, string> = { ...map };
  for (const [key, value] of Object.entries(patch)) {
    if (typeof value === "string") setOwn(result, key, value);
    else Reflect.deleteProperty(result, key);
  }
  return result;
}

function patchFinalizers(finalizers: readonly string[] | undefined, patch: JsonObject): readonly string[] | undefined {
  if (patch["finalizers"] === null) return [];
  const texts = (value: Json | undefined): string[] =>
    Array.isArray(value) ? value.filter((item) => typeof item === "string") : [];
  const removed = texts(patch["$deleteFromPrimitiveList/finalizers"]);
  const added = texts(patch["finalizers"]);
  if (removed.length + added.length === 0) return finalizers;
  return [...new Set([...(finalizers ?? []).filter((name) => !removed.includes(name)), ...added])];
}
