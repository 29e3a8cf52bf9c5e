/**
 * CustomResourceDefinitions and kinds are two forms of the same thing. A created CRD becomes a kind, which is served
 * like any other; kinds of a profile that are defined in code are shown as CRDs.
 */
import { customResourceDefinitionOf, kindOfCustomResourceDefinition } from "@flotilla/kubernetes";
import type { WebhookClientConfig } from "@flotilla/apimachinery/facts/admissionregistration-v1.ts";
import type { Kind, KindVersion, KubernetesObject, ScalePaths, Schema } from "@flotilla/apimachinery";
import { formatApiVersion } from "@flotilla/apimachinery";
import { equalJson, omitZero, defined } from "@flotilla/base";
import type { DeepReadonly, JsonObject } from "@flotilla/base";
import { createResource } from "./resources.ts";
import type { Resource, WebhookConversion } from "./resources.ts";

export const CRD_GROUP = "apiextensions.k8s.io";
export const CRD_PLURAL = "customresourcedefinitions";
/** Holds a deleted CRD until its objects are deleted. */
export const CRD_FINALIZER = "customresourcecleanup.apiextensions.k8s.io";

export interface DefinitionNames {
  plural: string;
  singular?: string;
  kind: string;
  listKind?: string;
  shortNames?: string[];
  categories?: string[];
}

interface DefinitionVersion {
  name: string;
  served: boolean;
  storage: boolean;
  deprecated?: boolean;
  deprecationWarning?: string;
  schema?: { openAPIV3Schema?: Schema };
  subresources?: { status?: JsonObject; scale?: ScalePaths };
  additionalPrinterColumns?: {
    name: string;
    type: string;
    format?: string;
    description?: string;
    priority?: number;
    jsonPath: string;
  }[];
  selectableFields?: { jsonPath: string }[];
}

export interface Definition extends KubernetesObject {
  spec: {
    group: string;
    scope: "Namespaced" | "Cluster";
    names: DefinitionNames;
    versions: DefinitionVersion[];
    conversion?: {
      strategy?: string;
      webhook?: { clientConfig?: WebhookClientConfig; conversionReviewVersions?: string[] };
    };
    preserveUnknownFields?: boolean;
  };
  status?: { conditions?: DefinitionCondition[]; acceptedNames?: DefinitionNames; storedVersions?: string[] };
}

export interface DefinitionCondition {
  type: string;
  status: "True" | "False" | "Unknown";
  lastTransitionTime?: string;
  reason?: string;
  message?: string;
}

export function isDefinition(resource: Resource): boolean {
  return resource.kind.kind === "CustomResourceDefinition" && resource.kind.group === CRD_GROUP;
}

export function conditionOf(
  definition: DeepReadonly<Definition>,
  type: string,
): DeepReadonly<DefinitionCondition> | undefined {
  return definition.status?.conditions?.find((condition) => condition.type === type);
}

/** The CRD that would define one of our kinds, accepted and established. */
export function definitionOf(kind: Kind): Definition {
  const definition = customResourceDefinitionOf(kind) as unknown as Definition;
  return {
    ...definition,
    status: {
      acceptedNames: definition.spec.names,
      storedVersions: [kind.storageVersion],
      conditions: [ACCEPTED, ESTABLISHED],
    },
  };
}

export const ACCEPTED: DefinitionCondition = {
  type: "NamesAccepted",
  status: "True",
  reason: "NoConflicts",
  message: "no conflicts found",
};
export const ESTABLISHED: DefinitionCondition = {
  type: "Established",
  status: "True",
  reason: "InitialNamesAccepted",
  message: "the initial names have been accepted",
};

/** The CRD with its accepted names, which may be older than those in its spec. */
export function withAcceptedNames(definition: DeepReadonly<Definition>): DeepReadonly<Definition> {
  const names = definition.status?.acceptedNames;
  // A CRD without accepted names is not served.
  if (!names?.kind || equalJson(names, definition.spec.names)) return definition;
  return { ...definition, spec: { ...definition.spec, names } };
}

/**
 * The resource that a CRD serves. `known` is our own declaration of the kind, if there is one: its conversion is used
 * instead of the CRD's webhook, and objects are stored in our storage version whatever the CRD specifies, so that one
 * watch sees the objects of all clusters in one version. A version that is only used for storage is not served.
 */
export function resourceOfDefinition(
  definition: DeepReadonly<Definition>,
  known: Kind | undefined,
  hasLongIntegers = false,
): Resource {
  return resourceFrom(definition, { known, hasLongIntegers });
}

