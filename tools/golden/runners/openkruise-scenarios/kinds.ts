/** The kinds that scenarios use, and their versions: those of OpenKruise 1.9.1. */
import { kruiseDefinitions, kruiseKinds } from "@flotilla/openkruise";
import { isServed, kubernetesKinds } from "@flotilla/kubernetes";
import { type Kind } from "@flotilla/apimachinery";
import { NAMESPACE } from "./member.ts";

/** Kinds that OpenKruise 1.9.1 serves only in this version. Flotilla also serves and stores the next one. */
const ONLY_ALPHA = new Set([
  "CloneSet",
  "UnitedDeployment",
  "WorkloadSpread",
  "PersistentPodState",
  "ResourceDistribution",
  "ContainerRecreateRequest",
  "PodProbeMarker",
  "PodUnavailableBudget",
]);

/** Kinds that Flotilla interprets but does not run. */
export const LATER: ReadonlySet<string> = new Set(
  kruiseDefinitions.filter(({ kind }) => !isServed(kind)).map(({ kind }) => kind.kind),
);

/**
 * Kinds that a recording shows; pods are separate, and objects that every cluster creates for a Service are omitted.
 */
export const SHOWN = [
  "AdvancedCronJob",
  "BroadcastJob",
  "CloneSet",
  "ContainerRecreateRequest",
  "ControllerRevision",
  "DaemonSet",
  "Deployment",
  "ImagePullJob",
  "Job",
  "PersistentPodState",
  "PersistentVolumeClaim",
  "PodUnavailableBudget",
  "ReplicaSet",
  "ResourceDistribution",
  "SidecarSet",
  "StatefulSet",
  "UnitedDeployment",
  "WorkloadSpread",
];

const versionOf = ({ kind, group, storageVersion }: Kind): string =>
  group.endsWith("kruise.io") && ONLY_ALPHA.has(kind) ? "v1alpha1" : storageVersion;

/** OpenKruise's kind if both projects have one of this name. */
function findKind(name: string, group?: string): Kind {
  const found = [...kruiseKinds, ...kubernetesKinds].find(
    (kind) => kind.kind === name && (group === undefined || kind.group === group),
  );
  if (!found) throw new Error(`${name} is not served`);
  return found;
}

export const apiVersionOf = (name: string): string => {
  const kind = findKind(name);
  return kind.group === "" ? kind.storageVersion : `${kind.group}/${versionOf(kind)}`;
};

/** The path of a kind, or of one of its objects; in the version of an object if that is given. */
export function pathOf(
  name: string,
  options: { apiVersion?: string; object?: string; subresource?: string; namespace?: string } = {},
): string {
  const parts = options.apiVersion?.split("/");
  const kind = findKind(name, parts && (parts.length === 2 ? parts[0] : ""));
  const version = parts?.at(-1) ?? versionOf(kind);
  const root = kind.group === "" ? `/api/${version}` : `/apis/${kind.group}/${version}`;
  const namespace = kind.scope === "Namespaced" ? `/namespaces/${options.namespace ?? NAMESPACE}` : "";
  return [root + namespace, kind.plural, options.object, options.subresource]
    .filter((part) => part !== undefined)
    .join("/");
}
