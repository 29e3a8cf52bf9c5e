/**
 * The user's actions in the demo: a kubectl command line, and the same action through our own client for machines
 * without kubectl. Both show the same line and have the same effect.
 */
import { HUB } from "../../api/index.ts";
import type { Kind } from "../../api/index.ts";
import type { Json } from "../../base/index.ts";

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
export const clusterOf = (deed: DemoAction): string => (deed.do === "get" ? deed.cluster : HUB);

/** As kubectl arguments. */
export function argumentsOf(deed: DemoAction): string[] {
  if (deed.do === "create-namespace") return ["create", "namespace", deed.name];
  if (deed.do === "apply") return ["apply", "-f", deed.file];
  if (deed.do === "patch") return ["patch", ...named(deed.target), "--type=json", `-p=${JSON.stringify(deed.patch)}`];
  if (deed.do === "annotate")
    return [
      "annotate",
      ...named(deed.target),
      deed.value === undefined ? `${deed.annotation}-` : `${deed.annotation}=${deed.value}`,
    ];
  return [
    "get",
    deed.kind.plural,
    ...(deed.name ? [deed.name] : []),
    ...(deed.namespace ? ["-n", deed.namespace] : []),
    ...(deed.selector ? ["-l", deed.selector] : []),
  ];
}

const named = ({ kind, namespace, name }: Target): string[] => [
  kind.kind.toLowerCase(),
  name,
  ...(namespace ? ["-n", namespace] : []),
];

/** As a user would type it, with the hub's kubeconfig in the environment. */
export function commandLineOf(deed: DemoAction): string {
  const cluster = clusterOf(deed);
  return [
    "kubectl",
    ...(cluster === HUB ? [] : ["--kubeconfig", `${cluster}.kubeconfig`]),
    ...argumentsOf(deed).map(quoted),
  ].join(" ");
}

const quoted = (word: string): string => (/^[\w./:=,@%+-]*$/.test(word) ? word : `'${word}'`);
