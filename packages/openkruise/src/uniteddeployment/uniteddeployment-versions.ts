/**
 * Converts UnitedDeployment between v1alpha1 and v1beta1. A CloneSet template has the form of CloneSets of the same
 * version. The v1beta1 status has per-subset fields where v1alpha1 has maps; only the order of the maps is lost.
 */
import { isObject, type Json, type JsonObject, defined } from "@flotilla/base";
import type { Schema } from "@flotilla/apimachinery";
import { definitionSchema } from "@flotilla/apimachinery";
import { betaSpec, specToAlpha, specToBeta } from "../cloneset/cloneset-versions.ts";
import { changeObject, fieldUnlessEmpty, property, withoutProperties, withProperties } from "../api/conversion.ts";

export function toStorage(object: JsonObject): JsonObject {
  return changeObject(
    { ...withCloneSets(object, specToBeta), apiVersion: "apps.kruise.io/v1beta1" },
    "status",
    statusToBeta,
  );
}

export function fromStorage(object: JsonObject): JsonObject {
  return changeObject(
    { ...withCloneSets(object, specToAlpha), apiVersion: "apps.kruise.io/v1alpha1" },
    "status",
    statusToAlpha,
  );
}

function withCloneSets(object: JsonObject, convert: (template: JsonObject) => JsonObject): JsonObject {
  return changeObject(object, "spec", (spec) =>
    changeObject(spec, "template", (template) => changeObject(template, "cloneSetTemplate", convert)),
  );
}

function statusToBeta({ subsetReplicas, updateStatus, ...status }: JsonObject): JsonObject {
  const updated = isObject(updateStatus) ? updateStatus : {};
  const subsets = subsetsOf(status).map((subset): JsonObject => ({ ...subset }));
  const byName = new Map(subsets.toReversed().map((subset) => [subset["name"], subset]));
  const note = (map: Json | undefined, field: string): void => {
    for (const [name, value] of Object.entries(isObject(map) ? map : {})) {
      let subset = byName.get(name);
      if (!subset) {
        subsets.push((subset = { name }));
        byName.set(name, subset);
      }
      // Go omits zeros.
      if (value !== 0 || subset[field] !== undefined) subset[field] = value;
    }
  };
  note(subsetReplicas, "replicas");
  note(updated["currentPartitions"], "partition");
  return {
    ...status,
    ...defined({
      updatedRevision:
        typeof updated["updatedRevision"] === "string" && updated["updatedRevision"] !== ""
          ? updated["updatedRevision"]
          : undefined,
      subsetStatuses: subsets.length > 0 || status["subsetStatuses"] !== undefined ? subsets : undefined,
    }),
  };
}

function statusToAlpha({ updatedRevision, ...status }: JsonObject): JsonObject {
  const mapOf = (field: string): JsonObject =>
    Object.fromEntries(
      subsetsOf(status).flatMap((subset) =>
        typeof subset["name"] === "string" && subset["name"] !== "" ? [[subset["name"], subset[field] ?? 0]] : [],
      ),
    );
  const updateStatus = {
    ...defined({ updatedRevision }),
    ...fieldUnlessEmpty("currentPartitions", mapOf("partition")),
  };
  return {
    ...status,
    ...fieldUnlessEmpty("subsetReplicas", mapOf("replicas")),
    ...fieldUnlessEmpty("updateStatus", updateStatus),
  };
}

function subsetsOf({ subsetStatuses }: JsonObject): JsonObject[] {
  return Array.isArray(subsetStatuses) ? subsetStatuses.filter(isObject) : [];
}

let schema: Schema | undefined;

/** The v1alpha1 schema of the published CRD, with the CloneSets and status of v1beta1. */
export function v1beta1Schema(): Schema {
  schema ??= deriveSchema(definitionSchema("uniteddeployments.apps.kruise.io", "v1alpha1"));
  return schema;
}

function deriveSchema(alpha: Schema): Schema {
  const spec = property(alpha, "spec");
  const template = property(spec, "template");
  const cloneSets = property(template, "cloneSetTemplate");
  const betaTemplate = withProperties(template, {
    cloneSetTemplate: withProperties(cloneSets, { spec: betaSpec(property(cloneSets, "spec")) }),
  });
  const status = withProperties(withoutProperties(property(alpha, "status"), "subsetReplicas", "updateStatus"), {
    updatedRevision: { type: "string" },
  });
  return withProperties(alpha, { spec: withProperties(spec, { template: betaTemplate }), status });
}
