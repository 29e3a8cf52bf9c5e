/**
 * A pod template in a ControllerRevision, byte for byte as in upstream: `{"spec":{"template":{…}}}` with some fields
 * that are always present because Go serializes their zero value.
 *
 * Both directions are cached by identity: templates and revisions in informers are shared and immutable.
 */
import type { ControllerRevision } from "./controllerrevision-kind.ts";
import type { PodTemplateSpec } from "@flotilla/apimachinery/facts/core-v1.ts";
import { invariant, isObject, objectOf, defined } from "@flotilla/base";
import type { DeepReadonly, Json, JsonObject } from "@flotilla/base";

export type PodTemplate = DeepReadonly<PodTemplateSpec>;
export type ReadonlyRevision = DeepReadonly<ControllerRevision>;

/** Kubernetes up to 1.33, and with it OpenKruise 1.9, writes `creationTimestamp: null`; later Kubernetes omits it. */
export type ZeroTime = "null" | "absent";

const known: Record<ZeroTime, WeakMap<object, JsonObject>> = { null: new WeakMap(), absent: new WeakMap() };

export function podTemplateData(template: PodTemplate, zeroTime: ZeroTime = "null"): JsonObject {
  let data = known[zeroTime].get(template);
  if (!data)
    known[zeroTime].set(
      template,
      (data = { spec: { template: replacement(template as unknown as JsonObject, zeroTime) } }),
    );
  return data;
}

/** `$patch` makes a strategic merge replace the existing template. */
function replacement({ spec = {}, metadata, ...rest }: JsonObject, zeroTime: ZeroTime): JsonObject {
  const { containers, initContainers, ephemeralContainers, ...podSpec } = isObject(spec) ? spec : {};
  return {
    ...rest,
    $patch: "replace",
    metadata: {
      ...objectOf(metadata),
      ...defined({ creationTimestamp: zeroTime === "null" ? null : undefined }),
    },
    spec: {
      ...podSpec,
      containers: Array.isArray(containers) ? withResources(containers) : null,
      ...defined({
        initContainers: Array.isArray(initContainers) ? withResources(initContainers) : undefined,
        ephemeralContainers: Array.isArray(ephemeralContainers) ? withResources(ephemeralContainers) : undefined,
      }),
    },
  };
}

const withResources = (containers: readonly Json[]): Json =>
  containers.map((container) => ({ resources: {}, ...(container as JsonObject) }));

const templates = new WeakMap<ReadonlyRevision, PodTemplate>();

/** The pod template of a revision. */
export function podTemplateOf(revision: ReadonlyRevision): PodTemplate {
  let template = templates.get(revision);
  if (!template) templates.set(revision, (template = readTemplate(revision)));
  return template;
}

function readTemplate(revision: ReadonlyRevision): PodTemplate {
  const data: unknown = revision.data;
  const spec = isObject(data) ? data["spec"] : undefined;
  const template = isObject(spec) ? spec["template"] : undefined;
  invariant(isObject(template), `ControllerRevision ${revision.metadata.name} must hold a pod template`);
  const { $patch: _patch, ...rest } = template;
  const { creationTimestamp: _time, ...metadata } = isObject(rest["metadata"]) ? rest["metadata"] : {};
  return { ...rest, metadata };
}
