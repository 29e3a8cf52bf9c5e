/** What the rest of Flotilla gets from the list of OpenKruise's kinds and features. */
import { parseApiVersion } from "@flotilla/apimachinery";
import type { AnyAdmission, Kind } from "@flotilla/apimachinery";
import { isObject } from "@flotilla/base";
import type { DeepReadonly, JsonObject, Metric } from "@flotilla/base";
import type { ObjectKey } from "@flotilla/client";
import type { Controller } from "@flotilla/controller-runtime";
import { CustomResourceDefinition, rulesOf, servedKinds } from "@flotilla/kubernetes";
import type { StateKind } from "@flotilla/kubernetes";
import type { KruiseDefinition, KruiseDependencies, KruiseWebhookOptions } from "./api/kruise-definition.ts";
import { setFields } from "./api/lost-fields.ts";
import { kruiseDefinitions, kruiseParts } from "./kruise-definitions.ts";
import { createMayUpdatePod } from "./podunavailablebudget/may-update.ts";
import { DEFAULT_GATES } from "./api/feature-gates.ts";
import type { FeatureGates } from "./api/feature-gates.ts";

/** The kinds that Flotilla serves. */
export const kruiseKinds: readonly Kind[] = servedKinds(kruiseDefinitions);

const definitionsByKind = new Map(kruiseDefinitions.map((definition) => [keyOf(definition.kind), definition]));

function keyOf({ group, kind }: { readonly group: string; readonly kind: string }): string {
  return `${group}/${kind}`;
}

const definitionOf = (manifest: DeepReadonly<JsonObject>): KruiseDefinition | undefined => {
  const { apiVersion, kind } = manifest;
  if (typeof apiVersion !== "string" || typeof kind !== "string") return undefined;
  return definitionsByKind.get(keyOf({ group: parseApiVersion(apiVersion).group, kind }));
};

/** OpenKruise's webhooks that default and validate its own kinds. */
export const kruiseAdmissions = (gates: FeatureGates = DEFAULT_GATES): readonly AnyAdmission[] =>
  rulesOf(kruiseDefinitions, gates);

export type KruiseAdmissions = Omit<KruiseWebhookOptions, "gates" | "isInstalled"> &
  Partial<Pick<KruiseWebhookOptions, "gates">>;

/** OpenKruise's webhooks that depend on other objects of the cluster. */
export function createKruiseAdmissions({ gates = DEFAULT_GATES, ...rest }: KruiseAdmissions): AnyAdmission[] {
  const options: KruiseWebhookOptions = {
    ...rest,
    gates,
    isInstalled: (read) =>
      kruiseKinds.some(
        ({ group, plural }) => read.get(CustomResourceDefinition, undefined, `${plural}.${group}`) !== undefined,
      ),
  };
  return kruiseParts.flatMap((part) => part.webhooks?.(options) ?? []);
}

/** OpenKruise's controllers on a member. */
export function createKruiseControllers(given: KruiseDependencies): Controller<ObjectKey>[] {
  const deps = { ...given, mayUpdatePod: createMayUpdatePod(given) };
  return kruiseParts.flatMap((part) => part.controllers?.(deps) ?? []);
}

/** The kinds that kruise-state-metrics covers. */
export const kruiseStates: readonly StateKind[] = kruiseDefinitions.flatMap(({ states }) => states ?? []);
export const kruiseStateMetrics: readonly Metric[] = kruiseStates.flatMap(({ families }) =>
  families.map(({ metric }) => metric),
);

interface Declared {
  group: string;
  names: { kind: string };
  versions: { name: string }[];
}

/** True when the server can convert between all versions of a CRD itself. */
export function convertsWithoutWebhook({ group, names, versions }: DeepReadonly<Declared>): boolean {
  const known = kruiseKinds.find((kind) => kind.group === group && kind.kind === names.kind);
  return known !== undefined && versions.every(({ name }) => Object.hasOwn(known.versions, name));
}

/**
 * The paths of set fields that `version` of the object's kind lacks. OpenKruise's own conversions drop them; an object
 * converted for a member must not lose them, because the member would run something other than requested.
 */
export const fieldsLostIn = (version: string, object: JsonObject): string[] =>
  setFields(object, definitionOf(object)?.fieldsMissingIn?.(version, object) ?? []);

/**
 * Expands short forms of OpenKruise's kinds in manifests for members. Defaults are left to the member. Returns the same
 * manifest when it has no short forms.
 */
export function expandShorthand(
  manifest: DeepReadonly<JsonObject>,
  warn: (text: string) => void,
): DeepReadonly<JsonObject> {
  const { metadata, spec } = manifest;
  if (!isObject(metadata) || !isObject(spec)) return manifest;
  return definitionOf(manifest)?.expandShorthand?.(manifest, warn) ?? manifest;
}
