/** NetworkPolicy: the traffic that pods accept and send. */
import { ageColumn, builtInKind, column, nameColumn, selectorCell } from "@flotilla/apimachinery";
import type { Kind } from "@flotilla/apimachinery";
import type { NetworkPolicy as NetworkPolicyFacts } from "@flotilla/apimachinery/facts/networking-v1.ts";

export type NetworkPolicy = NetworkPolicyFacts;

export const NetworkPolicy: Kind<NetworkPolicy> = builtInKind<NetworkPolicy>({
  group: "networking.k8s.io",
  version: "v1",
  kind: "NetworkPolicy",
  plural: "networkpolicies",
  shortNames: ["netpol"],
  scope: "Namespaced",
  facts: "networking-v1",
  columns: [
    nameColumn,
    column<NetworkPolicy>("Pod-Selector", ({ spec }) => selectorCell(spec?.podSelector)),
    ageColumn,
  ],
  hasGeneration: true,
});
