/**
 * What happens to a pod when it is created, beyond the defaults of its template: the tolerations, the service account and the
 * priority that Kubernetes' admission plugins give it. Its first phase and quality of service are the API server's to set.
 */
import type { DeepReadonly } from "../../base/index.ts";
import { fill } from "../fill.ts";
import type { Container, Pod, PodSpec, Toleration, Volume } from "../facts/core-v1.ts";

type Read<T> = DeepReadonly<T>;

/** How long a pod stays on a node that stopped answering. */
const TOLERATED_SECONDS = 300;
/** The classes that every cluster has. */
const PRIORITIES: ReadonlyMap<string, number> = new Map([
  ["system-cluster-critical", 2_000_000_000],
  ["system-node-critical", 2_000_001_000],
]);
const TOKEN_PATH = "/var/run/secrets/kubernetes.io/serviceaccount";

export function completeNewPod(pod: Read<Pod>, newUid: () => string): Read<Pod> {
  let spec: Read<PodSpec> = fill(pod.spec, {
    enableServiceLinks: true,
    serviceAccountName: "default",
    serviceAccount: "default",
    priority: PRIORITIES.get(pod.spec.priorityClassName ?? "") ?? 0,
    preemptionPolicy: "PreemptLowerPriority",
  });
  spec = withTolerations(withRequests(spec));
  if (spec.automountServiceAccountToken !== false) spec = withToken(spec, newUid);
  return { ...pod, spec };
}

/** Limits are also requests where none are stated. */
function withRequests(spec: Read<PodSpec>): Read<PodSpec> {
  const complete = (container: Read<Container>): Read<Container> => {
    const limits = container.resources?.limits;
    if (!limits) return container;
    const missing = Object.keys(limits).filter((name) => container.resources?.requests?.[name] === undefined);
    if (missing.length === 0) return container;
    return { ...container, resources: { ...container.resources, requests: { ...limits, ...container.resources?.requests } } };
  };
  return { ...spec, containers: spec.containers.map(complete), ...(spec.initContainers && { initContainers: spec.initContainers.map(complete) }) };
}

function withTolerations(spec: Read<PodSpec>): Read<PodSpec> {
  const present = spec.tolerations ?? [];
  const added: Toleration[] = ["node.kubernetes.io/not-ready", "node.kubernetes.io/unreachable"]
    .filter((key) => !present.some((toleration) => (!toleration.key || toleration.key === key) && (!toleration.effect || toleration.effect === "NoExecute")))
    .map((key) => ({ key, operator: "Exists", effect: "NoExecute", tolerationSeconds: TOLERATED_SECONDS }));
  return added.length === 0 ? spec : { ...spec, tolerations: [...present, ...added] };
}

/** Mounts the service account's token where clients look for it, unless the container has something there already. */
function withToken(spec: Read<PodSpec>, newUid: () => string): Read<PodSpec> {
  const lacks = (container: Read<Container>): boolean => !container.volumeMounts?.some(({ mountPath }) => mountPath === TOKEN_PATH);
  if (![...spec.containers, ...(spec.initContainers ?? [])].some(lacks)) return spec;
  const name = `kube-api-access-${newUid().slice(0, 5)}`;
  const volume: Volume = {
    name,
    projected: {
      sources: [
        { serviceAccountToken: { expirationSeconds: 3607, path: "token" } },
        { configMap: { name: "kube-root-ca.crt", items: [{ key: "ca.crt", path: "ca.crt" }] } },
        { downwardAPI: { items: [{ path: "namespace", fieldRef: { apiVersion: "v1", fieldPath: "metadata.namespace" } }] } },
      ],
      defaultMode: 0o644,
    },
  };
  const mount = (container: Read<Container>): Read<Container> =>
    lacks(container) ? { ...container, volumeMounts: [...(container.volumeMounts ?? []), { name, readOnly: true, mountPath: TOKEN_PATH }] } : container;
  return {
    ...spec,
    volumes: [...(spec.volumes ?? []), volume],
    containers: spec.containers.map(mount),
    ...(spec.initContainers && { initContainers: spec.initContainers.map(mount) }),
  };
}
