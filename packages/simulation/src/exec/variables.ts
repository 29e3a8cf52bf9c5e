/** The environment of a simulated container, as far as the pod itself defines it. Pure. */
import type { Container } from "@flotilla/apimachinery/facts/core-v1.ts";
import type { Pod } from "@flotilla/kubernetes";
import type { DeepReadonly } from "@flotilla/base";

type ReadonlyPod = DeepReadonly<Pod>;
type Variable = NonNullable<DeepReadonly<Container>["env"]>[number];

export interface Variables {
  readonly known: ReadonlyMap<string, string>;
  /** Names whose values come from other objects or from the node. */
  readonly unknown: ReadonlySet<string>;
  /** Other objects define further variables with unknown names. */
  readonly hasMore: boolean;
}

export function variablesOf(pod: ReadonlyPod, { env, envFrom }: DeepReadonly<Container>): Variables {
  const known = new Map([
    ["PATH", "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"],
    ["HOSTNAME", hostnameOf(pod)],
  ]);
  const unknown = new Set<string>();
  for (const variable of env ?? []) {
    const value = valueOf(pod, variable, known);
    // The last variable of a name wins.
    known.delete(variable.name);
    unknown.delete(variable.name);
    if (value === undefined) unknown.add(variable.name);
    else known.set(variable.name, value);
  }
  return { known, unknown, hasMore: (envFrom?.length ?? 0) > 0 };
}

/** A pod with host networking has the node's name. */
export function hostnameOf({ metadata, spec }: ReadonlyPod): string {
  return spec.hostNetwork ? (spec.nodeName ?? "") : (spec.hostname ?? metadata.name).slice(0, MAX_HOSTNAME);
}

/** The limit of Linux; kubelets truncate pod names to it. */
const MAX_HOSTNAME = 63;

function valueOf(
  pod: ReadonlyPod,
  { value, valueFrom }: Variable,
  known: ReadonlyMap<string, string>,
): string | undefined {
  if (!valueFrom) return expand(value ?? "", known);
  return valueFrom.fieldRef ? fieldOf(pod, valueFrom.fieldRef.fieldPath ?? "") : undefined;
}

/** `$(NAME)` is the value of an earlier variable, `$$(NAME)` is a literal, and unknown references stay unexpanded. */
function expand(text: string, known: ReadonlyMap<string, string>): string {
  return text.replaceAll(/\$\$|\$\(([^)]*)\)/g, (whole, name: string | undefined) =>
    name === undefined ? "$" : (known.get(name) ?? whole),
  );
}

function fieldOf({ metadata, spec, status }: ReadonlyPod, path: string): string | undefined {
  const [, map, key = ""] = /^metadata\.(labels|annotations)\['(.*)'\]$/s.exec(path) ?? [];
  if (map === "labels" || map === "annotations") {
    const entries = metadata[map] ?? {};
    return Object.hasOwn(entries, key) ? entries[key] : "";
  }
  switch (path) {
    case "metadata.name":
      return metadata.name;
    case "metadata.namespace":
      return metadata.namespace;
    case "metadata.uid":
      return metadata.uid;
    case "spec.nodeName":
      return spec.nodeName;
    case "spec.serviceAccountName":
      return spec.serviceAccountName;
    case "status.hostIP":
    case "status.hostIPs":
      return status?.hostIP;
    case "status.podIP":
      return status?.podIP;
    case "status.podIPs":
      return status?.podIPs?.map(({ ip }) => ip).join(",");
    default:
      return undefined;
  }
}
