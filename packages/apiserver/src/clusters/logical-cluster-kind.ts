/**
 * LogicalCluster: a complete Kubernetes API inside Flotilla, served at `/clusters/<name>`. Creating the object creates
 * the cluster; deleting it removes the cluster with everything in it. It is immutable, so updates are not offered.
 */
import { HUB, field, ownKind, s, schemaErrors, LOGICAL_CLUSTER_FINALIZER } from "@flotilla/apimachinery";
import type { Admission, ConnectHandler, FieldError, Kind } from "@flotilla/apimachinery";

export const LogicalCluster = ownKind({
  group: "flotilla.dev",
  version: "v1alpha1",
  kind: "LogicalCluster",
  plural: "logicalclusters",
  shortNames: ["lc"],
  categories: ["flotilla"],
  scope: "Cluster",
  description: "LogicalCluster is a complete Kubernetes API inside Flotilla, served at /clusters/<name>.",
  servedAs: "builtIn",
  verbs: ["create", "delete", "get", "list", "watch"],
  spec: s.object({
    profile: s.string("The initial content of the cluster: hub, member, member-bare or empty."),
  }),
  columns: { Profile: ".spec.profile" },
});
export type LogicalCluster = s.Infer<typeof LogicalCluster>;

/** `kubeconfig` serves the subresource of that name: a kubeconfig for an administrator of this cluster only. */
export function logicalClusterKind(kubeconfig?: ConnectHandler): Kind<LogicalCluster> {
  return kubeconfig ? { ...LogicalCluster, subresources: { connect: { kubeconfig } } } : LogicalCluster;
}

/** A single label, used in paths and storage keys. */
const NAME = /^[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?$/;

export function logicalClusterAdmission(profiles: readonly string[]): Admission<LogicalCluster> {
  return {
    name: "LogicalClusterRules",
    for: LogicalCluster,
    on: ["CREATE", "DELETE"],
    isReinvoked: true,
    mutate({ object }) {
      const { finalizers = [] } = object.metadata;
      if (finalizers.includes(LOGICAL_CLUSTER_FINALIZER)) return object;
      return { ...object, metadata: { ...object.metadata, finalizers: [...finalizers, LOGICAL_CLUSTER_FINALIZER] } };
    },
    validate(review) {
      const {
        operation,
        object: { metadata, spec },
      } = review;
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
      // The server lists the profiles that it has; a schema cannot.
      const invalid = schemaErrors(LogicalCluster, review);
      if (invalid.length > 0) return [...errors, ...invalid];
      if (!profiles.includes(spec.profile)) errors.push(field.notSupported("spec.profile", spec.profile, profiles));
      return errors;
    },
  };
}
