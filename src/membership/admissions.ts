/** What must not be deleted by hand while members depend on it: the Cluster objects and the namespaces of their Works. Pure. */
import { Cluster, Namespace } from "../api/index.ts";
import type { Admission, AnyAdmission } from "../api/index.ts";
import type { FieldError } from "../machinery/index.ts";

const refused = (field: string, why: string): FieldError => ({ type: "Forbidden", field, message: `Forbidden: ${why}` });

const keepCluster: Admission<Cluster> = {
  for: Cluster,
  on: ["DELETE"],
  validate: () => [refused("metadata", "unjoining a member is not supported by Flotilla yet; it would have to decide what becomes of the workloads there")],
};

const keepNamespaces: Admission<Namespace> = {
  for: Namespace,
  on: ["DELETE"],
  validate: ({ object: { metadata } }) =>
    /^karmada-(es-.*|system|cluster)$/.test(metadata.name) ? [refused("metadata", "the control plane keeps the Works and secrets of members here; deleting it would delete what they run")] : [],
};

export const membershipAdmissions: readonly AnyAdmission[] = [keepCluster, keepNamespaces];
