/**
 * The CustomResourceDefinitions of a hub whose objects another API server keeps. They are made of the same kinds that our
 * own API server serves. Pure.
 */
import type { Kind } from "@flotilla/apimachinery";
import { argoDefinitions } from "@flotilla/argo";
import { isObject, omitEmpty } from "@flotilla/base";
import type { DeepReadonly, Json, JsonObject } from "@flotilla/base";
import { Cluster, karmadaDefinitions, ResourceInterpreterCustomization } from "@flotilla/karmada";
import { customResourceDefinitionOf, servedKinds } from "@flotilla/kubernetes";
import type { CustomResourceDefinition } from "@flotilla/kubernetes";
import { ocmHubKinds } from "@flotilla/ocm";
import { kruiseKinds } from "@flotilla/openkruise";
import { INSTALLED_LABELS, STORED_CLUSTERS, WEBHOOK_PATHS } from "./install-names.ts";

/** Kinds of workloads that the hub stores as templates, by the project that they come from. */
export const WORKLOAD_PROJECTS = ["openkruise", "argo"] as const;
export type WorkloadProject = (typeof WORKLOAD_PROJECTS)[number];

const WORKLOAD_KINDS: Readonly<Record<WorkloadProject, readonly Kind[]>> = {
  openkruise: kruiseKinds,
  argo: servedKinds(argoDefinitions),
};

/** Karmada's and Open Cluster Management's kinds, which every hub has. */
const HUB_KINDS: readonly Kind[] = [...servedKinds(karmadaDefinitions), ...ocmHubKinds];

export const installedKinds = (projects: readonly WorkloadProject[]): readonly Kind[] => [
  ...HUB_KINDS,
  ...projects.flatMap((project) => WORKLOAD_KINDS[project]),
];

/** How the API server of the cluster calls a Service of this installation. */
export interface ServiceReference {
  namespace: string;
  name: string;
  port: number;
}

export interface DefinitionOptions {
  projects: readonly WorkloadProject[];
  service: ServiceReference;
  /** Whether Clusters are served by the process of the webhooks. */
  isAggregated: boolean;
}

export function planDefinitions({ projects, service, isAggregated }: DefinitionOptions): CustomResourceDefinition[] {
  return installedKinds(projects).map((kind) => {
    const definition = customResourceDefinitionOf({ ...kind, builtIn: false });
    const { metadata, spec } = definition;
    return {
      ...definition,
      metadata: { ...metadata, labels: { ...metadata.labels, ...INSTALLED_LABELS } },
      spec: {
        ...spec,
        versions: versionsOf(kind, spec.versions, isAggregated),
        conversion: hasConversion(kind)
          ? {
              strategy: "Webhook",
              webhook: {
                clientConfig: { service: { ...service, path: WEBHOOK_PATHS.convert } },
                conversionReviewVersions: ["v1"],
              },
            }
          : { strategy: "None" },
      },
    };
  });
}

/** Whether versions differ in more than their name. */
const hasConversion = (kind: Kind): boolean =>
  Object.values(kind.versions).some(({ toStorage, fromStorage }) => toStorage ?? fromStorage);

function versionsOf(kind: Kind, versions: Versions, isAggregated: boolean): Versions {
  if (kind === Cluster) return versionsOfClusters(versions, isAggregated);
  if (kind !== ResourceInterpreterCustomization) return versions;
  // Before a webhook is asked, the API server drops or rejects fields that a schema does not have. Customizations have short
  // forms, which the webhook converts.
  return versions.map((version) => ({
    ...version,
    schema: { openAPIV3Schema: openAt(version.schema?.openAPIV3Schema as JsonObject, ["spec", "customizations"]) },
  }));
}

/** The schema that keeps unknown fields of the object at a path, and of the objects in it. */
function openAt(schema: JsonObject, [field, ...rest]: readonly string[]): JsonObject {
  const properties = { ...(schema["properties"] as JsonObject) };
  const fields = field === undefined ? Object.keys(properties) : [field];
  for (const name of fields) {
    const inner = properties[name] as JsonObject;
    if (inner["type"] === "object") properties[name] = openAt(inner, rest);
  }
  return {
    ...schema,
    ...omitEmpty({ properties, "x-kubernetes-preserve-unknown-fields": field === undefined ? true : undefined }),
  };
}

type Versions = CustomResourceDefinition["spec"]["versions"];

/** In Karmada an API server of its own serves them, so their schema is that of a built-in kind. */
function versionsOfClusters(versions: DeepReadonly<Versions>, isAggregated: boolean): Versions {
  const structural = versions.map((version) => ({
    ...version,
    additionalPrinterColumns: CLUSTER_COLUMNS,
    schema: { openAPIV3Schema: structuralSchema(version.schema?.openAPIV3Schema as JsonObject) },
  }));
  // The same objects under a second version, which no APIService takes over.
  const stored = structural.map((version) => ({ ...version, name: STORED_CLUSTERS, storage: false }));
  return (isAggregated ? [...structural, ...stored] : structural) as Versions;
}

/** Those that Karmada computes, as paths. */
const CLUSTER_COLUMNS = [
  { name: "Version", type: "string", jsonPath: ".status.kubernetesVersion" },
  { name: "Mode", type: "string", jsonPath: ".spec.syncMode" },
  { name: "Ready", type: "string", jsonPath: '.status.conditions[?(@.type=="Ready")].status' },
  { name: "Age", type: "date", jsonPath: ".metadata.creationTimestamp" },
  { name: "Zones", type: "string", jsonPath: ".spec.zones", priority: 1 },
  { name: "Region", type: "string", jsonPath: ".spec.region", priority: 1 },
  { name: "Provider", type: "string", jsonPath: ".spec.provider", priority: 1 },
  { name: "API-Endpoint", type: "string", jsonPath: ".spec.apiEndpoint", priority: 1 },
  { name: "Proxy-URL", type: "string", jsonPath: ".spec.proxyURL", priority: 1 },
];

/** The schema of a built-in kind without what a CustomResourceDefinition cannot have. */
function structuralSchema({ properties, ...schema }: JsonObject): JsonObject {
  const { metadata: _, ...fields } = properties as JsonObject;
  return withoutInternals({ ...schema, properties: { ...fields, metadata: { type: "object" } } }) as JsonObject;
}

/** Merge keys of built-in lists, and notes for our own code. Keys of `properties` are names of fields. */
const INTERNAL = /^x-(flotilla-|kubernetes-patch-)/;

function withoutInternals(value: DeepReadonly<Json>, areFields = false): DeepReadonly<Json> {
  if (Array.isArray(value)) return value.map((item: DeepReadonly<Json>) => withoutInternals(item));
  if (!isObject(value)) return value;
  return Object.fromEntries(
    Object.entries(value)
      .filter(([key]) => areFields || !INTERNAL.test(key))
      .map(([key, item]) => [key, withoutInternals(item, !areFields && key === "properties")]),
  );
}
