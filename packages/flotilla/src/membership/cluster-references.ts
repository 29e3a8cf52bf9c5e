/**
 * What a Cluster names and the hub uses on its behalf: the Secrets with the credentials of the member, which the hub sends
 * to the address in the Cluster, and the logical cluster of the same name, which the hub manages as its administrator.
 */
import { Cluster } from "@flotilla/karmada";
import { field } from "@flotilla/apimachinery";
import type { Admission, ClusterReader, FieldError, KindRef, KubernetesObject } from "@flotilla/apimachinery";
import type { DeepReadonly } from "@flotilla/base";
import { createReferenceAccess } from "../access/reference-access.ts";
import type { NamedObject } from "../access/reference-access.ts";

const LOGICAL_CLUSTERS: KindRef<KubernetesObject> = { group: "flotilla.dev", plural: "logicalclusters" };

export const clusterReferences = (hub: string): Admission<Cluster> =>
  createReferenceAccess<Cluster>(hub, {
    for: Cluster,
    named: (cluster, read) => [...namedSecrets(cluster), ...namedLogicalCluster(cluster, read)],
    destination: ({ spec: { apiEndpoint, proxyURL, proxyHeader, insecureSkipTLSVerification } }) => [
      apiEndpoint ?? "",
      proxyURL ?? "",
      { ...proxyHeader },
      insecureSkipTLSVerification === true,
    ],
    check: checkOnlyUser,
  });

function namedSecrets({ spec }: DeepReadonly<Cluster>): NamedObject[] {
  return (["secretRef", "impersonatorSecretRef"] as const).flatMap((name) => {
    const reference = spec[name];
    return reference
      ? [{ path: `spec.${name}`, access: { verb: "get", group: "", resource: "secrets", ...onlyNames(reference) } }]
      : [];
  });
}

const onlyNames = ({ namespace, name }: { namespace: string; name: string }) => ({ namespace, name });

/** A Cluster without an address of its own stands for the logical cluster of its name. */
function namedLogicalCluster({ metadata: { name } }: DeepReadonly<Cluster>, read: ClusterReader): NamedObject[] {
  if (!read.get(LOGICAL_CLUSTERS, undefined, name)) return [];
  const { group, plural: resource } = LOGICAL_CLUSTERS;
  return [{ path: "metadata.name", access: { verb: "create", group, resource, subresource: "kubeconfig", name } }];
}

/** The credentials of a member belong to one Cluster: another one would send them to its own address. */
function checkOnlyUser(
  { metadata }: DeepReadonly<Cluster>,
  { path, access }: NamedObject,
  read: ClusterReader,
): FieldError | undefined {
  if (access.resource !== "secrets") return undefined;
  const other = read
    .list(Cluster)
    .find(
      (cluster) =>
        cluster.metadata.name !== metadata.name &&
        namedSecrets(cluster).some(
          ({ access: used }) => used.namespace === access.namespace && used.name === access.name,
        ),
    );
  return (
    other &&
    field.forbidden(
      path,
      `the Secret "${access.namespace}/${access.name}" has the credentials of the Cluster "${other.metadata.name}"; each Cluster needs a Secret of its own`,
    )
  );
}
