/** Binding: assigns a pod to a node. It is executed and never stored. */
import { builtInKind } from "../define.ts";
import type { Binding as BindingFacts } from "../facts/core-v1.ts";
import type { Kind } from "../kind.ts";

export type Binding = BindingFacts;

export const Binding: Kind<Binding> = builtInKind<Binding>({
  group: "",
  version: "v1",
  kind: "Binding",
  plural: "bindings",
  scope: "Namespaced",
  facts: "core-v1",
  columns: [],
  verbs: ["create"],
});
