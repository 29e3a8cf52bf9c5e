/** The workload of one subset, built from the template of the UnitedDeployment. Pure. */
import { Deployment } from "@flotilla/kubernetes";
import { applyStrategicMergePatch, controllerReference, dnsSubdomainProblems, goJson } from "@flotilla/apimachinery";
import type { ObjectMeta, Schema } from "@flotilla/apimachinery";
import type { PodTemplateSpec } from "@flotilla/apimachinery/facts/core-v1.ts";
import { required, defined } from "@flotilla/base";
import type { DeepReadonly, Json, JsonObject } from "@flotilla/base";
import { DEPLOYMENT_REVISION_LABEL, PATCH_ANNOTATION, SUBSET_LABEL, subsetNamed } from "./uniteddeployment-names.ts";
import type { ReadonlyUnitedDeployment, Subset } from "./uniteddeployment-names.ts";
import type { ReadonlyWorkload, SubsetTemplate, SubsetWorkloadSpec } from "./subset-kinds.ts";

type Spec = DeepReadonly<SubsetWorkloadSpec>;
type Template = DeepReadonly<PodTemplateSpec>;
type PodSpec = NonNullable<Template["spec"]>;

export interface SubsetDemand {
  name: string;
  revision: string;
  replicas: number;
  partition: number;
}

/** A new workload for the subset. The server completes its generated name. */
export function makeSubsetWorkload(
  deployment: ReadonlyUnitedDeployment,
  template: SubsetTemplate,
  demand: SubsetDemand,
): ReadonlyWorkload {
  const { kind } = template;
  const subset = required(subsetNamed(deployment, demand.name), `the subset ${demand.name}`);
  const { namespace } = deployment.metadata;
  const metadata = {
    generateName: namePrefix(deployment.metadata.name, demand.name),
    namespace,
    ...workloadMetadata(deployment, template, demand, subset),
    ownerReferences: [controllerReference(deployment)],
  };
  return {
    apiVersion: `${kind.kind.group}/${kind.kind.storageVersion}`,
    kind: kind.kind.kind,
    metadata: metadata as DeepReadonly<ObjectMeta>,
    spec: subsetSpec(deployment, template, demand, subset),
  };
}

/** An existing workload with the subset's desired state; labels and annotations of other writers are preserved. */
export function changedWorkload(
  workload: ReadonlyWorkload,
  deployment: ReadonlyUnitedDeployment,
  template: SubsetTemplate,
  demand: SubsetDemand,
): ReadonlyWorkload {
  const { metadata, spec } = makeSubsetWorkload(deployment, template, demand);
  const labels = { ...workload.metadata.labels, ...metadata.labels };
  const annotations = { ...workload.metadata.annotations, ...metadata.annotations };
  return { ...workload, metadata: { ...workload.metadata, labels, annotations }, spec };
}

/** The patch as recorded on the workload; empty if the subset has none. */
export function patchText({ patch }: Subset): string {
  return patch === undefined || patch === null ? "" : goJson(patch as Json);
}

function workloadMetadata(
  deployment: ReadonlyUnitedDeployment,
  { metadata }: SubsetTemplate,
  { name, revision }: SubsetDemand,
  subset: Subset,
): DeepReadonly<Partial<ObjectMeta>> {
  return {
    labels: {
      ...metadata.labels,
      ...deployment.spec.selector?.matchLabels,
      [DEPLOYMENT_REVISION_LABEL]: revision,
      [SUBSET_LABEL]: name,
    },
    annotations: { ...metadata.annotations, [PATCH_ANNOTATION]: patchText(subset) },
  };
}

function subsetSpec(
  deployment: ReadonlyUnitedDeployment,
  { kind, spec }: SubsetTemplate,
  demand: SubsetDemand,
  subset: Subset,
): Spec {
  const selector = {
    ...deployment.spec.selector,
    matchLabels: { ...deployment.spec.selector?.matchLabels, [SUBSET_LABEL]: demand.name },
  };
  return {
    ...spec,
    selector,
    replicas: demand.replicas,
    template: podTemplate(spec.template ?? {}, demand, subset),
    ...defined({
      updateStrategy: kind.hasPartition(spec) ? withPartition(spec, kind.defaultType, demand.partition) : undefined,
    }),
  };
}

function withPartition(
  { updateStrategy }: Spec,
  defaultType: string | undefined,
  partition: number,
): Spec["updateStrategy"] {
  return {
    ...updateStrategy,
    ...defined({ type: defaultType }),
    rollingUpdate: { ...updateStrategy?.rollingUpdate, partition },
  };
}

function podTemplate(template: Template, { name, revision }: SubsetDemand, subset: Subset): Template {
  const labels = { ...template.metadata?.labels, [SUBSET_LABEL]: name, [DEPLOYMENT_REVISION_LABEL]: revision };
  const placed: Template = {
    ...template,
    metadata: { ...template.metadata, labels },
    ...defined({ spec: template.spec ? withTolerations(withAffinity(template.spec, subset), subset) : undefined }),
  };
  if (subset.patch === undefined || subset.patch === null) return placed;
  return applyStrategicMergePatch(placed as unknown as JsonObject, subset.patch as Json, templateSchema());
}

/** Every term of the pod's own affinity is narrowed to the subset's nodes. */
function withAffinity(spec: PodSpec, { nodeSelectorTerm }: Subset): PodSpec {
  const expressions = nodeSelectorTerm?.matchExpressions ?? [];
  if (expressions.length === 0) return spec;
  const { nodeAffinity } = spec.affinity ?? {};
  const required = nodeAffinity?.requiredDuringSchedulingIgnoredDuringExecution;
  const terms = required?.nodeSelectorTerms ?? [];
  const nodeSelectorTerms = (terms.length > 0 ? terms : [{}]).map((term) => ({
    ...term,
    matchExpressions: [...(term.matchExpressions ?? []), ...expressions],
  }));
  return {
    ...spec,
    affinity: {
      ...spec.affinity,
      nodeAffinity: {
        ...nodeAffinity,
        requiredDuringSchedulingIgnoredDuringExecution: { ...required, nodeSelectorTerms },
      },
    },
  };
}

function withTolerations(spec: PodSpec, { tolerations }: Subset): PodSpec {
  return tolerations && tolerations.length > 0
    ? { ...spec, tolerations: [...(spec.tolerations ?? []), ...tolerations] }
    : spec;
}

/** An invalid prefix omits the subset's name. */
function namePrefix(deployment: string, subset: string): string {
  const prefix = `${deployment}-${subset}`;
  return dnsSubdomainProblems(prefix).length > 0 ? `${deployment}-` : `${prefix}-`;
}

/** The schema of a Deployment's pod template defines how lists are merged. */
function templateSchema(): Schema {
  return required(
    Deployment.versions["v1"]?.schema.properties?.["spec"]?.properties?.["template"],
    "the schema of a pod template",
  );
}
