/**
 * The user's actions in the demo: a kubectl command line, and the same action through our own client for machines
 * without kubectl. Both show the same line and have the same effect.
 */
import { HUB } from "@flotilla/apimachinery";
import type { Kind } from "@flotilla/apimachinery";
import type { Json } from "@flotilla/base";

export type Target = { kind: Kind; namespace?: string; name: string };

export type DemoAction =
  | { do: "create-namespace"; name: string }
  | { do: "apply"; file: string }
  | { do: "patch"; target: Target; patch: readonly JsonPatchStep[] }
  /** Without a value the annotation is removed. */
  | { do: "annotate"; target: Target; annotation: string; value?: string }
  | { do: "get"; cluster: string; kind: Kind; namespace?: string; selector?: string; name?: string };

export interface JsonPatchStep {
  op: "add" | "replace";
  path: string;
  value: Json;
}

/** The cluster whose API is called. */
export const clusterOf = (action: DemoAction): string => (action.do === "get" ? action.cluster : HUB);

/** As kubectl arguments. */
export function argumentsOf(action: DemoAction): string[] {
  if (action.do === "create-namespace") return ["create", "namespace", action.name];
  if (action.do === "apply") return ["apply", "-f", action.file];
  if (action.do === "patch")
    return ["patch", ...named(action.target), "--type=json", `-p=${JSON.stringify(action.patch)}`];
  if (action.do === "annotate")
    return [
      "annotate",
      ...named(action.target),
      action.value === undefined ? `${action.annotation}-` : `${action.annotation}=${action.value}`,
    ];
  return [
    "get",
    action.kind.plural,
    ...(action.name ? [action.name] : []),
    ...(action.namespace ? ["-n", action.namespace] : []),
    ...(action.selector ? ["-l", action.selector] : []),
  ];
}

const named = ({ kind, namespace, name }: Target): string[] => [
  kind.kind.toLowerCase(),
  name,
  ...(namespace ? ["-n", namespace] : []),
];

/** As a user would type it, with the hub's kubeconfig in the environment. */
export function commandLineOf(action: DemoAction): string {
  const cluster = clusterOf(action);
  return [
    "kubectl",
    ...(cluster === HUB ? [] : ["--kubeconfig", `${cluster}.kubeconfig`]),
    ...argumentsOf(action).map(quoted),
  ].join(" ");
}

const quoted = (word: string): string => (/^[\w./:=,@%+-]*$/.test(word) ? word : `'${word}'`);
