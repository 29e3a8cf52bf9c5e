/**
 * The revisions of a UnitedDeployment: the template of its subsets, byte for byte as in OpenKruise 1.9, that is in
 * v1alpha1 and with the fields that Go always serializes.
 */
import { UnitedDeployment } from "./uniteddeployment-kind.ts";
import { isObject, required, defined, objectOf } from "@flotilla/base";
import type { Json, JsonObject } from "@flotilla/base";
import { inRevisionOrder, podTemplateData } from "@flotilla/kubernetes";
import type { ReadonlyRevision, RevisionFormat } from "@flotilla/kubernetes";
import { templateOf } from "./subset-kinds.ts";

/** Fields of a template's spec that Go serializes even if unset. */
const ALWAYS: Readonly<Record<string, JsonObject>> = {
  statefulSetTemplate: { selector: null, serviceName: "", updateStrategy: {} },
  advancedStatefulSetTemplate: { selector: null, updateStrategy: {}, volumeClaimUpdateStrategy: {} },
  cloneSetTemplate: { selector: null, scaleStrategy: {}, updateStrategy: {} },
  deploymentTemplate: { selector: null, strategy: {} },
};

export const unitedDeploymentRevisions: RevisionFormat<UnitedDeployment> = {
  dataOf(deployment) {
    let data = known.get(deployment.spec);
    if (!data) known.set(deployment.spec, (data = templateData(deployment as unknown as JsonObject)));
    return data;
  },
  // Upstream omits the labels of CloneSets.
  labelsOf(deployment) {
    const template = templateOf(deployment);
    return template?.kind.type === "CloneSet" ? undefined : template?.metadata.labels;
  },
};

/** Specs in informers are shared and immutable. */
const known = new WeakMap<object, JsonObject>();

function templateData(deployment: JsonObject): JsonObject {
  const fromStorage = required(
    UnitedDeployment.versions["v1alpha1"]?.fromStorage,
    "the conversion of UnitedDeployments to v1alpha1",
  );
  const spec = objectOf(fromStorage(deployment)["spec"]);
  const template = Object.entries(objectOf(spec["template"])).map(([name, value]) => [
    name,
    isObject(value) ? withZeros(value, ALWAYS[name] ?? {}) : value,
  ]);
  return { spec: { template: { ...(Object.fromEntries(template) as JsonObject), $patch: "replace" } } };
}

function withZeros({ metadata, spec, ...rest }: JsonObject, zeros: JsonObject): JsonObject {
  const { template, volumeClaimTemplates, ...others } = objectOf(spec);
  const pods = objectOf(objectOf(podTemplateData(objectOf(template))["spec"])["template"]);
  const { $patch: _patch, ...podTemplate } = pods;
  return {
    ...rest,
    metadata: { creationTimestamp: null, ...objectOf(metadata) },
    spec: {
      ...zeros,
      ...others,
      template: podTemplate,
      ...defined({
        volumeClaimTemplates: Array.isArray(volumeClaimTemplates)
          ? volumeClaimTemplates.map(claimWithZeros)
          : undefined,
      }),
    },
  };
}

function claimWithZeros(claim: Json): Json {
  const { metadata, spec, ...rest } = objectOf(claim);
  return {
    status: {},
    ...rest,
    metadata: { creationTimestamp: null, ...objectOf(metadata) },
    spec: { resources: {}, ...objectOf(spec) },
  };
}

/**
 * The oldest revisions beyond the limit, without those in use: the limit counts these too, unlike in Kubernetes' own
 * kinds.
 */
export function expiredRevisions(
  revisions: readonly ReadonlyRevision[],
  limit: number,
  inUse: ReadonlySet<string>,
): ReadonlyRevision[] {
  return inRevisionOrder(revisions)
    .slice(0, Math.max(0, revisions.length - limit))
    .filter(({ metadata }) => !inUse.has(metadata.name));
}