/**
 * The resource that a CRD serves in a cluster that is left to other controllers: objects are stored as they are written,
 * and converted by the CRD's webhook.
 */
export function foreignResource(definition: DeepReadonly<Definition>, known: Kind | undefined): Resource {
  return resourceFrom(definition, { isForeign: true, hasLongIntegers: true, former: known });
}

function resourceFrom(
  definition: DeepReadonly<Definition>,
  {
    known,
    isForeign = false,
    hasLongIntegers,
    former,
  }: { known?: Kind | undefined; isForeign?: boolean; hasLongIntegers: boolean; former?: Kind | undefined },
): Resource {
  const { spec } = definition;
  const { group, names } = spec;
  const versions = spec.versions.toSorted((a, b) => compareVersions(a.name, b.name));
  // A version that is stored but not served must still be readable.
  const readable = {
    ...definition,
    spec: { ...spec, versions: versions.map((version) => ({ ...version, served: true })) },
  };
  const kind = kindOfCustomResourceDefinition(
    readable as unknown as Parameters<typeof kindOfCustomResourceDefinition>[0],
  );
  const ours = known && isOneOf(kind, known) ? known : undefined;
  const declared = Object.entries(kind.versions).map(([name, version]): [string, KindVersion] => {
    const { toStorage, fromStorage } = ours?.versions[name] ?? {};
    return [
      name,
      {
        ...version,
        ...defined({
          deprecationWarning:
            version.deprecationWarning === undefined
              ? undefined
              : (versions.find((candidate) => candidate.name === name)?.deprecationWarning ??
                `${group}/${name} ${names.kind} is deprecated`),
        }),
        ...omitZero({ toStorage, fromStorage }),
      },
    ];
  });
  const unserved = new Set(versions.filter(({ served }) => !served).map(({ name }) => name));
  const stored = ours?.versions[ours.storageVersion];
  if (ours && stored && !kind.versions[ours.storageVersion]) {
    declared.push([ours.storageVersion, stored]);
    unserved.add(ours.storageVersion);
  }
  const { connect } = known?.subresources ?? {};
  return createResource(
    {
      ...kind,
      ...defined({ foreign: isForeign ? (true as const) : undefined }),
      ...omitZero({ hasLongIntegers }),
      storageVersion: ours?.storageVersion ?? kind.storageVersion,
      versions: Object.fromEntries(declared),
      subresources: { ...kind.subresources, ...omitZero({ connect }) },
    },
    {
      listKind: names.listKind || undefined,
      unserved,
      former: formerVersion(kind, former),
      conversion: ours ? undefined : webhookConversion(spec.conversion),
    },
  );
}

function webhookConversion(conversion: DeepReadonly<Definition>["spec"]["conversion"]): WebhookConversion | undefined {
  if (conversion?.strategy !== "Webhook") return undefined;
  const { clientConfig = {}, conversionReviewVersions = [] } = conversion.webhook ?? {};
  return { clientConfig, reviewVersions: conversionReviewVersions };
}

/** Earlier releases stored objects of kinds that we know in our version, also where the CRD does not have it. */
function formerVersion({ group, versions, storageVersion }: Kind, known: Kind | undefined): Resource["former"] {
  const toStorage = known?.versions[storageVersion]?.fromStorage;
  if (!known || !toStorage || Object.hasOwn(versions, known.storageVersion)) return undefined;
  return { apiVersion: formatApiVersion(group, known.storageVersion), toStorage };
}

/** True when a kind matches one that we know, in versions that we know. */
function isOneOf(kind: Kind, known: Kind): boolean {
  return (
    kind.kind === known.kind &&
    kind.scope === known.scope &&
    Object.keys(kind.versions).every((version) => Object.hasOwn(known.versions, version))
  );
}

/** The order in which versions are preferred: v2, v1, v1beta2, v1beta1, v1alpha1, then others by name. */
export function compareVersions(a: string, b: string): number {
  const left = parseVersion(a);
  const right = parseVersion(b);
  if (!left || !right) return left ? -1 : right ? 1 : a < b ? -1 : a > b ? 1 : 0;
  for (const [index, rank] of left.entries()) if (rank !== right[index]) return (right[index] ?? 0) - rank;
  return 0;
}

function parseVersion(version: string): [number, number, number] | undefined {
  const match = /^v(\d+)(?:(alpha|beta)(\d+))?$/.exec(version);
  if (!match) return undefined;
  const stability = match[2] === undefined ? 2 : match[2] === "beta" ? 1 : 0;
  return [stability, Number(match[1]), Number(match[3] ?? 0)];
}
