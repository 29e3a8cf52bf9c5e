/**
 * LogicalCluster: a complete Kubernetes API inside Flotilla, served at `/clusters/<name>`. Creating the object creates
 * the cluster; deleting it removes the cluster with everything in it. It is immutable, so updates are not offered.
 */
import { HUB } from "@flotilla/apimachinery";
import { field, type FieldError, type Schema } from "@flotilla/apimachinery";
import type { Admission } from "@flotilla/apimachinery";
import { ageColumn, column, nameColumn } from "@flotilla/apimachinery";
import type { ConnectHandler, Kind } from "@flotilla/apimachinery";
import type { KubernetesObject } from "@flotilla/apimachinery";

export interface LogicalCluster extends KubernetesObject {
  spec: {
    /** The initial content; the server lists the valid profiles when it rejects one. */
    profile: string;
  };
}

/** Blocks deletion until everything in the cluster is removed. */
export const LOGICAL_CLUSTER_FINALIZER = "flotilla.dev/contents";

const schema: Schema = {
  type: "object",
  description: "LogicalCluster is a complete Kubernetes API inside Flotilla, served at /clusters/<name>.",
  required: ["spec"],
  properties: {
    apiVersion: { type: "string" },
    kind: { type: "string" },
    metadata: { type: "object", "x-kubernetes-preserve-unknown-fields": true },
    spec: {
      type: "object",
      required: ["profile"],
      properties: {
        profile: {
          type: "string",
          description: "The initial content of the cluster: hub, member, member-bare or empty.",
        },
      },
    },
  },
};

/** `kubeconfig` serves the subresource of that name: a kubeconfig for an administrator of this cluster only. */
export function logicalClusterKind(kubeconfig?: ConnectHandler): Kind<LogicalCluster> {
  return {
    group: "flotilla.dev",
    kind: "LogicalCluster",
    plural: "logicalclusters",
    shortNames: ["lc"],
    categories: ["flotilla"],
    scope: "Cluster",
    storageVersion: "v1alpha1",
    versions: {
      v1alpha1: {
        schema,
        columns: [nameColumn, column<LogicalCluster>("Profile", ({ spec }) => spec.profile), ageColumn],
      },
    },
    subresources: kubeconfig ? { connect: { kubeconfig } } : {},
    verbs: ["create", "delete", "get", "list", "watch"],
    builtIn: true,
    hasGeneration: true,
  };
}
export const LogicalCluster: Kind<LogicalCluster> = logicalClusterKind();

/** A single label, used in paths and storage keys. */
const NAME = /^[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?$/;

export function logicalClusterAdmission(profiles: readonly string[]): Admission<LogicalCluster> {
  return {
    for: LogicalCluster,
    on: ["CREATE", "DELETE"],
    mutate({ object }) {
      const { finalizers = [] } = object.metadata;
      if (finalizers.includes(LOGICAL_CLUSTER_FINALIZER)) return object;
      return { ...object, metadata: { ...object.metadata, finalizers: [...finalizers, LOGICAL_CLUSTER_FINALIZER] } };
    },
    validate({ operation, object: { metadata, spec } }) {
      if (operation === "DELETE")
        return metadata.name === HUB ? [field.forbidden("metadata.name", "the hub cannot be deleted")] : [];
      const errors: FieldError[] = [];
      if (!NAME.test(metadata.name))
        errors.push(
          field.invalid(
            "metadata.name",
            metadata.name,
            "must consist of lower-case letters, digits and '-', and be at most 63 characters",
          ),
        );
      const profile = (spec as LogicalCluster["spec"] | undefined)?.profile;
      if (profile === undefined || profile === "") errors.push(field.required("spec.profile"));
      else if (!profiles.includes(profile)) errors.push(field.notSupported("spec.profile", profile, profiles));
      return errors;
    },
  };
}
