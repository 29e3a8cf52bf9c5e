/** Binding: assigns a pod to a node. It is executed and never stored. */
import { builtInKind } from "@flotilla/apimachinery";
import type { Binding as BindingFacts } from "@flotilla/apimachinery/facts/core-v1.ts";
import type { Kind } from "@flotilla/apimachinery";

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
