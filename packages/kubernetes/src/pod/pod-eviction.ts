/**
 * Eviction: a request to remove a pod, granted when its disruption budget allows it. The body of
 * `pods/<name>/eviction`.
 */
import { builtInKind } from "@flotilla/apimachinery";
import type { Eviction as EvictionFacts } from "@flotilla/apimachinery/facts/policy-v1.ts";
import type { Kind } from "@flotilla/apimachinery";

export type Eviction = EvictionFacts;

export const Eviction: Kind<Eviction> = builtInKind<Eviction>({
  group: "policy",
  version: "v1",
  kind: "Eviction",
  plural: "evictions",
  scope: "Namespaced",
  facts: "policy-v1",
  columns: [],
  verbs: ["create"],
});
