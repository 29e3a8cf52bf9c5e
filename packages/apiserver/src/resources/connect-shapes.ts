/**
 * The connect subresources of built-in kinds, which lead to a pod, a service, a node or a member instead of an object:
 * their names, methods and options. A `ConnectBackend` or the kind's own code handles them.
 */
import type { Resource } from "./resources.ts";

export interface ConnectShape {
  /** The kind of the options, as discovery and OpenAPI name it. */
  readonly kind: string;
  readonly verbs: readonly string[];
  /** The path after the subresource is part of the request. */
  readonly hasPath: boolean;
}

const stream = (kind: string): ConnectShape => ({ kind, verbs: ["create", "get"], hasPath: false });
const proxy = (kind: string): ConnectShape => ({
  kind,
  verbs: ["create", "delete", "get", "patch", "update"],
  hasPath: true,
});

const NONE: Readonly<Record<string, ConnectShape>> = {};

const SHAPES: ReadonlyMap<string, Readonly<Record<string, ConnectShape>>> = new Map<
  string,
  Readonly<Record<string, ConnectShape>>
>([
  [
    "pods",
    {
      attach: stream("PodAttachOptions"),
      exec: stream("PodExecOptions"),
      log: { kind: "Pod", verbs: ["get"], hasPath: false },
      portforward: stream("PodPortForwardOptions"),
      proxy: proxy("PodProxyOptions"),
    },
  ],
  ["services", { proxy: proxy("ServiceProxyOptions") }],
  ["nodes", { proxy: proxy("NodeProxyOptions") }],
]);

/** By the name of the subresource. */
export function connectShapes({ kind, name }: Resource): Readonly<Record<string, ConnectShape>> {
  // Members are reached through the proxy of their Cluster, which is implemented in code.
  if (kind.builtIn && kind.subresources.connect?.["proxy"]) return { proxy: proxy(`${kind.kind}ProxyOptions`) };
  return (kind.builtIn && name.group === "" && SHAPES.get(name.resource)) || NONE;
}

/** The name comes from a path, so only own properties count. */
export function connectShape(resource: Resource, subresource: string): ConnectShape | undefined {
  const shapes = connectShapes(resource);
  return Object.hasOwn(shapes, subresource) ? shapes[subresource] : undefined;
}
